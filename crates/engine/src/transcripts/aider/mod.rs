//! Reads chat histories of Aider, which are Markdown: several sessions in one file.
//!
//! The stream gives each block of the Markdown as a line (`markdown`). What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `started` | the next session, named by its time |
//! | of a `user` | a person's words; after `/ask`, `/code` and `/architect` those that follow |
//! | of a `user`, another command (`/add`, `!ls`) | the host's text |
//! | of the `assistant` | the agent's words |
//! | of a `tool` | the host's text: files, commits, outputs of commands |
//!
//! Nothing has an id: a message's content and turn identify it. Checked against `aider/io.py`. Not here: the Markdown.

pub(super) mod markdown;

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};

use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use daybook_text::lenient::{Text, When};

/// Chat histories of Aider.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Aider {
    /// The folder of the file, of all its sessions.
    folder: String,
}

/// A session's beginning, a message, or what stands beside the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AiderLine<'j> {
    #[serde(borrow)]
    aider: Text<'j>,
    started: When<'j>,
    text: Text<'j>,
    folder: Text<'j>,
}

/// Whether a file that begins so holds such a history.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.keys == ["aider", "started"]
}

impl SessionFormat for Aider {
    const AGENT: &'static str = "aider";
    type Line<'j> = AiderLine<'j>;

    fn read(&mut self, line: &AiderLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        if let Some(folder) = line.folder.get() {
            folder.clone_into(&mut self.folder);
        }
        let mut text = &*line.text;
        let origin = match &*line.aider {
            "session" => {
                out.begin_session();
                out.set_folder(&self.folder, None);
                out.set_time(&line.started);
                if let When::Text(started) = &line.started {
                    out.describe(|session| session.host_id = started.to_string());
                }
                return Ok(());
            }
            "user" => match words_of(text) {
                Some(words) => {
                    text = words;
                    Origin::Human
                }
                None => Origin::Harness,
            },
            "assistant" => Origin::Assistant,
            _ => Origin::Harness,
        };
        out.push(EventContent::plain(EventKey::Content, origin, text));
        Ok(())
    }
}

/// Commands that send what follows them to the model.
const TALK: [&str; 4] = ["/ask", "/code", "/architect", "/context"];

/// What a person says in a message; `None` if it is a command to the host alone.
fn words_of(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim_start();
    match first {
        _ if TALK.contains(&first) => (!rest.is_empty()).then_some(rest),
        _ if is_command(first) => None,
        _ => Some(text),
    }
}

/// Whether a message's first word is a command, as no path is.
fn is_command(first: &str) -> bool {
    let name = first.strip_prefix('/').unwrap_or("");
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_name || (first.starts_with('!') && first.len() > 1)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};
    use crate::transcripts::stream::TranscriptStream;

    const LINES: TranscriptFormat = TranscriptFormat::Aider;
    const HISTORY: &str = "\n# aider chat started at 2026-04-01 08:00:00\n\n\
        > Main model: gull-1  \n> Git repo: .git with 3 files  \n\n\
        #### count the gulls  \n#### and the terns  \n\n\
        #### Gulls\nOne gull,\n> as they say\n\n> Tokens: 7  \n\
        #### <blank>  \n\n\
        # aider chat started at 2026-04-02 08:00:00\n\n#### thanks  \n";

    fn lines_of(history: &str) -> Vec<String> {
        let mut lines = String::new();
        let mut stream = TranscriptStream::new(history.as_bytes()).expect("a stream");
        stream.read_to_string(&mut lines).expect("lines");
        lines.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_command_is_the_hosts_and_what_it_asks_the_persons() {
        for (text, words) in [
            ("count the gulls", Some("count the gulls")),
            ("/ask why do gulls\ncry?", Some("why do gulls\ncry?")),
            ("/add src/gulls.rs", None),
            ("/read-only notes.md", None),
            ("/clear", None),
            ("/ask", None),
            ("!cargo test", None),
            ("/etc/hosts is wrong", Some("/etc/hosts is wrong")),
            ("! that is all", Some("! that is all")),
        ] {
            assert_eq!(super::words_of(text), words, "{text}");
        }
    }

    #[test]
    fn blocks_are_messages_of_the_session_that_began_before_them() {
        let lines = lines_of(HISTORY);
        assert_eq!(detect(lines.join("\n").as_bytes()), LINES);
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.insert(0, r#"{"folder":"/home/ada/tidepool"}"#);
        check(
            &LINES,
            &lines,
            "harness | Main model: gull-1⏎Git repo: .git with 3 files
             human | count the gulls⏎and the terns
             assistant | #### Gulls⏎One gull,⏎> as they say
             harness | Tokens: 7
             human | thanks",
        );
        let expected = [
            "session 2026-04-01 08:00:00 root in /home/ada/tidepool",
            "session 2026-04-02 08:00:00 root in /home/ada/tidepool",
        ];
        assert_eq!(told(&LINES, &lines), expected);
    }
}
