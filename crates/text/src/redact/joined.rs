//! Puts together what line breaks and programs split into pieces: wrapped tokens, `"ab" + "cd"`, `'ab' 'cd'`.
//!
//! Only runs without blanks are joined, and at a line break only where one of the two is long, as pieces of a token
//! are and words are not.
//!
//! Not here: which joined runs are secrets. `scan` applies the rules of issuers to them, and to nothing else.

use std::ops::Range;

use super::cursor::Cursor;
use super::shape::{is_hex_key, is_random};
use super::view::View;

/// Bytes of a run from which on it may be a piece of a wrapped token.
const LONG_PIECE: usize = 12;
/// Bytes of a run that are read.
const MAX_PIECE: usize = 512;
/// Bytes of indentation, of blanks around an operator.
const MAX_BLANKS: usize = 40;
/// Bytes of all pieces together below which no rule of an issuer holds.
const SHORTEST: usize = 16;

/// The runs of `text` that are split, each put together in a stretch of its own; nothing if there is none.
pub(super) fn view(text: &[u8]) -> Option<View> {
    let mut view = View::default();
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..]
        .iter()
        .position(|byte| OPENS_JOINT[usize::from(*byte)])
    {
        let joint = at + found;
        let Some((before, after)) = pieces_around(text, joint) else {
            at = joint + 1;
            continue;
        };
        at = after.start.max(joint + 1);
        if pieces.last().is_none_or(|last| last.start != before.start) {
            push_stretch(&mut view, text, &pieces);
            pieces.clear();
            pieces.push(before);
        }
        pieces.push(after);
    }
    push_stretch(&mut view, text, &pieces);
    (!view.text.is_empty()).then_some(view)
}

/// The range of a key within the view, without words of the next line that its pattern took for a piece of it.
/// `is_whole` says that its first piece is a whole key already; then nothing remains if the others are words.
pub(super) fn without_next_words(
    view: &View,
    range: &Range<usize>,
    is_whole: bool,
) -> Option<Range<usize>> {
    let mut ends = view.piece_ends(range);
    let looks_drawn = |piece: &[u8]| is_random(piece) || is_hex_key(piece, LONG_PIECE);
    if is_whole && !looks_drawn(&view.text[ends[0]..range.end]) {
        return None;
    }
    while let [.., first, before, last] = ends[..] {
        let piece = &view.text[before..last];
        if first == before || looks_drawn(piece) || piece.iter().any(u8::is_ascii_digit) {
            break;
        }
        ends.pop();
    }
    ends.last().map(|end| range.start..*end)
}

const OPENS_JOINT: [bool; 256] = {
    let mut opens = [false; 256];
    opens[b'\n' as usize] = true;
    opens[b'\\' as usize] = true;
    opens[b'"' as usize] = true;
    opens[b'\'' as usize] = true;
    opens
};

fn push_stretch(view: &mut View, text: &[u8], pieces: &[Range<usize>]) {
    let len: usize = pieces.iter().map(ExactSizeIterator::len).sum();
    let Some(first) = pieces
        .first()
        .filter(|_| pieces.len() > 1 && len >= SHORTEST)
    else {
        return;
    };
    view.open_stretch(first.start);
    for (place, piece) in pieces.iter().enumerate() {
        if place > 0 {
            view.replace(pieces[place - 1].end..piece.start, None);
        }
        view.copy(&text[piece.clone()]);
    }
}

/// The runs on both sides of the joint that starts at `at`, if there is one.
fn pieces_around(text: &[u8], at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let before = at.checked_sub(1)?;
    let before = if text[before] == b'\r' {
        before.checked_sub(1)?
    } else {
        before
    };
    if !is_token_byte(text[before]) {
        return None;
    }
    let (end, is_wrap) = joint_end(text, at)?;
    if !text.get(end).is_some_and(|byte| is_token_byte(*byte)) {
        return None;
    }
    let len = |bytes: &mut dyn Iterator<Item = &u8>| {
        bytes
            .take(MAX_PIECE)
            .take_while(|byte| is_token_byte(**byte))
            .count()
    };
    let before_len = len(&mut text[..=before].iter().rev());
    let after_len = len(&mut text[end..].iter());
    let is_split = !is_wrap || before_len.max(after_len) >= LONG_PIECE;
    is_split.then(|| {
        (
            without_escape(text, before + 1 - before_len)..before + 1,
            end..end + after_len,
        )
    })
}

/// Leaves the `n` of an escaped line break outside of the run that follows it.
fn without_escape(text: &[u8], start: usize) -> usize {
    let is_escaped =
        start > 0 && text[start - 1] == b'\\' && matches!(text[start], b'n' | b'r' | b't');
    start + usize::from(is_escaped)
}

/// Where the joint at `at` ends, and whether it is a line break.
fn joint_end(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut cursor = Cursor::new(text, at);
    if let Some(end) = concatenation_end(cursor) {
        return Some((end, false));
    }
    // In a shell a backslash ends a line that goes on.
    let mut continued = cursor;
    continued.eat(b"\\");
    if !cursor.eat_line_break() {
        cursor = continued;
        if !cursor.eat_line_break() {
            return None;
        }
    }
    cursor.eat_blanks(MAX_BLANKS);
    Some((cursor.at, true))
}

/// Where the next string's text starts, if a string ends at the cursor and is joined to the next one.
fn concatenation_end(mut cursor: Cursor<'_>) -> Option<usize> {
    let closing = cursor.eat_quote()?;
    let from = cursor.at;
    skip_blanks(&mut cursor);
    let has_operator =
        cursor.eat(b"..") || cursor.eat_while(1, |byte| b"+.&~".contains(&byte)).len() == 1;
    skip_blanks(&mut cursor);
    if cursor.at == from {
        // `""` is an escaped quotation mark.
        return None;
    }
    cursor.eat_while(1, |byte| b"bfrBFR".contains(&byte));
    let opening = cursor.eat_quote()?;
    (has_operator || opening == closing).then_some(cursor.at)
}

fn skip_blanks(cursor: &mut Cursor<'_>) {
    cursor.eat_blanks(MAX_BLANKS);
    if cursor.eat_line_break() {
        cursor.eat_blanks(MAX_BLANKS);
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+/=:~!$@%".contains(&byte)
}
