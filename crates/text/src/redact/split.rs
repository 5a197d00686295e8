//! Undoes what programs write into the middle of secrets: escapes of JSON, of addresses and of HTML, colors, invisible
//! marks.
//!
//! `\u002d`, `\/`, `\x2d`, `%2D`, `&#45;` become the characters they stand for; color codes and characters without width
//! go. Only visible ASCII is decoded, and no quotation mark, so that what encloses a value still does. In HTML it is
//! `&quot;` that encloses a value, so there quotation marks and brackets are decoded too.
//!
//! Not here: line breaks and strings in pieces. `joined` puts those together.

use std::ops::Range;

use super::view::View;

/// Bytes before and after an edit that its stretch of the view has: room for a name, and for a value.
const BEFORE: usize = 160;
const AFTER: usize = 1024;
/// Backslashes before an escape, of JSON within JSON within JSON.
const MAX_BACKSLASHES: usize = 4;
/// Bytes of the number of a character, with the mark after it.
const MAX_DIGITS: usize = 6;
/// Bytes of the parameters of a color code.
const MAX_PARAMETERS: usize = 16;

/// The stretches of `text` in which a character is written otherwise; nothing if there is none.
pub(super) fn view(text: &[u8]) -> Option<View> {
    let mut view = View::default();
    let mut copied: Option<usize> = None;
    let mut at = 0;
    while let Some(edit) = next_edit(text, at) {
        let from = match copied {
            Some(copied) if edit.range.start <= copied + AFTER => copied,
            _ => {
                if let Some(copied) = copied {
                    view.copy(&text[copied..text.len().min(copied + AFTER)]);
                }
                let from = stretch_start(text, edit.range.start, copied.map_or(0, |at| at + AFTER));
                view.open_stretch(from);
                from
            }
        };
        view.copy(&text[from..edit.range.start]);
        at = edit.range.end;
        copied = Some(at);
        view.replace(edit.range, edit.decoded);
    }
    let copied = copied?;
    view.copy(&text[copied..text.len().min(copied + AFTER)]);
    Some(view)
}

/// Where the stretch around an edit starts: at the end of a word, since a piece of a word may look like a key's start.
fn stretch_start(text: &[u8], edit: usize, copied: usize) -> usize {
    let from = edit.saturating_sub(BEFORE).max(copied);
    if from == 0 {
        return from;
    }
    let word = text[from..edit]
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\n' | b'"' | b'\''));
    word.map_or(edit, |len| from + len)
}

/// Bytes to be left out, and the character that they stand for.
struct Edit {
    range: Range<usize>,
    decoded: Option<u8>,
}

fn next_edit(text: &[u8], from: usize) -> Option<Edit> {
    let mut at = from;
    loop {
        at += text[at..]
            .iter()
            .position(|byte| OPENS_EDIT[usize::from(*byte)])?;
        if let Some((len, decoded)) = edit_at(&text[at..]) {
            let range = at..at + len;
            return Some(Edit { range, decoded });
        }
        // The backslashes after the first one belong to the same escape.
        at += text[at..]
            .iter()
            .take_while(|byte| **byte == b'\\')
            .count()
            .max(1);
    }
}

const OPENS_EDIT: [bool; 256] = {
    let mut opens = [false; 256];
    opens[0x1b] = true;
    opens[b'\\' as usize] = true;
    opens[b'%' as usize] = true;
    opens[b'&' as usize] = true;
    opens[0xc2] = true;
    opens[0xe2] = true;
    opens[0xef] = true;
    opens
};

/// Length of the edit at the start of `rest`, and what it stands for.
fn edit_at(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    match rest {
        [0x1b, ..] => Some((1 + color_len(&rest[1..])?, None)),
        [b'%', ..] => percent(rest),
        [b'&', ..] => entity(rest),
        [b'\\', ..] => escape(rest),
        _ => {
            let invisible = [
                "\u{ad}", "\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}",
            ];
            let mark = invisible
                .iter()
                .find(|mark| rest.starts_with(mark.as_bytes()))?;
            Some((mark.len(), None))
        }
    }
}

/// Length of `[1;31m` after an escape character.
fn color_len(rest: &[u8]) -> Option<usize> {
    let parameters = rest.strip_prefix(b"[")?;
    let is_parameter = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b';' | b'?' | b':');
    let len = parameters
        .iter()
        .take(MAX_PARAMETERS)
        .take_while(is_parameter)
        .count();
    matches!(parameters.get(len), Some(b'm' | b'K')).then_some(len + 2)
}

/// `%2D`, and `%252D` for text that was escaped twice.
fn percent(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    let digits = rest
        .strip_prefix(b"%25")
        .or_else(|| rest.strip_prefix(b"%"))?;
    let byte = hex_byte(digits.get(..2)?)?;
    decoded(byte, rest.len() - digits.len() + 2)
}

/// `&quot;`, `&#39;`, `&#x3d;`.
fn entity(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    const NAMED: [(&str, u8); 7] = [
        ("&quot;", b'"'),
        ("&apos;", b'\''),
        ("&lt;", b'<'),
        ("&gt;", b'>'),
        ("&amp;", b'&'),
        ("&equals;", b'='),
        ("&colon;", b':'),
    ];
    let named = |(name, _): &&(&str, u8)| rest.starts_with(name.as_bytes());
    if let Some((name, byte)) = NAMED.iter().find(named) {
        return Some((name.len(), Some(*byte)));
    }
    let digits = rest.strip_prefix(b"&#")?;
    let len = digits
        .iter()
        .take(MAX_DIGITS)
        .position(|byte| *byte == b';')?;
    let digits = std::str::from_utf8(&digits[..len]).ok()?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u8::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let byte = code.ok().filter(u8::is_ascii_graphic)?;
    Some(("&#;".len() + len, Some(byte)))
}

/// `\u002d`, `\x2d`, `\/`, `\u200b`, `\u001b[31m`, `\033[31m`.
fn escape(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    let backslashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    if backslashes > MAX_BACKSLASHES {
        return None;
    }
    let escape = &rest[backslashes..];
    let (code, len) = match escape {
        [b'/', ..] => return Some((backslashes + 1, Some(b'/'))),
        [b'u', ..] => (hex_number(escape.get(1..5)?)?, 5),
        [b'x', ..] => (hex_number(escape.get(1..3)?)?, 3),
        [b'0', b'3', b'3', ..] => (0x1b, 3),
        [b'e', ..] => (0x1b, 1),
        _ => return None,
    };
    let len_so_far = backslashes + len;
    match code {
        0x1b => Some((len_so_far + color_len(&escape[len..])?, None)),
        0xad | 0x200b..=0x200d | 0x2060 | 0xfeff => Some((len_so_far, None)),
        _ => decoded(u8::try_from(code).ok()?, len_so_far),
    }
}

fn decoded(byte: u8, len: usize) -> Option<(usize, Option<u8>)> {
    let is_plain = byte.is_ascii_graphic() && !b"\"'`\\<>".contains(&byte);
    is_plain.then_some((len, Some(byte)))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::try_from(hex_number(digits)?).ok()
}

fn hex_number(digits: &[u8]) -> Option<u32> {
    let all_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| all_hex)?;
    u32::from_str_radix(digits, 16).ok()
}
