//! Separates a person's words from the elements that hosts write around them.
//!
//! Hosts write reminders, command echoes and notifications into the same message as a person's
//! words, each in an element of its own. Only an element that a host is known to write, that
//! begins a line and that is closed counts: a person may well talk about tags.
//!
//! Not here: messages that are the host's as a whole.

use std::borrow::Cow;

/// Longest tag that opens an element.
const TAG: usize = 1024;

/// A message, split into a person's words and the host's elements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unwrapped<'t> {
    /// The text outside elements, trimmed; empty if there is none.
    pub(crate) rest: Cow<'t, str>,
    /// The removed elements: their names and their contents.
    pub(crate) elements: Vec<(&'static str, &'t str)>,
}

impl<'t> Unwrapped<'t> {
    /// The content of the first element of a name.
    pub(crate) fn inside(&self, name: &str) -> Option<&'t str> {
        let element = self.elements.iter().find(|element| element.0 == name);
        element.map(|element| element.1.trim())
    }
}

/// Removes the elements that `names` lists from `text`.
pub(crate) fn unwrap<'t>(text: &'t str, names: &[&'static str]) -> Unwrapped<'t> {
    let mut elements = Vec::new();
    let mut rest = String::new();
    let mut at = 0;
    let mut from = 0;
    let mut names = names.to_vec();
    while let Some(open) = text[from..].find('<').map(|found| from + found) {
        from = open + 1;
        if !text[at..open].trim_end_matches([' ', '\t']).is_empty()
            && !text[at..open].trim_end_matches([' ', '\t']).ends_with('\n')
        {
            continue;
        }
        let Some((name, after)) = opening(text, open, &names) else {
            continue;
        };
        let close = format!("</{name}>");
        let Some(length) = text[after..].find(&close) else {
            // No closing tag follows at all; searching again for each tag would take quadratic time.
            names.retain(|other| *other != name);
            continue;
        };
        let (inside, end) = (&text[after..after + length], after + length + close.len());
        rest.push_str(&text[at..open]);
        elements.push((name, inside));
        at = end;
        from = end;
    }
    if elements.is_empty() {
        return Unwrapped {
            rest: Cow::Borrowed(text.trim()),
            elements,
        };
    }
    rest.push_str(&text[at..]);
    Unwrapped {
        rest: Cow::Owned(rest.trim().to_owned()),
        elements,
    }
}

/// The known element that a tag at `open` opens, and where the tag ends.
fn opening(text: &str, open: usize, names: &[&'static str]) -> Option<(&'static str, usize)> {
    let tag = &text[open + 1..];
    let name = *names.iter().find(|name| {
        tag.strip_prefix(**name)
            .is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t']))
    })?;
    let end = tag.bytes().take(TAG).position(|byte| byte == b'>')?;
    Some((name, open + 1 + end + 1))
}

/// Removes reminders from the end of a tool's result; in the middle they may belong to the result.
pub(crate) fn without_trailing<'t>(text: &'t str, name: &str) -> &'t str {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut text = text;
    while let Some(inner) = text.trim_end().strip_suffix(&close) {
        match inner.rfind(&open) {
            Some(begin) => text = text[..begin].trim_end(),
            None => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["note", "note-taker"];

    fn check(text: &str, rest: &str, elements: &[(&str, &str)]) {
        let unwrapped = unwrap(text, NAMES);
        assert_eq!(
            (&*unwrapped.rest, &*unwrapped.elements),
            (rest, elements),
            "{text}"
        );
    }

    #[test]
    fn words_without_elements_are_all_said() {
        check("a < b and <i>c</i>", "a < b and <i>c</i>", &[]);
    }

    #[test]
    fn known_elements_are_taken_out_wherever_they_begin_a_line() {
        check("<note>a</note>\nfix it", "fix it", &[("note", "a")]);
        check(
            "fix it\n  <note kind=\"x\">a\nb</note>",
            "fix it",
            &[("note", "a\nb")],
        );
        check(
            "<note>a</note><note-taker>b</note-taker>",
            "",
            &[("note", "a"), ("note-taker", "b")],
        );
    }

    #[test]
    fn a_person_may_talk_about_elements() {
        check(
            "why is <note>a</note> there",
            "why is <note>a</note> there",
            &[],
        );
        check("<note> is never closed", "<note> is never closed", &[]);
        check("<notes>a</notes>", "<notes>a</notes>", &[]);
    }

    #[test]
    fn any_number_of_elements_takes_little_time() {
        let many = "\n<note>".repeat(200_000);
        check(&many, many.trim(), &[]);
        let open = "\n<note ".repeat(200_000);
        check(&open, open.trim(), &[]);
        assert_eq!(
            unwrap(&"<note></note>".repeat(100_000), NAMES)
                .elements
                .len(),
            100_000
        );
    }

    #[test]
    fn reminders_are_taken_off_the_end_of_an_answer_only() {
        let strip = |text| without_trailing(text, "note");
        assert_eq!(strip("out\n\n<note>x</note>\n<note>y</note>\n"), "out");
        assert_eq!(strip("a <note>x</note> b"), "a <note>x</note> b");
        assert_eq!(strip("x</note>"), "x</note>");
    }
}
