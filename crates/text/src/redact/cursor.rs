//! Reads the bytes of a text one after another, never past its end.

/// A position in a text, from which bytes are read. Every step is bounded by the text's end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t [u8], at: usize) -> Self {
        Self {
            text,
            at: at.min(text.len()),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Steps over `wanted` if it is next, in any case of letters.
    pub(super) fn eat(&mut self, wanted: &[u8]) -> bool {
        let head = self.rest().get(..wanted.len());
        let found = head.is_some_and(|head| head.eq_ignore_ascii_case(wanted));
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// Steps over at most `most` bytes that `wanted` accepts, and returns them.
    pub(super) fn eat_while(&mut self, most: usize, wanted: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let len = rest
            .iter()
            .take(most)
            .take_while(|byte| wanted(**byte))
            .count();
        self.at += len;
        &rest[..len]
    }

    /// Steps over blanks and tabs.
    pub(super) fn eat_blanks(&mut self, most: usize) -> usize {
        self.eat_while(most, |byte| matches!(byte, b' ' | b'\t'))
            .len()
    }

    /// Steps over line breaks, raw or written as `\n`, `\r\n` or `\\n`.
    pub(super) fn eat_line_breaks(&mut self) -> bool {
        let start = self.at;
        while self.eat_newline(b'\n', b'n') || self.eat_newline(b'\r', b'r') {}
        self.at > start
    }

    /// Steps over one line break.
    pub(super) fn eat_line_break(&mut self) -> bool {
        let mut ahead = *self;
        ahead.eat_newline(b'\r', b'r');
        let found = ahead.eat_newline(b'\n', b'n');
        if found {
            *self = ahead;
        }
        found
    }

    fn eat_newline(&mut self, raw: u8, letter: u8) -> bool {
        let mut ahead = *self;
        let escapes = ahead.eat_while(MAX_BACKSLASHES, |byte| byte == b'\\').len();
        let wanted = if escapes == 0 { raw } else { letter };
        let found = ahead.peek() == Some(wanted);
        if found {
            self.at = ahead.at + 1;
        }
        found
    }

    /// Steps over a quotation mark and the backslashes before it, or over a shell's `'\''`, which is one within a
    /// quoted text.
    pub(super) fn eat_quote(&mut self) -> Option<Quote> {
        let mut ahead = *self;
        if ahead.eat_shell_quote() {
            *self = ahead;
            return Some(Quote {
                mark: b'\'',
                escapes: 0,
            });
        }
        ahead = *self;
        let escapes = ahead.eat_while(MAX_BACKSLASHES, |byte| byte == b'\\').len();
        let mark = ahead
            .peek()
            .filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
        self.at = ahead.at + 1;
        Some(Quote { mark, escapes })
    }
}

impl Cursor<'_> {
    /// `'\''` or `'"'"'`: the quoted text ends, a mark of its own follows, and the text goes on. JSON doubles the
    /// backslash, and puts one before the double mark.
    fn eat_shell_quote(&mut self) -> bool {
        let is_escape = |byte| byte == b'\\';
        if !self.eat(b"'") {
            return false;
        }
        let escapes = self.eat_while(MAX_BACKSLASHES, is_escape).len();
        if self.eat(b"''") {
            return escapes > 0;
        }
        let opens = self.eat(b"\"'");
        self.eat_while(MAX_BACKSLASHES, is_escape);
        opens && self.eat(b"\"'")
    }
}

/// Backslashes that nested JSON may put before one quotation mark.
const MAX_BACKSLASHES: usize = 15;

/// A quotation mark, with the backslashes that escape it: text inside JSON inside JSON has three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) mark: u8,
    pub(super) escapes: usize,
}

impl Quote {
    /// Length of what the quote opens, up to its counterpart, the line's end or the text's end;
    /// nothing if none of them comes within `most` bytes.
    pub(super) fn len_inside(&self, text: &[u8], most: usize) -> Option<usize> {
        let mut backslashes = 0;
        for (len, &byte) in text.iter().enumerate().take(most) {
            if byte == b'\n' {
                return Some(len);
            }
            if byte == self.mark && self.is_closed_after(backslashes) {
                return Some(len - self.escapes);
            }
            backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
        }
        (text.len() <= most).then_some(text.len())
    }

    fn is_closed_after(&self, backslashes: usize) -> bool {
        backslashes == self.escapes || (self.escapes == 0 && backslashes.is_multiple_of(2))
    }
}
