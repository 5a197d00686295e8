//! Reads sessions of Hermes: a document with its messages, or the rows of its database as lines.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | the description, with `session_id` | the session, its folder, room and title |
//! | `role: user` | a person's words; of a schedule, hidden, or written by another in a room, the host's |
//! | `role: user` that calls a skill | the skill's text is the host's, the instruction behind it a person's |
//! | `role: user` that sums up | a summary |
//! | `role: assistant` | the agent's words and calls; reasoning is not kept |
//! | `role: tool` | the result of a call |
//! | `role: system` | the host's text |
//! | `role: session_meta` | nothing |
//!
//! Messages have no ids, so that a session in a document and in the database is the same by its content. Checked against
//! `hermes_state.py`, `hermes_state_common.py` and `skill_commands.py` of Hermes, and samples of the documents. Not here:
//! the database, which leaves out what was taken back.

use daybook_domain::{Origin, ToolStatus, Venue};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::json;
use super::sketch::Sketch;
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Text, When};

/// Sources of sessions that no person holds.
const AUTOMATIC: &[&str] = &["cron", "webhook", "tool"];
/// How texts begin that the host writes in a person's place.
const BY_HOST: &[&str] = &[
    "[IMPORTANT: ",
    "[SYSTEM: ",
    "[System: ",
    "[System note: ",
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
];
/// How a summary of what came before begins.
const SUMMARIES: &[&str] = &["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
/// How the text of a skill begins, what precedes a person's instruction in it, and what follows it.
const SKILL: &str = "[IMPORTANT: The user has invoked the ";
const INSTRUCTIONS: &[(&str, &str)] = &[
    (
        "The user has provided the following instruction alongside the skill invocation: ",
        "\n\n[Runtime note:",
    ),
    ("\nUser instruction: ", "\n\n[Loaded as part of the "),
];

/// Sessions of Hermes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Hermes {
    /// Whether no person holds the session.
    is_automatic: bool,
}

/// The description, or a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HermesLine<'j> {
    #[serde(borrow)]
    session_id: Text<'j>,
    platform: Text<'j>,
    session_start: When<'j>,
    cwd: Text<'j>,
    branch: Text<'j>,
    title: Text<'j>,
    parent: Text<'j>,
    is_sub_agent: Flag,
    room_id: Text<'j>,
    thread_id: Text<'j>,
    // A message.
    role: Text<'j>,
    content: Blocks<'j>,
    tool_calls: Content<'j, Call<'j>>,
    tool_call_id: Text<'j>,
    tool_name: Text<'j>,
    finish_reason: Text<'j>,
    timestamp: When<'j>,
    observed: Flag,
    is_summary: Flag,
    display_kind: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    function: Object<Function<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'j> {
    #[serde(borrow)]
    name: Text<'j>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    ["session_id", "platform", "session_start"]
        .iter()
        .all(|key| sketch.has(key))
}

impl SessionFormat for Hermes {
    const AGENT: &'static str = "hermes";
    type Line<'j> = HermesLine<'j>;

    fn read(&mut self, line: &HermesLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.set_time(&line.timestamp);
        match &*line.role {
            "" if !line.session_id.is_empty() => return self.describe(line, out),
            "user" => self.read_user(line, out),
            "assistant" => {
                let text = blocks::texts(&line.content);
                out.push(EventContent::plain(
                    EventKey::Content,
                    Origin::Assistant,
                    text,
                ));
                write_calls(line, out);
            }
            "tool" => out.result(
                EventKey::Content,
                &line.tool_call_id,
                CallResult {
                    tool: line.tool_name.get(),
                    text: blocks::texts(&line.content).into(),
                    status: (&*line.finish_reason == "error").then_some(ToolStatus::Failed),
                },
            ),
            "system" | "developer" => {
                let text = blocks::texts(&line.content);
                out.push(EventContent::plain(
                    EventKey::Content,
                    Origin::Harness,
                    text,
                ));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Hermes {
    fn describe(&mut self, line: &HermesLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        self.is_automatic = AUTOMATIC.contains(&&*line.platform);
        out.set_time(&line.session_start);
        out.set_folder(&line.cwd, line.branch.get());
        let venue = Venue::named(line.room_id.owned(), line.thread_id.owned(), None);
        let venue = venue.map_err(BadLine)?;
        out.describe(|session| {
            session.host_id = line.session_id.to_string();
            session.surface = line.platform.owned();
            session.parent = line.parent.owned();
            session.is_sub_agent = line.is_sub_agent.0 || &*line.platform == "subagent";
            session.venue = venue;
        });
        out.title(&line.title);
        Ok(())
    }

    fn read_user(&self, line: &HermesLine<'_>, out: &mut ItemWriter<'_>) {
        let text = blocks::texts(&line.content);
        let begins = |with: &[&str]| {
            with.iter()
                .any(|begin| text.trim_start().starts_with(begin))
        };
        let is_hidden = line.observed.0 || &*line.display_kind == "hidden";
        let origin = match () {
            () if line.is_summary.0 || begins(SUMMARIES) => Origin::Synthetic,
            () if self.is_automatic || is_hidden || begins(BY_HOST) => Origin::Harness,
            () => Origin::Human,
        };
        let words = instruction(&text).filter(|_| !self.is_automatic && !is_hidden);
        let words = words.map(str::to_owned);
        out.push(EventContent::plain(EventKey::Content, origin, text));
        if let Some(words) = words {
            let words = EventContent::plain(EventKey::Content, Origin::Human, words);
            out.push(words.part("words"));
        }
    }
}

/// What a person wrote behind the call of a skill.
fn instruction(text: &str) -> Option<&str> {
    let skill = text.trim_start().strip_prefix(SKILL)?;
    INSTRUCTIONS.iter().find_map(|(before, behind)| {
        let words = skill.split_once(before)?.1;
        Some(words.split(behind).next().unwrap_or(words).trim())
    })
}

fn write_calls(line: &HermesLine<'_>, out: &mut ItemWriter<'_>) {
    let Content::Parts(calls) = &line.tool_calls else {
        return;
    };
    for call in calls {
        if let ContentMember::Object(call) = call
            && let Some(function) = &call.function.0
        {
            let arguments = json::as_text(function.arguments);
            out.call(EventKey::Content, &call.id, &function.name, &arguments);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{ChatShape, TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, events, told};

    const LINES: TranscriptFormat = TranscriptFormat::Hermes(ChatShape::Lines);
    const SESSION: &str = r#"{"session_id":"h1","platform":"cli","session_start":1775030400.5,"cwd":"/home/ada/tidepool","title":"Owls"}"#;

    #[test]
    fn a_conversation_is_read_with_its_calls() {
        assert_eq!(detect(format!("{SESSION}\n{SESSION}").as_bytes()), LINES);
        let document = SESSION.replace("\"title\":\"Owls\"", "\"messages\":[{\"role\":\"user\"}]");
        let of_document = TranscriptFormat::Hermes(ChatShape::Document);
        assert_eq!(detect(document.as_bytes()), of_document);
        let lines = [
            SESSION,
            r#"{"role":"user","content":"count the owls","timestamp":1775030401.5}"#,
            r#"{"role":"assistant","content":"Looking.","reasoning":"hm","tool_calls":[{"id":"c1","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]}"#,
            r#"{"role":"tool","content":"owl.txt","tool_call_id":"c1","tool_name":"terminal"}"#,
            r#"{"role":"tool","content":"no such file","tool_call_id":"c2","tool_name":"terminal","finish_reason":"error"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"and the crows"}]}"#,
            r#"{"role":"session_meta","content":"tools"}"#,
        ];
        check(
            &LINES,
            &lines,
            "human | count the owls
             assistant | Looking.
             tool_call | ls
             tool_result | owl.txt
             tool_result | failed | no such file
             human | and the crows",
        );
        let expected = ["title of h1: Owls", "session h1 root in /home/ada/tidepool"];
        assert_eq!(told(&LINES, &lines), expected);
        assert_eq!(events(&LINES, &lines)[0].at.0, 1_775_030_401_500);
    }

    #[test]
    fn what_the_host_writes_in_a_persons_place_is_its_own() {
        check(
            &LINES,
            &[
                SESSION,
                r#"{"role":"user","content":"[IMPORTANT: Background process 7 completed]"}"#,
                r#"{"role":"user","content":"[CONTEXT COMPACTION — REFERENCE ONLY] Owls were counted."}"#,
                r#"{"role":"user","content":"Owls were counted.","is_summary":true}"#,
                r#"{"role":"user","content":"go on","display_kind":"hidden"}"#,
                r#"{"role":"user","content":"another's words in the room","observed":true}"#,
            ],
            "harness | [IMPORTANT: Background process 7 completed]
             synthetic | [CONTEXT COMPACTION — REFERENCE ONLY] Owls were counted.
             synthetic | Owls were counted.
             harness | go on
             harness | another's words in the room",
        );
    }

    #[test]
    fn the_instruction_behind_a_skill_is_a_persons() {
        let skill = r#"{"role":"user","content":"[IMPORTANT: The user has invoked the \"count\" skill. The full skill content is loaded below.]\n\nCount birds.\n\nThe user has provided the following instruction alongside the skill invocation: only the owls\n\n[Runtime note: none]"}"#;
        let said = events(&LINES, &[SESSION, skill]);
        let said: Vec<_> = said.iter().map(|event| event.origin.as_str()).collect();
        assert_eq!(said, ["harness", "human"]);
        assert_eq!(events(&LINES, &[SESSION, skill])[1].text, "only the owls");
    }

    #[test]
    fn a_schedule_and_an_agent_are_no_person() {
        let words = r#"{"role":"user","content":"count the owls"}"#;
        let scheduled = SESSION.replace("\"cli\"", "\"cron\"");
        check(&LINES, &[&scheduled, words], "harness | count the owls");
        let delegated = SESSION.replacen('{', r#"{"is_sub_agent":true,"parent":"h0","#, 1);
        check(
            &LINES,
            &[&delegated, words],
            "side assistant | count the owls",
        );
    }
}
