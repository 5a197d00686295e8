//! Entries in Daycare's form: a heading with a time, `- **Text**: …` and `- **Context**: …`, and a blank line.
//!
//! The form has no place for a marker, so the file on disk has none: they are kept beside it (`log_marks`). In a text
//! that was read with them, the marker stands behind the heading's time.

use std::iter::Peekable;
use std::str::SplitInclusive;

use super::{Marker, PageBlock, check, without_line_end};

/// Begins the line of what is to be known.
const TEXT: &str = "- **Text**: ";
/// Begins the line of what makes it understandable.
const CONTEXT: &str = "- **Context**: ";
/// The form of a heading: `0` is any digit.
const HEADING: &[u8] = b"## 0000-00-00 00:00";

/// Whether a line is the heading of a block, without a marker.
pub(in crate::files) fn is_heading(line: &str) -> bool {
    let line = without_line_end(line).as_bytes();
    let is_same = |(found, form): (&u8, &u8)| match form {
        b'0' => found.is_ascii_digit(),
        form => found == form,
    };
    line.len() == HEADING.len() && line.iter().zip(HEADING).all(is_same)
}

/// A marked heading, split in two.
pub(in crate::files) fn split_heading(line: &str) -> Option<(&str, Marker)> {
    let (heading, marker) = without_line_end(line).split_once(" ^")?;
    is_heading(heading).then_some(())?;
    Some((heading, Marker::parse(marker)?))
}

/// Whether a line belongs to the block above it.
pub(in crate::files) fn continues(line: &str) -> bool {
    !without_line_end(line).trim().is_empty() && !line.starts_with('#')
}

/// The block that `line` begins, with its `rest`, which then continues behind it.
pub(super) fn take_block<'t>(
    line: &'t str,
    rest: &mut Peekable<SplitInclusive<'t, char>>,
) -> Option<PageBlock<'t>> {
    let (heading, marker) = split_heading(line)?;
    let mut held = vec![line];
    while let Some(next) = rest.next_if(|next| continues(next)) {
        held.push(next);
    }
    let body = held.iter().skip(1).map(|line| without_line_end(line));
    let is_intact = check(std::iter::once(heading).chain(body)) == marker.check();
    held.extend(rest.next_if(|next| without_line_end(next).trim().is_empty()));
    Some(match is_intact {
        true => PageBlock::Ours(marker, held),
        false => PageBlock::Altered(marker, held),
    })
}

/// What a block is about: the place of its line of text, and the words there. `None` for any other entry.
#[must_use]
pub fn text_of<'t>(held: &[&'t str]) -> Option<(usize, &'t str)> {
    split_heading(held.first()?)?;
    let place = held.iter().position(|line| line.starts_with(TEXT))?;
    Some((place, without_line_end(&held[place][TEXT.len()..])))
}

/// The words of a line of text.
pub(in crate::files) fn text_line(line: &str) -> Option<&str> {
    line.strip_prefix(TEXT)
}

/// A block's context, with what it cites.
#[must_use]
pub fn context_of<'t>(held: &[&'t str]) -> Option<&'t str> {
    let mut contexts = held.iter().filter_map(|line| line.strip_prefix(CONTEXT));
    contexts.next().map(without_line_end)
}

/// A block with another text.
pub(in crate::files) fn with_text(held: &[&str], text: &str) -> Option<String> {
    let (place, _) = text_of(held)?;
    let line_end = &held[place][without_line_end(held[place]).len()..];
    let line = format!("{TEXT}{text}{line_end}");
    let lines = held.iter().enumerate();
    let lines = lines.map(|(n, held)| if n == place { line.as_str() } else { held });
    Some(lines.collect())
}

/// The words of a line without the name of its field.
#[must_use]
pub fn without_field(line: &str) -> &str {
    let field = [TEXT, CONTEXT]
        .into_iter()
        .find_map(|field| line.strip_prefix(field));
    field.unwrap_or(line)
}
