//! Reads transcripts of Cursor's agent: a message on each line, without ids and times.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `role: user` with texts | a person's words in `user_query`; what the host adds in other elements is its own |
//! | `role: user` with results | the results of calls |
//! | `role: assistant` | the agent's words and calls; thoughts are not kept |
//! | `type: turn_ended` | nothing |
//! | `composer`, of the editor's database | the session, its folder, branch and title |
//! | `bubble` of type 1 | a person's words |
//! | `bubble` of type 2 | the agent's words, or a call and its result; thoughts are not kept |
//!
//! The session is named after its file. Its time is the file's, and a sub-agent's file is known by its folder (`beside`).
//! The words of a conversation that is in a file and in the database are one event each. Checked against samples and
//! descriptions of the database by others: the host's source is not public. Not here: the database.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{file_uri, wrappers};
use daybook_text::lenient::{Flag, Object, Text, When};

/// The element that holds a person's words.
const QUERY: &str = "user_query";
/// Elements that the host writes into a person's message, with that of the words.
const ELEMENTS: &[&str] = &[
    QUERY,
    "user_info",
    "git_status",
    "open_and_recently_viewed_files",
    "attached_files",
    "rules",
    "agent_skills",
    "agent_transcripts",
    "system_reminder",
    "system-reminder",
    "system_notification",
    "additional_data",
    "project_layout",
    "manually_attached_skills",
    "cursor_commands",
    "timestamp",
    "image_files",
    "terminal_files_information",
    "mcp_instructions",
    "uploaded_documents",
    "external_links",
    "linter_errors",
];

/// Transcripts of Cursor's agent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Cursor {}

/// One message, or what stands beside the transcript.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CursorLine<'j> {
    #[serde(borrow)]
    role: Text<'j>,
    message: Object<Message<'j>>,
    file_time: When<'j>,
    is_sub_agent: Flag,
    composer: Object<Composer<'j>>,
    bubble: Object<Bubble<'j>>,
}

/// A conversation of the editor.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Composer<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    name: Text<'j>,
    created_at: When<'j>,
    folder: Text<'j>,
    branch: Text<'j>,
    is_subagent: Flag,
}

/// A message of such a conversation, or a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Bubble<'j> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'j RawValue>,
    bubble_id: Text<'j>,
    text: Text<'j>,
    created_at: When<'j>,
    tool_former_data: Object<ToolRun<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolRun<'j> {
    #[serde(borrow)]
    tool_call_id: Text<'j>,
    name: Text<'j>,
    status: Text<'j>,
    raw_args: Text<'j>,
    params: Text<'j>,
    result: Text<'j>,
    error: Text<'j>,
    user_decision: Text<'j>,
    additional_data: Object<RunState<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RunState<'j> {
    #[serde(borrow)]
    status: Text<'j>,
    user_decision: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    content: Blocks<'j>,
}

/// Whether a file that begins so holds such a transcript.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    if sketch.keys == ["composer"] {
        return true;
    }
    let has_content = sketch
        .message
        .as_ref()
        .is_some_and(|message| message.has("content"));
    matches!(&*sketch.role, "user" | "assistant") && has_content && sketch.kind.is_empty()
}

impl SessionFormat for Cursor {
    const AGENT: &'static str = "cursor";
    type Line<'j> = CursorLine<'j>;

    fn read(&mut self, line: &CursorLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.set_time(&line.file_time);
        if line.is_sub_agent.0 {
            out.describe(|session| session.is_sub_agent = true);
        }
        if let Some(composer) = &line.composer.0 {
            describe(composer, out);
        }
        if let Some(bubble) = &line.bubble.0 {
            read_bubble(bubble, out);
        }
        let Some(message) = &line.message.0 else {
            return Ok(());
        };
        let text = blocks::texts(&message.content);
        match &*line.role {
            "user" => {
                blocks::write_results(&message.content, EventKey::Content, out);
                read_user(&text, out);
            }
            "assistant" => {
                out.push(EventContent::plain(
                    EventKey::Content,
                    Origin::Assistant,
                    text,
                ));
                blocks::write_calls(&message.content, EventKey::Content, out);
            }
            _ => {}
        }
        Ok(())
    }
}

fn describe(composer: &Composer<'_>, out: &mut ItemWriter<'_>) {
    out.set_time(&composer.created_at);
    if let Some(folder) = file_uri::folder(&composer.folder) {
        out.set_folder(&folder, composer.branch.get());
    }
    out.describe(|session| {
        session.host_id = composer.id.to_string();
        session.is_sub_agent = composer.is_subagent.0;
    });
    out.title(&composer.name);
}

fn read_bubble(bubble: &Bubble<'_>, out: &mut ItemWriter<'_>) {
    out.set_time(&bubble.created_at);
    match bubble.kind.map(RawValue::get) {
        Some("1") => read_user(&bubble.text, out),
        Some("2") => {
            let text = &*bubble.text;
            out.push(EventContent::plain(
                EventKey::Content,
                Origin::Assistant,
                text,
            ));
            if let Some(run) = &bubble.tool_former_data.0 {
                read_run(run, EventKey::InSession(&bubble.bubble_id), out);
            }
        }
        _ => {}
    }
}

fn read_run(run: &ToolRun<'_>, key: EventKey<'_>, out: &mut ItemWriter<'_>) {
    if run.name.is_empty() {
        return;
    }
    let id = &*run.tool_call_id;
    let arguments = run.raw_args.get().unwrap_or(&run.params);
    out.call(key, id, &run.name, arguments);
    let state = run.additional_data.0.as_ref();
    let named = |own: &Text<'_>, other: Option<&Text<'_>>| {
        let named = own.get().or(other.and_then(Text::get));
        named.unwrap_or_default().to_owned()
    };
    let status = named(&run.status, state.map(|state| &state.status));
    let decision = named(&run.user_decision, state.map(|state| &state.user_decision));
    let status = match (&*decision, &*status) {
        ("rejected", _) | (_, "cancelled" | "rejected") => ToolStatus::Refused,
        (_, "completed" | "success") => ToolStatus::Succeeded,
        (_, "error" | "failed") => ToolStatus::Failed,
        // A call that runs, or never ended, has no result yet.
        _ => return,
    };
    let text = run.result.get().unwrap_or(&run.error);
    let result = CallResult {
        tool: run.name.get(),
        text: text.into(),
        status: Some(status),
    };
    out.result(key, id, result);
}

fn read_user(text: &str, out: &mut ItemWriter<'_>) {
    let unwrapped = wrappers::unwrap(text, ELEMENTS);
    let (queries, others): (Vec<_>, Vec<_>) = unwrapped
        .elements
        .iter()
        .partition(|(name, _)| *name == QUERY);
    let inside = |elements: Vec<&(&str, &str)>| {
        let texts = elements
            .into_iter()
            .map(|(_, inside)| inside.trim().to_owned());
        texts.collect::<Vec<_>>()
    };
    let (mut words, mut by_host) = (inside(queries), inside(others));
    // Where the host marks the words, what stands outside the mark is its own.
    match words.is_empty() {
        true => words.push(unwrapped.rest.into_owned()),
        false => by_host.push(unwrapped.rest.into_owned()),
    }
    by_host.retain(|text| !text.is_empty());
    let plain = |origin, texts: Vec<String>| {
        EventContent::plain(EventKey::Content, origin, texts.join("\n"))
    };
    out.push(plain(Origin::Harness, by_host));
    out.push(plain(Origin::Human, words));
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, events, told};

    const LINES: TranscriptFormat = TranscriptFormat::Cursor;
    const HELLO: &str = r#"{"role":"user","message":{"content":[{"type":"text","text":"hello"}]}}"#;

    #[test]
    fn a_conversation_is_read_with_its_calls() {
        assert_eq!(detect(HELLO.as_bytes()), LINES);
        check(
            &LINES,
            &[
                r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_info>\nOS: linux\n</user_info>"},{"type":"text","text":"<user_query>\ncount the gulls\n</user_query>"}]}}"#,
                r#"{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}"#,
                r#"{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"gull.txt"}]}]}}"#,
                r#"{"type":"turn_ended","status":"success"}"#,
            ],
            "harness | OS: linux
             human | count the gulls
             assistant | Looking.
             tool_call | ls
             tool_result | gull.txt",
        );
    }

    #[test]
    fn a_conversation_of_the_editor_is_read_with_its_calls() {
        let composer = r#"{"composer":{"id":"c1","name":"Gulls","createdAt":1775030400000,"folder":"file:///home/ada/tide%20pool","branch":"main"}}"#;
        assert_eq!(detect(composer.as_bytes()), LINES);
        let lines = [
            composer,
            r#"{"bubble":{"type":1,"bubbleId":"b1","text":"count the gulls"}}"#,
            r#"{"bubble":{"type":2,"bubbleId":"b2","text":"Looking."}}"#,
            r#"{"bubble":{"type":2,"bubbleId":"b3","text":"","toolFormerData":{"toolCallId":"t1","name":"run_terminal_cmd","status":"completed","rawArgs":"{\"command\":\"ls\"}","result":"{\"output\":\"gull.txt\"}"}}}"#,
            r#"{"bubble":{"type":2,"bubbleId":"b4","toolFormerData":{"toolCallId":"t2","name":"run_terminal_cmd","params":"{\"command\":\"rm x\"}","additionalData":{"status":"error","userDecision":"rejected"}}}}"#,
            r#"{"bubble":{"type":2,"bubbleId":"b5","toolFormerData":{"toolCallId":"t3","name":"run_terminal_cmd","params":"{\"command\":\"sleep 9\"}","status":"loading"}}}"#,
            r#"{"bubble":{}}"#,
        ];
        check(
            &LINES,
            &lines,
            r#"human | count the gulls
             assistant | Looking.
             tool_call | ls
             tool_result | succeeded | {"output":"gull.txt"}
             tool_call | rm x
             tool_result | refused |
             tool_call | sleep 9"#,
        );
        let expected = [
            "title of c1: Gulls",
            "session c1 root in /home/ada/tide pool on main",
        ];
        assert_eq!(told(&LINES, &lines), expected);
    }

    #[test]
    fn the_same_words_in_a_file_and_in_the_database_are_one_event() {
        let words = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\ncount the gulls\n</user_query>"}]}}"#;
        let composer = r#"{"composer":{"id":"unnamed"}}"#;
        let bubble = r#"{"bubble":{"type":1,"bubbleId":"b1","text":"count the gulls"}}"#;
        let (file, database) = (
            events(&LINES, &[words]),
            events(&LINES, &[composer, bubble]),
        );
        assert_eq!(file[0].id, database[0].id);
    }

    #[test]
    fn words_without_marks_are_the_persons() {
        check(&LINES, &[HELLO], "human | hello");
    }

    #[test]
    fn what_stands_beside_a_transcript_describes_it() {
        let beside = r#"{"is_sub_agent":true,"file_time":1767225600000}"#;
        check(&LINES, &[beside, HELLO], "side assistant | hello");
        assert_eq!(
            told(&LINES, &[beside, HELLO]),
            ["session unnamed sub_agent"]
        );
        assert_eq!(events(&LINES, &[beside, HELLO])[0].at.0, 1_767_225_600_000);
    }

    #[test]
    fn what_is_said_again_is_said_again_and_a_copy_is_the_same() {
        let ids = |lines: &[&str]| {
            let read = events(&LINES, lines);
            read.iter().map(|event| event.id).collect::<Vec<_>>()
        };
        let twice = ids(&[HELLO, HELLO]);
        assert_ne!(twice[0], twice[1]);
        assert_eq!(ids(&[HELLO]), twice[..1]);
    }
}
