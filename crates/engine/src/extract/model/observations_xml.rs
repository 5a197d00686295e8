//! Parses observations in the form of Daycare's prompt: elements in running text.
//!
//! A scanner of tags, not a parser of XML: names in any case, attributes, and prose or fences around them are
//! accepted. It differs from Daycare's own scanner where that one corrupts its input: a field
//! ends at its own close and not at the last one, a new `<observation>` ends the one before it, an
//! unfinished observation is dropped and counted, and the five entities are decoded. `kind`, `events`, `subject`,
//! `stated` and `general` are ours, as attributes or as elements; without a kind it is a fact.

use std::ops::Range;
use std::sync::LazyLock;

use daybook_domain::ObservationKind;
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::answer::{ModelAnswer, Suggestion, UnusableAnswer};
use crate::extract::DropReason;

/// Most bytes of an answer that are scanned.
const ANSWER_BYTES: usize = 256 * 1024;
/// Most observations of an answer that are parsed.
const OBSERVATIONS: usize = 200;
/// Most events that one observation cites.
const EVENTS: usize = 40;

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let names = "observations?|text|context|kind|events|subject|stated|general";
    let attributes = r#"(?:\s+[\w-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?|\s[^<>]*|/"#;
    Regex::new(&format!("(?i)<(?:/({names})\\s*|({names})({attributes}))>"))
        .expect("the pattern is constant")
});
static ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r#"([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/]+))"#));

/// One tag of an answer.
struct Tag<'a> {
    name: String,
    at: Range<usize>,
    /// The attributes of an opening tag; `None` for a closing tag.
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

/// Parses an answer. An empty one is nothing to keep. One of words without any of our elements is unusable: it cannot be
/// distinguished from a refusal.
pub(super) fn parse(answer: &str) -> Result<ModelAnswer, UnusableAnswer> {
    if answer.trim().is_empty() {
        return Ok(ModelAnswer::default());
    }
    let scanned = scan(answer);
    let element = |tag: &Tag<'_>| tag.name.starts_with("observation");
    if !tags(answer).iter().any(element) {
        return Err(UnusableAnswer("holds no observations element"));
    }
    if scanned.suggestions.is_empty() && scanned.dropped.total() > 0 {
        return Err(UnusableAnswer("holds no observation that can be read"));
    }
    Ok(scanned)
}

/// All observations that can be parsed, in order.
pub(super) fn scan(answer: &str) -> ModelAnswer {
    let text = &answer[..answer.floor_char_boundary(ANSWER_BYTES)];
    let tags = tags(text);
    let mut parsed = ModelAnswer::default();
    let mut blocks = 0;
    let mut next = 0;
    while let Some(begin) = (next..tags.len()).find(|i| tags[*i].opens("observation")) {
        blocks += 1;
        if blocks > OBSERVATIONS {
            let more = tags[begin..].iter().filter(|tag| tag.opens("observation"));
            let more = u32::try_from(more.count()).unwrap_or(u32::MAX);
            parsed.dropped.add(DropReason::TooMany, more);
            break;
        }
        let (end, block) = parse_block(text, &tags, begin);
        match block {
            Ok(suggestion) => parsed.suggestions.push(suggestion),
            Err(reason) => parsed.dropped.increment(reason),
        }
        next = end;
    }
    parsed
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

/// Parses the observation that opens at tag `begin`. Returns the index of the tag after it, and the result.
fn parse_block(
    text: &str,
    tags: &[Tag<'_>],
    begin: usize,
) -> (usize, Result<Suggestion, DropReason>) {
    let attributes = tags[begin].opens.unwrap_or("");
    let mut fields = ObservationFields::default();
    for found in ATTRIBUTE.captures_iter(attributes) {
        let value = (2..5).find_map(|i| found.get(i)).map_or("", |v| v.as_str());
        fields.set_field(&found[1].to_ascii_lowercase(), value);
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
        match closing_tag(tags, at - 1) {
            Some(end) => {
                fields.set_field(&tag.name, &text[tag.at.end..tags[end].at.start]);
                at = end + 1;
            }
            None => fields.broken = true,
        }
    }
    (at, Err(DropReason::CutOff))
}

/// The index of the tag that closes the field opened by `open`: its own close, after nested ones of the same
/// name; where that is missing, the nearest close of that name before the observation ends.
fn closing_tag(tags: &[Tag<'_>], open: usize) -> Option<usize> {
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

/// The fields of one observation.
#[derive(Default)]
struct ObservationFields {
    text: Option<String>,
    context: Option<String>,
    kind: Option<String>,
    subject: Option<String>,
    events: Option<String>,
    stated: Option<String>,
    general: Option<String>,
    /// One of its fields has no end.
    broken: bool,
}

impl ObservationFields {
    /// Sets a field; the first value of a name counts.
    fn set_field(&mut self, name: &str, value: &str) {
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
            *field = Some(unescape(value.trim())).filter(|value| !value.is_empty());
        }
    }

    fn suggestion(self) -> Result<Suggestion, DropReason> {
        let (Some(text), Some(context), false) = (self.text, self.context, self.broken) else {
            return Err(DropReason::Unreadable);
        };
        let kind = self
            .kind
            .map(|kind| kind.to_lowercase().replace([' ', '-'], "_"));
        let kind = kind.and_then(|kind| kind.parse().ok());
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

/// Decodes the five entities, once.
fn unescape(text: &str) -> String {
    const ENTITIES: [(&str, char); 5] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&apos;", '\''),
        ("&amp;", '&'),
    ];
    let mut unescaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        unescaped.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = ENTITIES.iter().find(|(name, _)| rest.starts_with(name));
        let (len, c) = entity.map_or((1, '&'), |(name, c)| (name.len(), *c));
        unescaped.push(c);
        rest = &rest[len..];
    }
    unescaped.push_str(rest);
    unescaped
}

#[cfg(test)]
#[path = "observations_xml_tests.rs"]
mod tests;
