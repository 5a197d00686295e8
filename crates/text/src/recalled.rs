//! Removes Daybook's own text from a conversation, so that no memory is made from memory.
//!
//! All text that Daybook puts before an agent is enclosed in one [`ELEMENT`]. Readers remove it from
//! every event; an event of which nothing else is left is [`Origin::Recalled`].
//!
//! Not here: how that element is written (`fence`).

use std::borrow::Cow;

use daybook_domain::Origin;

use super::citation_block;

/// The name of the element.
pub const ELEMENT: &str = "daybook-memory";

const OPEN: &str = "<daybook-memory";
const CLOSE: &str = "</daybook-memory>";

/// A text without Daybook's own.
#[derive(Debug, PartialEq, Eq)]
pub enum Stripped<'t> {
    /// The text of others: all of it, or the rest.
    Remaining(Cow<'t, str>),
    /// The text was Daybook's alone.
    OnlyRecalled,
}

/// An event's origin and text without Daybook's own text, and without the block in which an agent says which memories it
/// used. Hosts show an answer of our tools to the agent as its text or as JSON, which may be within one more layer of
/// JSON.
pub fn strip_event(origin: Origin, text: &str) -> (Origin, Cow<'_, str>) {
    if origin == Origin::ToolResult && is_our_json(text) {
        return (Origin::Recalled, Cow::Borrowed(text));
    }
    if origin == Origin::Assistant
        && let (Cow::Owned(visible), _) = citation_block::split(text)
    {
        return match strip(&visible) {
            Stripped::OnlyRecalled => (Origin::Recalled, Cow::Borrowed(text)),
            Stripped::Remaining(rest) => (origin, Cow::Owned(rest.trim_end().to_owned())),
        };
    }
    match strip(text) {
        Stripped::OnlyRecalled => (Origin::Recalled, Cow::Borrowed(text)),
        Stripped::Remaining(text) => (origin, text),
    }
}

/// Whether a text begins like one of our answers as JSON: with the element's name as a key, or with the element
/// as the text of a content block. The end is not examined: it may have been cut off.
fn is_our_json(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let key = format!("\"{ELEMENT}\"");
    let keyed = text
        .match_indices(&key)
        .any(|(at, key)| text[at + key.len()..].trim_start().starts_with(':'));
    keyed || text.contains(&format!("\"{OPEN}>")) && text.contains("\"text\"")
}

/// Removes Daybook's elements. An element without an end reaches to the end of the text, for
/// its end may have been cut off.
pub fn strip(text: &str) -> Stripped<'_> {
    if next_opening(text, 0).is_none() {
        return Stripped::Remaining(Cow::Borrowed(text));
    }
    let said = parts(text).filter_map(|part| match part {
        TextPart::Other(said) => Some(said),
        TextPart::Recalled(_) => None,
    });
    let said: String = said.collect();
    if said.trim().is_empty() {
        Stripped::OnlyRecalled
    } else {
        Stripped::Remaining(Cow::Owned(said.trim().to_owned()))
    }
}

/// A stretch of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum TextPart<'t> {
    /// Text of others.
    Other(&'t str),
    /// One element, with its tags.
    Recalled(&'t str),
}

/// The stretches of a text, in order.
pub fn parts(text: &str) -> impl Iterator<Item = TextPart<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at;
        let open = next_opening(text, begin).unwrap_or(text.len());
        if open > begin {
            at = open;
            return Some(TextPart::Other(&text[begin..open]));
        }
        at = end(text, begin);
        (at > begin).then(|| TextPart::Recalled(&text[begin..at]))
    })
}

/// Where the next element begins.
fn next_opening(text: &str, from: usize) -> Option<usize> {
    tags(text, from).find_map(|(at, opens)| opens.then_some(at))
}

/// Where the element that begins at `open` ends; elements within it count.
fn end(text: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, opens) in tags(text, open) {
        match opens {
            true => depth += 1,
            false => depth -= 1,
        }
        if depth == 0 {
            return at + CLOSE.len();
        }
    }
    text.len()
}

/// Where tags of the element stand, and whether each opens it. Goes through the text once.
fn tags(text: &str, from: usize) -> impl Iterator<Item = (usize, bool)> {
    memchr::memchr_iter(b'<', &text.as_bytes()[from..]).filter_map(move |found| {
        let tag = &text.as_bytes()[from + found..];
        if tag.starts_with(CLOSE.as_bytes()) {
            return Some((from + found, false));
        }
        let after = tag.strip_prefix(OPEN.as_bytes())?.first();
        let ends = matches!(
            after,
            None | Some(b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n')
        );
        ends.then_some((from + found, true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let stripped = match strip(text) {
            Stripped::Remaining(said) => Some(said.into_owned()),
            Stripped::OnlyRecalled => None,
        };
        assert_eq!(stripped.as_deref(), expected, "{text}");
    }

    #[test]
    fn a_text_without_the_element_is_left_alone() {
        check(
            "what does <daybook-memoryish> do",
            Some("what does <daybook-memoryish> do"),
        );
        check("", Some(""));
    }

    #[test]
    fn the_element_is_taken_out_of_what_a_person_said() {
        check(
            "<daybook-memory scope=\"p\">tabs</daybook-memory>\nuse tabs",
            Some("use tabs"),
        );
        check("a <daybook-memory>x</daybook-memory> b", Some("a  b"));
    }

    #[test]
    fn nothing_is_left_of_the_element_alone() {
        check(" <daybook-memory>x</daybook-memory>\n", None);
        check(
            "<daybook-memory>a</daybook-memory><daybook-memory>b</daybook-memory>",
            None,
        );
    }

    #[test]
    fn an_element_within_the_element_does_not_end_it() {
        check(
            "<daybook-memory>a<daybook-memory>b</daybook-memory>c</daybook-memory>d",
            Some("d"),
        );
    }

    #[test]
    fn any_number_of_elements_takes_little_time() {
        let many = "<daybook-memory>".repeat(200_000);
        check(&many, None);
        check(&format!("{many}</daybook-memory>"), None);
        check(&"<daybook-memory></daybook-memory>".repeat(100_000), None);
    }

    #[test]
    fn an_answer_of_our_tools_is_known_as_json_too() {
        let known = |origin, text| strip_event(origin, text).0 == Origin::Recalled;
        for text in [
            r#"{"daybook-memory":"facts","results":[{"text":"tabs"}]}"#,
            "{\n  \"branch\": null,\n  \"daybook-memory\" : \"facts\", \"text\": \"cut of",
            r#"[{"type":"text","text":"<daybook-memory>\ntabs\n</daybook-memory>\n"}]"#,
            "<daybook-memory>\n1. tabs\n</daybook-memory>\n",
        ] {
            assert!(known(Origin::ToolResult, text), "{text}");
        }
        assert!(!known(Origin::Human, r#"{"daybook-memory":"facts"}"#));
        for text in [
            r#"{"about":"the daybook-memory element"}"#,
            r#"see "daybook-memory": it is an element"#,
        ] {
            assert!(!known(Origin::ToolResult, text), "{text}");
        }
    }

    #[test]
    fn c110_the_block_of_cited_memories_is_no_part_of_an_agents_text() {
        let block = "<oai-mem-citation>\n<rollout_ids>\n</rollout_ids>\n</oai-mem-citation>";
        let text = format!("Use tabs.\n\n{block}\n");
        assert_eq!(
            strip_event(Origin::Assistant, &text),
            (Origin::Assistant, "Use tabs.".into())
        );
        assert_eq!(strip_event(Origin::Assistant, block).1, "");
        // A person may ask about one.
        assert_eq!(
            strip_event(Origin::Human, &text),
            (Origin::Human, text.as_str().into())
        );
    }

    #[test]
    fn an_element_that_was_cut_off_reaches_to_the_end() {
        check("before <daybook-memory>never closed", Some("before"));
    }
}
