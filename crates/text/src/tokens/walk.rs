//! Reads one chunk of text character by character, and finds where names and runs begin and end.
//!
//! Not here: plain words, for which `tokens` has a faster path; the pieces of a name.

use super::chars::{ASCII, Class, class_of};
use super::compound::Compound;
use super::grams::Run;
use super::{Emitter, TextToken, TokenKind};

/// English endings after an apostrophe; they add nothing to the meaning of the word before them.
const ENDINGS: [&str; 6] = ["s", "ll", "re", "ve", "d", "m"];

/// The unfinished name and run of a chunk.
#[derive(Default)]
pub(super) struct ChunkWalk {
    name: Compound,
    run: Run,
}

impl ChunkWalk {
    /// Emits the tokens of `chunk`, which must be NFKC.
    pub(super) fn chunk<F: FnMut(TextToken<'_>)>(&mut self, chunk: &str, out: &mut Emitter<'_, F>) {
        let mut at = 0;
        while let Some((c, class)) = look(chunk, at) {
            let after = at + c.len_utf8();
            at = match class {
                Class::Lower | Class::Upper | Class::Digit => {
                    self.letter(c, class, &chunk[after..], out);
                    self.more_letters(chunk, after, class)
                }
                Class::Joint => self.joint(false, chunk, after, out),
                Class::Step => self.step(chunk, after, out),
                Class::Apostrophe => self.apostrophe(chunk, after, out),
                Class::Unspaced(_) | Class::Hangul => {
                    self.character(c, class, out);
                    after
                }
                Class::Mark => {
                    self.name.mark(c);
                    self.run.mark(c);
                    after
                }
                Class::Ignored => after,
                Class::Break => {
                    self.end(out);
                    after
                }
            };
        }
        self.end(out);
    }

    fn letter<F: FnMut(TextToken<'_>)>(
        &mut self,
        c: char,
        class: Class,
        rest: &str,
        out: &mut Emitter<'_, F>,
    ) {
        if !self.run.is_empty() {
            self.end_run(out);
        }
        if !self.name.in_word() && self.name.is_full() {
            self.end_name(out);
        }
        self.name.letter(c, class, rest);
    }

    /// Consumes the rest of a row of ASCII letters of one case, or of digits, at once.
    fn more_letters(&mut self, chunk: &str, at: usize, class: Class) -> usize {
        let same = |byte: &u8| ASCII.get(usize::from(*byte)) == Some(&class);
        let count = chunk.as_bytes()[at..]
            .iter()
            .take_while(|byte| same(byte))
            .count();
        self.name.more_letters(&chunk[at..at + count]);
        at + count
    }

    fn character<F: FnMut(TextToken<'_>)>(
        &mut self,
        c: char,
        class: Class,
        out: &mut Emitter<'_, F>,
    ) {
        self.end_name(out);
        if !self.run.takes(class) {
            self.end_run(out);
        }
        self.run.push(c, class);
    }

    /// A joint counts only between two letters: the full stop of a sentence joins nothing.
    fn joint<F: FnMut(TextToken<'_>)>(
        &mut self,
        is_step: bool,
        chunk: &str,
        after: usize,
        out: &mut Emitter<'_, F>,
    ) -> usize {
        let joins = look(chunk, after).is_some_and(|(_, class)| class.is_spaced());
        if self.name.in_word() && joins {
            self.name.joint(is_step);
        } else {
            self.end(out);
        }
        after
    }

    fn step<F: FnMut(TextToken<'_>)>(
        &mut self,
        chunk: &str,
        after: usize,
        out: &mut Emitter<'_, F>,
    ) -> usize {
        let is_double = chunk[..after].ends_with(':') && chunk[after..].starts_with(':');
        self.joint(true, chunk, after + usize::from(is_double), out)
    }

    fn apostrophe<F: FnMut(TextToken<'_>)>(
        &mut self,
        chunk: &str,
        after: usize,
        out: &mut Emitter<'_, F>,
    ) -> usize {
        if !self.name.in_word() {
            self.end(out);
            return after;
        }
        let letters = |byte: &u8| byte.is_ascii_alphabetic();
        let count = chunk.as_bytes()[after..]
            .iter()
            .take_while(|byte| letters(byte))
            .count();
        let ending = &chunk[after..after + count];
        if ENDINGS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(ending))
        {
            self.name.close_word();
            return after + count;
        }
        if ending.eq_ignore_ascii_case("t") {
            // `don't` is one word, `dont`, also for those who type it so.
            return after;
        }
        self.joint(false, chunk, after, out)
    }

    fn end<F: FnMut(TextToken<'_>)>(&mut self, out: &mut Emitter<'_, F>) {
        self.end_name(out);
        self.end_run(out);
    }

    fn end_name<F: FnMut(TextToken<'_>)>(&mut self, out: &mut Emitter<'_, F>) {
        if self.name.is_empty() {
            return;
        }
        self.name.close_word();
        let is_simple = self.name.len() == 1;
        self.name.for_each_piece(|piece| {
            let kind = match (piece.is_whole, piece.is_smallest) {
                (true, _) => TokenKind::Whole {
                    divided: !is_simple,
                },
                (false, true) => TokenKind::Part,
                (false, false) => TokenKind::Section,
            };
            out.emit(piece.text, kind, piece.at);
        });
        out.end_group(self.name.len());
        self.name.clear();
    }

    fn end_run<F: FnMut(TextToken<'_>)>(&mut self, out: &mut Emitter<'_, F>) {
        let (run, count) = (&self.run, self.run.len());
        if count == 0 {
            return;
        }
        let pairs = count - 1;
        if run.is_hangul() || pairs == 0 {
            let divided = pairs > 1;
            out.emit(run.whole(), TokenKind::Whole { divided }, 0);
        }
        for at in 0..count {
            if run.is_han() && pairs > 0 {
                out.emit(run.slice(at, 1), TokenKind::Inner, at);
            }
            // A Korean word of two syllables is its only pair.
            if at < pairs && (pairs > 1 || !run.is_hangul()) {
                out.emit(run.slice(at, 2), TokenKind::Pair, at);
            }
        }
        out.end_group(count);
        self.run.clear();
    }
}

fn look(chunk: &str, at: usize) -> Option<(char, Class)> {
    let first = *chunk.as_bytes().get(at)?;
    if let Some(class) = ASCII.get(usize::from(first)) {
        return Some((char::from(first), *class));
    }
    chunk[at..].chars().next().map(|c| (c, class_of(c)))
}
