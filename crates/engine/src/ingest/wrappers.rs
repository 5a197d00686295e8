//! Telling a person's words from what hosts wrap around them.
//!
//! Hosts write reminders, command echoes and notifications into the same message as a person's
//! words, each in an element of its own. Only an element that a host is known to write, that
//! begins a line and that is closed counts: a person may well talk about tags.
//!
//! Not here: messages that are the host's as a whole.

use std::borrow::Cow;

/// Longest tag that opens an element.
const TAG: usize = 1024;

/// A message taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unwrapped<'t> {
    /// What is left to the person, without blanks around it; empty when there is nothing.
    pub(crate) said: Cow<'t, str>,
    /// The elements that were taken out: their names and their insides.
    pub(crate) elements: Vec<(&'static str, &'t str)>,
}

impl<'t> Unwrapped<'t> {
    /// The inside of the first element of a name.
    pub(crate) fn inside(&self, name: &str) -> Option<&'t str> {
        let element = self.elements.iter().find(|element| element.0 == name);
        element.map(|element| element.1.trim())
    }
}

/// Takes the elements that `names` lists out of `text`.
pub(crate) fn unwrap<'t>(text: &'t str, names: &[&'static str]) -> Unwrapped<'t> {
    let mut elements = Vec::new();
    let mut said = String::new();
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
            // It is closed nowhere further on either; looking again would take forever.
            names.retain(|other| *other != name);
            continue;
        };
        let (inside, end) = (&text[after..after + length], after + length + close.len());
        said.push_str(&text[at..open]);
        elements.push((name, inside));
        at = end;
        from = end;
    }
    if elements.is_empty() {
        return Unwrapped {
            said: Cow::Borrowed(text.trim()),
            elements,
        };
    }
    said.push_str(&text[at..]);
    Unwrapped {
        said: Cow::Owned(said.trim().to_owned()),
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

/// Takes reminders off the end of what a tool answered; in the middle they may be the answer.
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

    fn check(text: &str, said: &str, elements: &[(&str, &str)]) {
        let unwrapped = unwrap(text, NAMES);
        assert_eq!(
            (&*unwrapped.said, &*unwrapped.elements),
            (said, elements),
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
