//! Finds the memories that an event cites: those that Daybook put before an agent, and those that the agent cites.
//!
//! An agent cites in its own text as our element does, `[7f78:L3]`, or repeats a line of the element, or names whole
//! sessions in Codex's block at its end. A citation in an element that a host or a tool of ours put into the conversation counts as shown. Any other
//! text of people, tools and the web cites nothing: otherwise a web page could raise any memory.
//!
//! Not here: which events a citation means, and which are kept (`uses`).

use daybook_domain::{Citation, Origin, UseKind};
use memchr::memmem;

use super::citation_block;
use super::recalled::{TextPart, parts};

/// Most citations of one event that are examined.
const MENTIONS: usize = 256;
/// Longest session label in a citation, in bytes.
const LABEL: usize = 128;
/// Most bytes between a citation and the bracket around it.
const BRACKET: usize = 256;
/// The separator between a label and its lines.
const LINES: &str = ":L";

/// A citation in an event's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The kind of use that it stands for.
    pub kind: UseKind,
    /// The citation. Without lines it is of a whole session, by the host's id.
    pub citation: Citation,
}

/// Returns the memories that an event cites, each once. `text` is its whole text, `said_by` that text's origin, and
/// `taken_as` the origin without our element.
pub fn mentions(said_by: Origin, taken_as: Origin, text: &str) -> Vec<Mention> {
    let mut found = match said_by {
        Origin::Assistant => cited_sessions(text),
        Origin::Human
        | Origin::ToolCall
        | Origin::ToolResult
        | Origin::Harness
        | Origin::Synthetic
        | Origin::Recalled
        | Origin::Retraction => Vec::new(),
    };
    // Nearly all texts hold no citation of lines and end here.
    if memmem::find(text.as_bytes(), LINES.as_bytes()).is_none() {
        return found;
    }
    match (said_by, taken_as) {
        (Origin::Assistant, _) => {
            for part in parts(text) {
                match part {
                    TextPart::Other(text) => find(text, in_brackets, UseKind::Cited, &mut found),
                    TextPart::Recalled(ours) => {
                        find(ours, is_no_example, UseKind::Cited, &mut found)
                    }
                }
            }
        }
        // It may be JSON, which has no element around it.
        (Origin::ToolResult, Origin::Recalled) => {
            find(text, is_no_example, UseKind::Shown, &mut found);
        }
        (Origin::Human | Origin::Harness, _) => {
            for part in parts(text) {
                if let TextPart::Recalled(ours) = part {
                    find(ours, is_no_example, UseKind::Shown, &mut found);
                }
            }
        }
        (
            Origin::ToolCall
            | Origin::ToolResult
            | Origin::Synthetic
            | Origin::Recalled
            | Origin::Retraction,
            _,
        ) => {}
    }
    found
}

/// The sessions that Codex's blocks in an agent's text name.
fn cited_sessions(text: &str) -> Vec<Mention> {
    let sessions = citation_block::split(text).1.sessions.into_iter();
    let cited = sessions.map(|session| Mention {
        kind: UseKind::Cited,
        citation: Citation {
            session,
            lines: Vec::new(),
        },
    });
    cited.take(MENTIONS).collect()
}

/// Adds the citations of a text that `meant` accepts; it receives the text before and after each.
fn find(text: &str, meant: fn(&str, &str) -> bool, kind: UseKind, found: &mut Vec<Mention>) {
    for at in memmem::find_iter(text.as_bytes(), LINES.as_bytes()) {
        if found.len() == MENTIONS {
            return;
        }
        let (before, after) = (&text[..at], &text[at + LINES.len()..]);
        let label = label_at_end(before);
        let lines = lines_at_start(after);
        if label.is_empty() || lines.is_empty() {
            continue;
        }
        if !meant(&before[..before.len() - label.len()], &after[lines.len()..]) {
            continue;
        }
        let Some(citation) = Citation::parse(&format!("{label}{LINES}{lines}")) else {
            continue;
        };
        let mention = Mention { kind, citation };
        if !found.contains(&mention) {
            found.push(mention);
        }
    }
}

/// The label that a text ends with; empty without one.
fn label_at_end(text: &str) -> &str {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(LABEL))..];
    let ends = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(
                c,
                '[' | ']' | '(' | ')' | '"' | '\'' | '`' | ',' | ';' | '\\'
            )
    };
    match near.rfind(ends) {
        Some(at) => near[at..].trim_start_matches(ends),
        None => near,
    }
}

/// The lines that a text begins with: numbers, `-` between two and `,` between stretches.
fn lines_at_start(text: &str) -> &str {
    let ends = |c: char| !(c.is_ascii_digit() || matches!(c, ',' | '-'));
    let end = text.find(ends).unwrap_or(text.len());
    text[..end].trim_end_matches([',', '-'])
}

/// Whether a citation between these two texts is in brackets on its line.
fn in_brackets(before: &str, after: &str) -> bool {
    let mark = |c: char| matches!(c, '[' | ']' | '\n');
    let before = &before[before.ceil_char_boundary(before.len().saturating_sub(BRACKET))..];
    let after = &after[..after.floor_char_boundary(BRACKET)];
    let opens = before
        .rfind(mark)
        .is_some_and(|at| before[at..].starts_with('['));
    let closes = after
        .find(mark)
        .is_some_and(|at| after[at..].starts_with(']'));
    opens && closes
}

/// Whether a citation is not in back-quotes, in which our element shows an example of citations.
fn is_no_example(before: &str, after: &str) -> bool {
    !before.ends_with("`[") && !after.starts_with('`')
}

#[cfg(test)]
mod tests {
    use super::*;

    use Origin::{Assistant, Harness, Human, Recalled, ToolCall, ToolResult};
    use UseKind::{Cited, Shown};

    fn check(said_by: Origin, taken_as: Origin, text: &str, expected: &[(UseKind, &str)]) {
        let found = mentions(said_by, taken_as, text);
        let found = found.iter().map(|it| (it.kind, it.citation.to_string()));
        let found: Vec<(UseKind, String)> = found.collect();
        let expected = expected.iter().map(|(kind, it)| (*kind, (*it).to_owned()));
        assert_eq!(found, expected.collect::<Vec<_>>(), "{text}");
    }

    fn assistant(text: &str, cited: &[&str]) {
        let cited: Vec<_> = cited.iter().map(|it| (Cited, *it)).collect();
        check(Assistant, Assistant, text, &cited);
    }

    #[test]
    fn an_agent_cites_in_brackets() {
        assistant("As decided [7f78:L3], and again [7f78:L3].", &["7f78:L3"]);
        assistant(
            "rules [7f78:L382,476-480] [ca:L83-143]",
            &["7f78:L382,476-480", "ca:L83-143"],
        );
        assistant(
            "see [7f78:L1; ca:L2, 4ded:L9]",
            &["7f78:L1", "ca:L2", "4ded:L9"],
        );
        assistant("(`[7f78:L3]`)", &["7f78:L3"]);
        assistant("[see 7f78:L3](notes.md)", &["7f78:L3"]);
        assistant("[chat-ä~2:L7]", &["chat-ä~2:L7"]);
    }

    #[test]
    fn an_agent_cites_whole_sessions_in_the_block_of_codex() {
        let id = "0194f5a6-89ab-7cde-8123-456789abcdef";
        let block = format!(
            "<oai-mem-citation>\n<citation_entries>\nMEMORY.md:3|note=[x]\n</citation_entries>\n\
             <rollout_ids>\n{id}\n</rollout_ids>\n</oai-mem-citation>"
        );
        assistant(&format!("Done [7f78:L3]. {block}"), &[id, "7f78:L3"]);
        check(Human, Human, &block, &[]);
        check(ToolResult, ToolResult, &block, &[]);
    }

    #[test]
    fn what_only_looks_like_a_citation_is_none() {
        for text in [
            "see src/main.rs:L30",
            "7f78:L3 without brackets",
            "[7f78:L3 never closed\n]",
            "[]7f78:L3[]",
            "[:L3]",
            "[7f78:L]",
            "[7f78:Lx]",
            "[7f78:L9-3]",
            "[7f78:L99999999999]",
            "[7f78]",
            ":L:L:L",
            "",
        ] {
            assistant(text, &[]);
        }
    }

    const ELEMENT: &str = "<daybook-memory>\nThis is remembered. `[7f78:L3]` is a source; `daybook show \
        7f78:L3` prints it.\n- be brief [ca:L9]\n</daybook-memory>";

    #[test]
    fn what_stands_in_our_element_was_shown() {
        let shown = [(Shown, "ca:L9")];
        check(Harness, Recalled, ELEMENT, &shown);
        check(Human, Human, &format!("{ELEMENT}\nfix [4ded:L1]"), &shown);
        check(ToolResult, Recalled, ELEMENT, &shown);
        let json = r#"[{"text":"<daybook-memory>\n1. be brief\n   [ca:L9] \u00b7 user/ada\n"}]"#;
        check(ToolResult, Recalled, json, &shown);
        let json = r#"{"daybook-memory":"facts","results":[{"citation":"ca:L9"}]}"#;
        check(ToolResult, Recalled, json, &shown);
    }

    #[test]
    fn an_agent_that_repeats_our_element_cites_it() {
        check(
            Assistant,
            Assistant,
            &format!("[4ded:L1] {ELEMENT} done"),
            &[(Cited, "4ded:L1"), (Cited, "ca:L9")],
        );
        check(Assistant, Recalled, ELEMENT, &[(Cited, "ca:L9")]);
    }

    #[test]
    fn people_tools_and_pages_cite_nothing() {
        for origin in [Human, ToolResult, ToolCall, Harness, Origin::Synthetic] {
            check(origin, origin, "as said in [7f78:L3]", &[]);
        }
        // A page that holds a copy of our element, and more.
        check(ToolResult, ToolResult, &format!("page {ELEMENT}"), &[]);
    }

    #[test]
    fn citations_of_one_event_are_bounded_and_take_little_time() {
        let many: String = (1..=100_000).map(|n| format!("[7f78:L{n}]")).collect();
        assert_eq!(mentions(Assistant, Assistant, &many).len(), MENTIONS);
        for text in [":L1".repeat(200_000), "[a:L".repeat(200_000)] {
            mentions(Assistant, Assistant, &text);
            mentions(Harness, Recalled, &text);
        }
    }
}
