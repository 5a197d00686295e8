//! Small edits of a JSON file that a person maintains.
//!
//! A document is parsed for its positions only. Every edit is a cut or an insertion at such a position, in the file's own
//! indentation and line ends, so that all other bytes stay as they are: comments, trailing commas, tabs, the order of
//! keys, and duplicate keys.
//!
//! Not here: what is inserted (`hooks`, `servers`), and files (`file`).

use std::ops::Range;

use anyhow::{Result, anyhow};
use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// A value to insert. Members keep the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    Number(u32),
    True,
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// A JSON text and the positions of its nodes.
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    /// `None` when the text is blank, or holds nothing but comments.
    pub(super) root: Option<Value<'a>>,
    tokens: Vec<TokenAndRange<'a>>,
}

/// The positions of an object or list and its entries.
pub(super) struct EntrySpans {
    outer: Range<usize>,
    entries: Vec<Range<usize>>,
}

impl EntrySpans {
    pub(super) fn of_object(object: &Object<'_>) -> Self {
        Self {
            outer: span(object),
            entries: object.properties.iter().map(span).collect(),
        }
    }

    pub(super) fn of_list(list: &Array<'_>) -> Self {
        Self {
            outer: span(list),
            entries: list.elements.iter().map(span).collect(),
        }
    }
}

/// The position of a node.
pub(super) fn span(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

/// Finds the member of that name that programs use: the last one.
pub(super) fn member<'b, 'a>(object: &'b Object<'a>, name: &str) -> Option<(usize, &'b Value<'a>)> {
    let at = object
        .properties
        .iter()
        .rposition(|property| property.name.as_str() == name)?;
    Some((at, &object.properties[at].value))
}

impl<'a> Document<'a> {
    /// Parses `text`, which may have comments and trailing commas, and no other extension of JSON.
    pub(super) fn parse(text: &'a str) -> Result<Self> {
        let collect = CollectOptions {
            tokens: true,
            ..CollectOptions::default()
        };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &collect, &options)
            .map_err(|error| anyhow!("it is not JSON: {error}"))?;
        Ok(Self {
            text,
            root: parsed.value,
            tokens: parsed.tokens.unwrap_or_default(),
        })
    }

    /// Appends `value` as the last entry, under `name` in an object.
    pub(super) fn appended(&self, spans: &EntrySpans, name: Option<&str>, value: &Json) -> String {
        let style = self.style(spans);
        let entry = style.entry(name, value);
        let Some(last) = spans.entries.last() else {
            return self.first(spans, &style, &entry);
        };
        let gap = style.gap();
        match self.comma_after(last.end) {
            Some(comma) => {
                let at = after_remarks(self.text, comma.end);
                splice(self.text, &[(at..at, format!("{gap}{entry},"))])
            }
            None => {
                let at = after_remarks(self.text, last.end);
                let edits = [
                    (last.end..last.end, ",".to_owned()),
                    (at..at, format!("{gap}{entry}")),
                ];
                splice(self.text, &edits)
            }
        }
    }

    /// Adds the first entry to an empty object or list.
    fn first(&self, spans: &EntrySpans, style: &JsonStyle<'_>, entry: &str) -> String {
        let inside = spans.outer.start + 1..spans.outer.end - 1;
        if style.inline {
            return splice(self.text, &[(inside.start..inside.start, entry.to_owned())]);
        }
        let gap = style.gap();
        if self.text[inside.clone()].trim().is_empty() {
            let end = format!("{}{}", style.newline, style.outer_indent);
            return splice(self.text, &[(inside, format!("{gap}{entry}{end}"))]);
        }
        splice(
            self.text,
            &[(inside.start..inside.start, format!("{gap}{entry}"))],
        )
    }

    /// Replaces the value at `place`.
    pub(super) fn replaced(&self, place: Range<usize>, value: &Json) -> String {
        let style = JsonStyle {
            inline: !self.text[place.clone()].contains('\n'),
            indent: indent_of_line(self.text, place.start).to_owned(),
            ..self.style_at(place.start)
        };
        let mut rendered = String::new();
        style.write(value, 0, &mut rendered);
        splice(self.text, &[(place, rendered)])
    }

    /// Removes the entry `at`, with its comma and space.
    pub(super) fn without(&self, spans: &EntrySpans, at: usize) -> String {
        let entry = spans.entries[at].clone();
        let comma = self.comma_after(entry.end);
        let end = comma.clone().map_or(entry.end, |comma| comma.end);
        if spans.entries.len() == 1 {
            return self.without_only(spans, entry.start, end);
        }
        match (at, comma) {
            (0, _) => {
                let next = spans.entries[1].start;
                let cut = match self.text[end..next].trim().is_empty() {
                    true => entry.start..next,
                    false => self.with_gap(entry.start, end),
                };
                splice(self.text, &[(cut, String::new())])
            }
            (_, Some(_)) => {
                let cut = self.with_gap(entry.start, end);
                splice(self.text, &[(cut, String::new())])
            }
            (_, None) => {
                let before = self.comma_after(spans.entries[at - 1].end);
                let mut edits = Vec::new();
                edits.extend(before.map(|comma| (comma, String::new())));
                edits.push((self.with_gap(entry.start, end), String::new()));
                splice(self.text, &edits)
            }
        }
    }

    fn without_only(&self, spans: &EntrySpans, start: usize, end: usize) -> String {
        let inside = spans.outer.start + 1..spans.outer.end - 1;
        let (before, after) = (&self.text[inside.start..start], &self.text[end..inside.end]);
        let cut = match (before.trim().is_empty(), after.trim().is_empty()) {
            (true, true) => inside,
            (true, false) => inside.start..end,
            (false, _) => self.with_gap(start, end),
        };
        splice(self.text, &[(cut, String::new())])
    }

    /// The range with the space before it. A line end stays if the text after it would otherwise become part of a comment.
    fn with_gap(&self, start: usize, end: usize) -> Range<usize> {
        let gap = self.text[..start].trim_end().len();
        let before = self
            .tokens
            .partition_point(|token| token.range.end <= start);
        let before = before
            .checked_sub(1)
            .map_or(0, |at| self.tokens[at].range.end);
        let rest = self.text[end..].trim_start_matches([' ', '\t', '\r']);
        match ends_in_remark(&self.text[before..gap]) && !rest.starts_with('\n') {
            true => start..end,
            false => gap..end,
        }
    }

    fn comma_after(&self, at: usize) -> Option<Range<usize>> {
        let next = self.tokens.partition_point(|token| token.range.start < at);
        let token = self.tokens.get(next)?;
        (token.token == Token::Comma).then(|| span(&token.range))
    }

    fn style(&self, spans: &EntrySpans) -> JsonStyle<'a> {
        let style = self.style_at(spans.outer.start);
        let own_line = |entry: &&Range<usize>| starts_line(self.text, entry.start);
        let indent = match spans.entries.last().filter(own_line) {
            Some(last) => indent_of_line(self.text, last.start).to_owned(),
            None => format!("{}{}", style.outer_indent, style.unit),
        };
        let inline = match spans.entries.is_empty() {
            true => !self.text.trim_end().contains('\n') && !self.is_bare(),
            false => !self.text[spans.outer.clone()].contains('\n'),
        };
        JsonStyle {
            indent,
            inline,
            ..style
        }
    }

    /// Whether the document has no entry that shows its style.
    fn is_bare(&self) -> bool {
        let root = self.root.as_ref().and_then(Value::as_object);
        root.is_some_and(|root| root.properties.is_empty())
    }

    fn style_at(&self, outer: usize) -> JsonStyle<'a> {
        let entries = match &self.root {
            Some(Value::Object(root)) => root.properties.first().map(span),
            _ => None,
        };
        let unit = entries
            .filter(|first| starts_line(self.text, first.start))
            .map(|first| indent_of_line(self.text, first.start))
            .filter(|indent| !indent.is_empty());
        JsonStyle {
            newline: match self.text.contains("\r\n") {
                true => "\r\n",
                false => "\n",
            },
            unit: unit.unwrap_or("  "),
            outer_indent: indent_of_line(self.text, outer),
            spaced: !self.text.contains("\":") || self.text.contains("\": "),
            indent: String::new(),
            inline: false,
        }
    }
}

/// The layout of a file around a position.
struct JsonStyle<'a> {
    newline: &'static str,
    unit: &'a str,
    /// Indentation of the line on which the object or list begins.
    outer_indent: &'a str,
    /// Indentation of its entries.
    indent: String,
    /// Whether the object or list is on one line.
    inline: bool,
    /// Whether a space follows colons and commas on one line.
    spaced: bool,
}

impl JsonStyle<'_> {
    fn space(&self) -> &'static str {
        if self.spaced { " " } else { "" }
    }

    /// The space between an entry and the comma or bracket before it.
    fn gap(&self) -> String {
        match self.inline {
            true => self.space().to_owned(),
            false => format!("{}{}", self.newline, self.indent),
        }
    }

    fn entry(&self, name: Option<&str>, value: &Json) -> String {
        let mut out = String::new();
        if let Some(name) = name {
            self.name(name, &mut out);
        }
        self.write(value, 0, &mut out);
        out
    }

    fn name(&self, name: &str, out: &mut String) {
        out.push_str(&quoted(name));
        out.push(':');
        out.push_str(if self.inline { self.space() } else { " " });
    }

    fn write(&self, value: &Json, depth: usize, out: &mut String) {
        match value {
            Json::Text(text) => out.push_str(&quoted(text)),
            Json::Number(number) => out.push_str(&number.to_string()),
            Json::True => out.push_str("true"),
            Json::List(values) => {
                let entries = values.iter().map(|value| (None, value)).collect();
                self.write_entries(['[', ']'], entries, depth, out);
            }
            Json::Object(members) => {
                let named = |(name, value): &'_ (&'static str, Json)| (Some(*name), value.clone());
                let members: Vec<(Option<&str>, Json)> = members.iter().map(named).collect();
                let entries = members.iter().map(|(name, value)| (*name, value)).collect();
                self.write_entries(['{', '}'], entries, depth, out);
            }
        }
    }

    fn write_entries(
        &self,
        [open, close]: [char; 2],
        entries: Vec<(Option<&str>, &Json)>,
        depth: usize,
        out: &mut String,
    ) {
        out.push(open);
        // A list of plain words reads best on one line.
        let flat = self.inline
            || entries
                .iter()
                .all(|(name, value)| name.is_none() && matches!(value, Json::Text(_)));
        for (at, (name, value)) in entries.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            match flat {
                true if at > 0 => out.push_str(if self.inline { self.space() } else { " " }),
                true => {}
                false => self.line(depth + 1, out),
            }
            if let Some(name) = name {
                self.name(name, out);
            }
            self.write(value, depth + 1, out);
        }
        if !flat {
            self.line(depth, out);
        }
        out.push(close);
    }

    fn line(&self, depth: usize, out: &mut String) {
        out.push_str(self.newline);
        out.push_str(&self.indent);
        out.push_str(&self.unit.repeat(depth));
    }
}

/// Parses settings for their values; blank text is an empty object.
pub(super) fn parse_settings(text: &str) -> Result<serde_json::Value> {
    let root = Document::parse(text)?.root;
    let empty = || serde_json::Value::Object(serde_json::Map::new());
    Ok(root.map_or_else(empty, serde_json::Value::from))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Replaces ranges of the text, which are in order and do not overlap.
fn splice(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len() + 1024);
    let mut done = 0;
    for (stretch, new) in edits {
        out.push_str(&text[done..stretch.start]);
        out.push_str(new);
        done = stretch.end;
    }
    out.push_str(&text[done..]);
    out
}

/// The end of the comments on the same line as `at`, which belong to the entry before them.
fn after_remarks(text: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let rest = &text[end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &rest[blank..];
        if rest.starts_with("//") {
            let line = rest.find(['\r', '\n']).unwrap_or(rest.len());
            return end + blank + line;
        }
        match rest.strip_prefix("/*").and_then(|rest| rest.find("*/")) {
            Some(length) => end += blank + length + 4,
            None => return end,
        }
    }
}

/// Whether comments and space end inside a line comment.
fn ends_in_remark(mut remarks: &str) -> bool {
    loop {
        let Some(at) = remarks.find('/') else {
            return false;
        };
        remarks = &remarks[at..];
        let end = match remarks.starts_with("//") {
            true => remarks.find('\n'),
            false => remarks.find("*/").map(|end| end + 2),
        };
        match end {
            Some(end) => remarks = &remarks[end..],
            None => return true,
        }
    }
}

fn starts_line(text: &str, at: usize) -> bool {
    let line = line_start(text, at);
    line > 0 && text[line..at].trim().is_empty()
}

fn indent_of_line(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
