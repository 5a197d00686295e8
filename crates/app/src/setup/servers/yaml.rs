//! Our MCP server in the YAML of Goose, where servers are `extensions`.
//!
//! No editor of YAML keeps comments and layout, so lines are inserted and removed. That is exact where `extensions` is a
//! block with an entry's name alone on its line, which is how Goose writes it; anything else is refused.
//!
//! Not here: whether the person's own settings came through, which `setup` checks by parsing both texts.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

use super::{NAME, ServerEntry, read};

/// Seconds that Goose waits for an answer of the server; its own default.
const TIMEOUT: u32 = 300;

/// Edits YAML text so that it has our server as wanted; removes it for `None`.
pub(super) fn settle(text: &str, wanted: Option<&ServerEntry>) -> Result<String> {
    let root = parse(text)?;
    let extensions = root.get("extensions");
    let found = extensions.and_then(|all| all.get(NAME));
    let is_ours = |found| read(found).is_some_and(|entry| entry.is_ours());
    match (found, wanted) {
        (None, None) => Ok(text.to_owned()),
        (Some(found), _) if !is_ours(found) => Ok(text.to_owned()),
        (Some(found), Some(server)) if read(found).as_ref() == Some(server) => Ok(text.to_owned()),
        (None, Some(server)) if extensions.is_none() => Ok(with_block(text, server)),
        (None, Some(server)) => {
            let block = Block::find(text)?;
            Ok(block.spliced(block.end..block.end, Some(server)))
        }
        (Some(_), wanted) => {
            let block = Block::find(text)?;
            let entry = block.entry()?;
            match (wanted, extensions.and_then(Value::as_object)) {
                (None, Some(all)) if all.len() == 1 => {
                    Ok(block.spliced(block.start..entry.end, None))
                }
                _ => Ok(block.spliced(entry, wanted)),
            }
        }
    }
}

/// Parses YAML for its values; blank text is an empty object.
pub(super) fn parse(text: &str) -> Result<Value> {
    let options = serde_saphyr::options! { with_snippet: false };
    let root: Value = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| anyhow!("it is not YAML: {error}"))?;
    match root {
        Value::Null => Ok(Value::Object(serde_json::Map::new())),
        Value::Object(_) => Ok(root),
        _ => bail!("it holds something other than a mapping"),
    }
}

/// The text with `extensions` and our entry at its end.
fn with_block(text: &str, server: &ServerEntry) -> String {
    let newline = newline_of(text);
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        newline
    };
    let entry = render(server, "  ", newline);
    format!("{text}{gap}extensions:{newline}{entry}")
}

/// The lines of `extensions`.
struct Block<'a> {
    lines: Vec<&'a str>,
    /// The line `extensions:`.
    start: usize,
    /// The line after the last one of an entry.
    end: usize,
    /// The indentation of entries.
    indent: &'a str,
}

impl<'a> Block<'a> {
    fn find(text: &'a str) -> Result<Self> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let Some(start) = lines.iter().position(|line| is_key(line, "extensions")) else {
            bail!("its \"extensions\" is not a block of lines");
        };
        let of_block = |line: &&&str| is_blank(line) || !indent_of(line).is_empty();
        let after = start + 1 + lines[start + 1..].iter().take_while(of_block).count();
        let is_entry = |at: &usize| !is_blank(lines[*at]);
        let end = (start + 1..after)
            .rev()
            .find(is_entry)
            .map_or(start + 1, |at| at + 1);
        let indent = (start + 1..end)
            .find(is_entry)
            .map_or("  ", |at| indent_of(lines[at]));
        Ok(Self {
            lines,
            start,
            end,
            indent,
        })
    }

    /// The lines of our entry.
    fn entry(&self) -> Result<Range<usize>> {
        let own = |at: &usize| {
            let line = self.lines[*at];
            indent_of(line) == self.indent && is_key(line.trim_start(), NAME)
        };
        let Some(start) = (self.start + 1..self.end).find(own) else {
            bail!("its \"{NAME}\" is not a block of lines");
        };
        let deeper = |at: &usize| indent_of(self.lines[*at]).len() > self.indent.len();
        let next = |at: &usize| !is_blank(self.lines[*at]) && !deeper(at);
        let after = (start + 1..self.end).find(next).unwrap_or(self.end);
        let end = (start..after).rev().find(|at| !is_blank(self.lines[*at]));
        Ok(start..end.map_or(after, |at| at + 1))
    }

    /// The text with our entry in place of `lines`.
    fn spliced(&self, lines: Range<usize>, wanted: Option<&ServerEntry>) -> String {
        let newline = newline_of(self.lines[0]);
        let mut text = self.lines[..lines.start].concat();
        if let Some(server) = wanted {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str(newline);
            }
            text.push_str(&render(server, self.indent, newline));
        }
        text + &self.lines[lines.end..].concat()
    }
}

fn render(server: &ServerEntry, indent: &str, newline: &str) -> String {
    // A text of JSON is one of YAML, too.
    let program = Value::from(server.program.as_str());
    let arguments = Value::from(server.arguments.as_slice());
    let lines = [
        format!("{indent}{NAME}:"),
        format!("{indent}  enabled: true"),
        format!("{indent}  type: stdio"),
        format!("{indent}  name: {NAME}"),
        format!("{indent}  description: Memory of earlier sessions"),
        format!("{indent}  cmd: {program}"),
        format!("{indent}  args: {arguments}"),
        format!("{indent}  envs: {{}}"),
        format!("{indent}  timeout: {TIMEOUT}"),
    ];
    lines.map(|line| line + newline).concat()
}

/// Whether the line is `key:`, with nothing after it but a comment.
fn is_key(line: &str, key: &str) -> bool {
    let rest = line
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(is_blank)
}

/// Whether a line has no value: it is empty, or a comment.
fn is_blank(line: &str) -> bool {
    let rest = line.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
