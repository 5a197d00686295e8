//! Separates a person's words from what OpenClaw's channels write around them.
//!
//! A message from a channel begins with blocks of data about it, each below a heading that calls it untrusted, with the
//! host's own lines, and with the time in brackets. Prompts of the clock stand in a person's place.

use daybook_domain::Origin;

use crate::transcripts::item_writer::{EventContent, EventKey, ItemWriter};

/// How the headings of data blocks end.
const HEADINGS: [&str; 2] = ["(untrusted metadata):", "(untrusted, for context):"];
/// The lines around a data block.
const FENCE: &str = "```";
/// How the host's own lines begin.
const SYSTEM: &str = "System: [";
/// Beginnings of messages that are the host's as a whole.
const BY_HOST: &[&str] = &[
    "Read HEARTBEAT.md if it exists",
    "Pre-compaction memory flush",
    "A new session was started via /new or /reset",
];
/// The last line of some messages.
const MESSAGE_ID: &str = "\n[message_id: ";

/// Reads a message in a person's place.
pub(super) fn read(key: EventKey<'_>, text: &str, out: &mut ItemWriter<'_>) {
    let (by_host, words) = split(text);
    let plain = |origin, text: String| EventContent::plain(key, origin, text);
    out.push(plain(Origin::Harness, by_host.join("\n")).part("harness"));
    out.push(plain(Origin::Human, words.to_owned()));
}

/// The host's parts at the beginning, and the rest.
fn split(text: &str) -> (Vec<&str>, &str) {
    let mut by_host = Vec::new();
    let mut rest = text.trim();
    if BY_HOST.iter().any(|beginning| rest.starts_with(beginning)) {
        return (vec![rest], "");
    }
    while let Some(length) = host_part(rest) {
        let (part, behind) = rest.split_at(length);
        by_host.push(part.trim());
        rest = behind.trim_start();
    }
    if let Some(at) = rest
        .rfind(MESSAGE_ID)
        .filter(|at| !rest[at + 1..].contains('\n'))
    {
        by_host.push(rest[at..].trim());
        rest = rest[..at].trim_end();
    }
    (by_host, rest)
}

/// The length of the host's part at the beginning, if there is one.
fn host_part(text: &str) -> Option<usize> {
    let line = text.lines().next()?;
    if line.starts_with(SYSTEM) {
        return Some(line.len());
    }
    if HEADINGS.iter().any(|heading| line.ends_with(heading)) {
        let block = text[line.len()..].trim_start().strip_prefix(FENCE)?;
        let inside = block.find("\n```")?;
        return Some(text.len() - block.len() + inside + 1 + FENCE.len());
    }
    let inside = line.strip_prefix('[')?.split_once(']')?.0;
    holds_a_date(inside).then_some(inside.len() + 2)
}

/// Whether a text holds a date such as 2026-03-05.
fn holds_a_date(text: &str) -> bool {
    text.as_bytes().windows(10).any(|date| {
        let is_separator = |at: usize| at == 4 || at == 7;
        date.iter()
            .enumerate()
            .all(|(at, byte)| match is_separator(at) {
                true => *byte == b'-',
                false => byte.is_ascii_digit(),
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, by_host: &[&str], words: &str) {
        assert_eq!(split(text), (by_host.to_vec(), words), "{text}");
    }

    #[test]
    fn what_a_channel_adds_is_not_the_persons() {
        check("feed the ducks", &[], "feed the ducks");
        check(
            "Sender (untrusted metadata):\n```json\n{\"label\": \"ada\"}\n```\n\n[Thu 2026-03-05 16:29 GMT+1] feed the ducks\n[message_id: 7]",
            &[
                "Sender (untrusted metadata):\n```json\n{\"label\": \"ada\"}\n```",
                "[Thu 2026-03-05 16:29 GMT+1]",
                "[message_id: 7]",
            ],
            "feed the ducks",
        );
        check(
            "System: [2026-03-05 16:29] up\n\nhello",
            &["System: [2026-03-05 16:29] up"],
            "hello",
        );
        let clock = "Read HEARTBEAT.md if it exists (workspace context).";
        check(clock, &[clock], "");
    }

    #[test]
    fn a_person_may_write_brackets_and_headings() {
        check("[x] done, [2] open", &[], "[x] done, [2] open");
        check(
            "data (untrusted metadata):\nnone",
            &[],
            "data (untrusted metadata):\nnone",
        );
    }
}
