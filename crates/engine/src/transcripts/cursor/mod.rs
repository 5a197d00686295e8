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
//!
//! The session is named after its file. Its time is the file's, and a sub-agent's file is known by its folder (`beside`).
//! Checked against samples: the host's source is not public. Not here: the editor's own databases.

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::wrappers;
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
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    content: Blocks<'j>,
}

/// Whether a file that begins so holds such a transcript.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
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
