//! The paths that a file names: `use` trees laid flat, and paths in the middle of code.

/// A path and the line that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// Its segments.
    pub(super) segments: Vec<String>,
}

impl Named {
    /// Whether the path leads to `what` or into it. `env::var` means `std::env::var`: the first
    /// segments may have been imported.
    pub(super) fn means(&self, what: &str) -> bool {
        let what: Vec<&str> = what.split("::").collect();
        let mine: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        let whole = mine.windows(what.len()).any(|window| window == what);
        let imported =
            (1..what.len().saturating_sub(1)).any(|from| mine.starts_with(&what[from..]));
        whole || imported
    }
}

/// All paths of at least two segments in `bare`, which holds neither comments nor literals.
pub(super) fn paths(bare: &str) -> Vec<Named> {
    let line_ends = bare.match_indices('\n').map(|(at, _)| at).collect();
    let mut walk = Walk {
        text: bare,
        line_ends,
        at: 0,
    };
    let mut found = Vec::new();
    while walk.at < bare.len() {
        if walk.peek().is_some_and(is_word) {
            walk.path(&[], &mut found);
        } else {
            walk.skip_one();
        }
    }
    found.retain(|named| named.segments.len() > 1);
    found
}

struct Walk<'a> {
    text: &'a str,
    line_ends: Vec<usize>,
    at: usize,
}

impl Walk<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_one(&mut self) {
        self.at += self.peek().map_or(1, char::len_utf8);
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        word
    }

    /// Takes `a::b::{c, d::e}` and adds what it leads to, each behind `prefix`.
    fn path(&mut self, prefix: &[String], found: &mut Vec<Named>) {
        let line = self.line_ends.partition_point(|end| *end < self.at) + 1;
        let mut segments = prefix.to_vec();
        segments.push(self.word());
        loop {
            let end = self.at;
            self.skip_blanks();
            if !self.rest().starts_with("::") {
                self.at = end;
                break;
            }
            self.at += 2;
            self.skip_blanks();
            match self.peek() {
                Some('{') => {
                    self.group(&segments, found);
                    return;
                }
                Some(c) if is_word(c) => segments.push(self.word()),
                _ => break,
            }
        }
        found.push(Named { line, segments });
    }

    fn group(&mut self, prefix: &[String], found: &mut Vec<Named>) {
        self.skip_one();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some('}') => {
                    self.skip_one();
                    return;
                }
                Some(c) if is_word(c) => {
                    self.path(prefix, found);
                    self.skip_rename();
                }
                Some(_) => self.skip_one(),
                None => return,
            }
        }
    }

    fn skip_rename(&mut self) {
        self.skip_blanks();
        if self.rest().starts_with("as ") {
            self.at += 3;
            self.skip_blanks();
            let _ = self.word();
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
