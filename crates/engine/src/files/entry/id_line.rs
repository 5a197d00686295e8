//! Entries in MindRoom's form: `- [id=m_20260127135600_0c1f4be2a9d37] [auto_flush:7f78:382] words`.
//!
//! The digits behind the time are the entry's marker, so that the line needs no other: the id proves that the words
//! are as the engine wrote them. MindRoom's own ids have eight digits there, which hold no check; such lines are not
//! the engine's.

use super::{CHECK, ID, LETTERS, Marker, PIN, without_line_end};

/// Begins the id.
const OPEN: &str = "[id=m_";
/// Begins the name of what was read.
const READ: &str = "[auto_flush:";
/// Digits of the time, in UTC.
const STAMP: usize = 14;
/// Digits of the marker: 50 bits.
const DIGITS: usize = 13;

/// One such line.
pub(super) struct IdLine<'a> {
    pub(super) marker: Marker,
    /// The line as it is planned: without the marker's digits and without a pin.
    pub(super) plain: String,
    pub(super) is_pinned: bool,
    /// Where its words begin.
    words_at: usize,
    line: &'a str,
}

impl<'a> IdLine<'a> {
    /// Parses a line of a file.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let line = without_line_end(line);
        let id = line.strip_prefix("- ")?;
        let stamped = stamped(id)?;
        let (digits, rest) = id[stamped..].strip_prefix('_')?.split_at_checked(DIGITS)?;
        let marker = marker(digits)?;
        let rest = rest.strip_prefix("] ")?;
        let unpinned = rest.trim_end().strip_suffix(PIN);
        let plain = format!("- {}] {}", &id[..stamped], unpinned.unwrap_or(rest));
        let tagged = rest.strip_prefix(READ).and_then(|tag| tag.split_once("] "));
        let words = tagged.map_or(rest, |(_, words)| words);
        Some(Self {
            marker,
            plain,
            is_pinned: unpinned.is_some(),
            words_at: line.len() - words.len(),
            line,
        })
    }

    /// What is remembered: the line without id, the name of what was read, and pin.
    pub(super) fn words(&self) -> &'a str {
        let words = &self.line[self.words_at..];
        let unpinned = words.trim_end().strip_suffix(PIN);
        unpinned.unwrap_or(words)
    }

    /// The line with other words, which have no line end.
    pub(super) fn with_words(&self, words: &str) -> String {
        let pin = if self.is_pinned { PIN } else { "" };
        format!("{}{words}{pin}", &self.line[..self.words_at])
    }

    /// The line, pinned or not.
    pub(super) fn with_pin(&self, is_pinned: bool) -> String {
        let pin = if is_pinned { PIN } else { "" };
        format!("{}{}{pin}", &self.line[..self.words_at], self.words())
    }
}

/// Whether a planned line is to be written in this form.
pub(super) fn is_planned(plain: &str) -> bool {
    plain
        .strip_prefix("- ")
        .and_then(|id| stamped(id).map(|end| id[end..].starts_with("] ")))
        .unwrap_or(false)
}

/// The planned line with its marker.
pub(super) fn render(plain: &str, marker: &Marker) -> String {
    let end = "- ".len() + OPEN.len() + STAMP;
    let (id, rest) = plain.split_at_checked(end).unwrap_or((plain, ""));
    format!("{id}_{}{rest}", digits(marker))
}

/// Where the time of an id ends.
fn stamped(id: &str) -> Option<usize> {
    let (stamp, _) = id.strip_prefix(OPEN)?.split_at_checked(STAMP)?;
    let is_time = stamp.bytes().all(|byte| byte.is_ascii_digit());
    is_time.then_some(OPEN.len() + STAMP)
}

fn digits(marker: &Marker) -> String {
    let place = |letter: u8| LETTERS.iter().position(|known| *known == letter);
    let letters = marker.0.bytes().filter_map(place);
    let bits = letters.fold(0_u64, |bits, place| (bits << 5) | place as u64);
    format!("{bits:013x}")
}

fn marker(digits: &str) -> Option<Marker> {
    let is_lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.bytes().all(is_lower_hex) {
        return None;
    }
    let bits = u64::from_str_radix(digits, 16).ok()?;
    let letters = (0..ID + CHECK).rev();
    let letter = |n: usize| char::from(LETTERS[(bits >> (5 * n)) as usize & 31]);
    let is_marker = bits >> (5 * (ID + CHECK)) == 0;
    is_marker.then(|| Marker(letters.map(letter).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::{
        PageBlock, is_pinned, marker_of, parse_blocks, re_marked, render, with_pin, without_marker,
    };
    use crate::consolidate::MemoryEntry;

    fn written() -> String {
        let entry = MemoryEntry {
            key: "7".to_owned(),
            lines: vec!["[id=m_20260127135600] [auto_flush:7f78:382] tests first".to_owned()],
            observations: Vec::new(),
        };
        render(&entry).join("\n") + "\n"
    }

    fn is_ours(line: &str) -> bool {
        matches!(parse_blocks(line).as_slice(), [PageBlock::Ours(..)])
    }

    #[test]
    fn a_line_proves_by_its_id_that_it_is_as_it_was_written() {
        let line = written();
        assert!(line.starts_with("- [id=m_20260127135600_"), "{line}");
        assert!(
            line.ends_with("] [auto_flush:7f78:382] tests first\n"),
            "{line}"
        );
        assert!(is_ours(&line));
        let changed = line.replace("first", "last");
        assert!(matches!(
            parse_blocks(&changed).as_slice(),
            [PageBlock::Altered(..)]
        ));
        assert_eq!(marker_of(&changed), marker_of(&line));
        assert_eq!(without_marker(&line), "tests first");
        for foreign in [
            "- [id=m_20260127135600_1c0f4be2] a line of MindRoom's own\n",
            "- [id=m_2026_0000000000000] no time\n",
            "- [id=m_20260127135600_fffffffffffff] no marker\n",
        ] {
            assert!(
                matches!(parse_blocks(foreign).as_slice(), [PageBlock::Other(_)]),
                "{foreign}"
            );
        }
    }

    #[test]
    fn a_line_can_be_pinned_and_hidden_and_stays_the_engines() {
        let line = written();
        let pinned = with_pin(&line, true);
        assert!(
            pinned.ends_with("tests first #pinned\n") && is_pinned(&pinned),
            "{pinned}"
        );
        assert!(matches!(
            parse_blocks(&pinned).as_slice(),
            [PageBlock::Pinned(..)]
        ));
        assert_eq!(with_pin(&pinned, false), line);
        let hidden = re_marked(&line, |words| words.replace("tests", "***"));
        assert!(
            is_ours(&hidden) && hidden.ends_with("*** first\n"),
            "{hidden}"
        );
    }
}
