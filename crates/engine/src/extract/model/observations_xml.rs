//! Reading observations as Daycare's prompt asks for them (seed 001; spec D.6): elements in running text.
//!
//! A scanner of tags, not a parser of XML: names in any case, attributes, prose and fences around are
//! all right. It differs from the seed's own scanner where that one corrupts what it reads: a field
//! ends at its own close and not at the last one, a new `<observation>` ends the one before it, what
//! breaks off is dropped and counted, and the five entities are read. `kind`, `events`, `subject`,
//! `stated` and `general` are ours, as attributes or as elements; without a kind it is a fact.

use std::ops::Range;
use std::sync::LazyLock;

use daybook_domain::ObservationKind;
use regex::Regex;

use super::answer::{Answer, Suggestion, Unusable};
use crate::extract::DropReason;

/// Most bytes of an answer that are looked at.
const ANSWER_BYTES: usize = 256 * 1024;
/// Most observations of an answer that are looked at.
const OBSERVATIONS: usize = 200;
/// Most events that one observation cites.
const EVENTS: usize = 40;

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let names = "observations?|text|context|kind|events|subject|stated|general";
    let attributes = r#"(?:\s+[\w-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?|\s[^<>]*|/"#;
    Regex::new(&format!("(?i)<(?:/({names})\\s*|({names})({attributes}))>"))
        .expect("the pattern is constant")
});
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/]+))"#)
        .expect("the pattern is constant")
});

/// One tag of an answer.
struct Tag<'a> {
    name: String,
    at: Range<usize>,
    /// Attributes of an opening tag; `None` closes.
    opens: Option<&'a str>,
}

impl Tag<'_> {
    fn opens(&self, name: &str) -> bool {
        self.opens.is_some() && self.name == name
    }

    fn closes(&self, name: &str) -> bool {
        self.opens.is_none() && self.name == name
    }
}

/// Reads an answer. One without any element of ours is unusable: nothing tells it from a refusal.
pub(super) fn read(answer: &str) -> Result<Answer, Unusable> {
    if answer.trim().is_empty() {
        return Err(Unusable("is empty"));
    }
    let scanned = scan(answer);
    let element = |tag: &Tag<'_>| tag.name.starts_with("observation");
    if !tags(answer).iter().any(element) {
        return Err(Unusable("holds no observations element"));
    }
    if scanned.suggestions.is_empty() && scanned.dropped.total() > 0 {
        return Err(Unusable("holds no observation that can be read"));
    }
    Ok(scanned)
}

/// All observations that can be read, in order.
pub(super) fn scan(answer: &str) -> Answer {
    let text = &answer[..answer.floor_char_boundary(ANSWER_BYTES)];
    let tags = tags(text);
    let mut read = Answer::default();
    let mut blocks = 0;
    let mut next = 0;
    while let Some(begin) = (next..tags.len()).find(|i| tags[*i].opens("observation")) {
        blocks += 1;
        if blocks > OBSERVATIONS {
            let more = tags[begin..].iter().filter(|tag| tag.opens("observation"));
            let more = u32::try_from(more.count()).unwrap_or(u32::MAX);
            read.dropped.add(DropReason::TooMany, more);
            break;
        }
        let (end, block) = block(text, &tags, begin);
        match block {
            Ok(suggestion) => read.suggestions.push(suggestion),
            Err(reason) => read.dropped.count(reason),
        }
        next = end;
    }
    read
}

fn tags(text: &str) -> Vec<Tag<'_>> {
    TAG.captures_iter(text)
        .filter_map(|found| {
            let whole = found.get(0)?;
            let name = found.get(1).or(found.get(2))?;
            Some(Tag {
                name: name.as_str().to_ascii_lowercase(),
                at: whole.range(),
                opens: found
                    .get(2)
                    .map(|_| found.get(3).map_or("", |a| a.as_str())),
            })
        })
        .collect()
}

/// Reads the observation whose opening tag is `begin`, and says behind which tag it ends.
fn block(text: &str, tags: &[Tag<'_>], begin: usize) -> (usize, Result<Suggestion, DropReason>) {
    let attributes = tags[begin].opens.unwrap_or("");
    let mut fields = Fields::default();
    for found in ATTRIBUTE.captures_iter(attributes) {
        let value = (2..5).find_map(|i| found.get(i)).map_or("", |v| v.as_str());
        fields.take(&found[1].to_ascii_lowercase(), value);
    }
    let mut at = begin + 1;
    if attributes.ends_with('/') {
        return (at, fields.suggestion());
    }
    while at < tags.len() {
        let tag = &tags[at];
        if tag.closes("observation") {
            return (at + 1, fields.suggestion());
        }
        if tag.opens("observation") || tag.name == "observations" {
            return (at, fields.suggestion());
        }
        at += 1;
        if tag.opens.is_none_or(|attributes| attributes.ends_with('/')) {
            continue;
        }
        match close(tags, at - 1) {
            Some(end) => {
                fields.take(&tag.name, &text[tag.at.end..tags[end].at.start]);
                at = end + 1;
            }
            None => fields.broken = true,
        }
    }
    (at, Err(DropReason::CutOff))
}

/// The tag that closes the field which `open` opens: its own close, past others of its name within
/// it; where there is none, the nearest before the observation ends.
fn close(tags: &[Tag<'_>], open: usize) -> Option<usize> {
    let name = tags[open].name.as_str();
    let mut depth = 0_usize;
    for (i, tag) in tags.iter().enumerate().skip(open) {
        if tag.opens(name) {
            depth += 1;
        } else if tag.closes(name) {
            depth -= 1;
        }
        if depth == 0 {
            return Some(i);
        }
    }
    let ends = |tag: &&Tag<'_>| tag.name.starts_with("observation");
    let within = tags[open + 1..].iter().take_while(|tag| !ends(tag));
    within
        .enumerate()
        .find_map(|(i, tag)| tag.closes(name).then_some(open + 1 + i))
}

/// What was found of one observation.
#[derive(Default)]
struct Fields {
    text: Option<String>,
    context: Option<String>,
    kind: Option<String>,
    subject: Option<String>,
    events: Option<String>,
    stated: Option<String>,
    general: Option<String>,
    /// A field of it has no end.
    broken: bool,
}

impl Fields {
    /// The first of a name counts.
    fn take(&mut self, name: &str, value: &str) {
        let field = match name {
            "text" => &mut self.text,
            "context" => &mut self.context,
            "kind" => &mut self.kind,
            "subject" => &mut self.subject,
            "events" => &mut self.events,
            "stated" => &mut self.stated,
            "general" => &mut self.general,
            _ => return,
        };
        if field.is_none() {
            *field = Some(unescaped(value.trim())).filter(|value| !value.is_empty());
        }
    }

    fn suggestion(self) -> Result<Suggestion, DropReason> {
        let (Some(text), Some(context), false) = (self.text, self.context, self.broken) else {
            return Err(DropReason::Unreadable);
        };
        let kind = self
            .kind
            .map(|kind| kind.to_lowercase().replace([' ', '-'], "_"));
        let kind = kind.and_then(|kind| ObservationKind::from_word(&kind));
        let yes = |value: String| matches!(value.to_lowercase().as_str(), "true" | "yes" | "1");
        Ok(Suggestion {
            kind: kind.unwrap_or(ObservationKind::Fact),
            context: Some(context),
            subject: self.subject,
            events: numbers(self.events.as_deref().unwrap_or("")),
            stated: self.stated.map(yes),
            general: self.general.is_some_and(yes),
            ..Suggestion::fact(text)
        })
    }
}

/// The numbers in a list such as `3, 7` or `3-5`.
pub(super) fn numbers(list: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in list.split([',', ' ', ';']) {
        let bare = |number: &str| {
            let digits = number.trim_matches(|c: char| !c.is_ascii_digit());
            digits.parse::<usize>().ok()
        };
        let ends = part.split_once(['-', '–']).unwrap_or((part, part));
        if let (Some(from), Some(to)) = (bare(ends.0), bare(ends.1)) {
            numbers.extend((from..=to).take(EVENTS));
        }
    }
    numbers.truncate(EVENTS);
    numbers
}

/// The text with the five entities read, once.
fn unescaped(text: &str) -> String {
    const ENTITIES: [(&str, char); 5] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&apos;", '\''),
        ("&amp;", '&'),
    ];
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        read.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = ENTITIES.iter().find(|(name, _)| rest.starts_with(name));
        let (len, c) = entity.map_or((1, '&'), |(name, c)| (name.len(), *c));
        read.push(c);
        rest = &rest[len..];
    }
    read.push_str(rest);
    read
}

#[cfg(test)]
#[path = "observations_xml_tests.rs"]
mod tests;
