//! One Rust file as the checks see it: without comments, without what only tests compile.
//!
//! This is no parser. It knows comments, literals and balanced brackets, which is enough to tell
//! code from what merely looks like it; everything cut out is replaced by blanks, so that line
//! numbers stay true.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::rules::Banned;
use super::uses::{Named, paths};

const TEST_ONLY: &str = "#[cfg(test)]";

/// A file, read and cut.
#[derive(Debug)]
pub(super) struct Source {
    /// Where it is, for findings: relative to the workspace.
    pub(super) place: String,
    /// Its module path within its crate; empty for `lib.rs` and `main.rs`.
    pub(super) module: Vec<String>,
    /// Every path that its code names.
    pub(super) paths: Vec<Named>,
    code: String,
}

impl Source {
    /// Reads `file` of the crate whose source is in `src`.
    pub(super) fn read(root: &Path, src: &Path, file: &Path) -> anyhow::Result<Self> {
        let text = text(file)?;
        let views = Views::of(&text);
        let place = file.strip_prefix(root).unwrap_or(file);
        Ok(Self {
            place: place.display().to_string().replace('\\', "/"),
            module: module(file.strip_prefix(src).unwrap_or(file)),
            paths: paths(&views.bare),
            code: views.code,
        })
    }

    /// Where the file names what is banned.
    pub(super) fn findings(&self, banned: &Banned) -> Vec<String> {
        let mut lines: Vec<usize> = match banned.what.contains("::") {
            true => self
                .paths
                .iter()
                .filter(|named| named.means(banned.what))
                .map(|named| named.line)
                .collect(),
            false => self
                .code
                .lines()
                .enumerate()
                .filter(|(_, line)| stands_in(line, banned.what))
                .map(|(n, _)| n + 1)
                .collect(),
        };
        lines.dedup();
        lines
            .into_iter()
            .map(|line| {
                let (place, what) = (&self.place, banned.what);
                format!("{place}:{line}: {what} may not be here: {}", banned.because)
            })
            .collect()
    }
}

/// Files and folders of the modules that `file` declares for tests alone.
pub(super) fn test_modules(file: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut bare = blank_words(&text(file)?, true);
    let mut found = Vec::new();
    let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib" | "main") => file.parent().map(Path::to_owned),
        _ => Some(file.with_extension("")),
    };
    while let Some((from, to)) = test_item(&bare) {
        let item = bare[from + TEST_ONLY.len()..to].trim();
        let item = item
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ");
        let name = item
            .strip_prefix("mod ")
            .and_then(|rest| rest.strip_suffix(';'));
        if let (Some(name), Some(folder)) = (name, &folder) {
            found.push(folder.join(format!("{}.rs", name.trim())));
            found.push(folder.join(name.trim()));
        }
        blank(&mut bare, from, to);
    }
    Ok(found)
}

fn text(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn module(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> = file
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let is_its_folder = |name: &String| matches!(name.as_str(), "mod" | "lib" | "main");
    parts.pop_if(|name| is_its_folder(name));
    parts
}

/// Whether `what` stands in `line` as a word or as the beginning of one.
fn stands_in(line: &str, what: &str) -> bool {
    line.match_indices(what).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// The same text twice, without comments and test code: with and without the words of literals.
struct Views {
    code: String,
    bare: String,
}

impl Views {
    fn of(text: &str) -> Self {
        let mut code = blank_words(text, false);
        let mut bare = blank_words(text, true);
        while let Some((from, to)) = test_item(&bare) {
            blank(&mut code, from, to);
            blank(&mut bare, from, to);
        }
        Self { code, bare }
    }
}

/// Where the first item that only tests compile begins, with its attribute, and where it ends.
fn test_item(bare: &str) -> Option<(usize, usize)> {
    let from = bare.find(TEST_ONLY)?;
    let mut depth = 0_i32;
    for (n, c) in bare[from..].char_indices().skip(TEST_ONLY.len()) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return Some((from, from + n + 1)),
            '{' if depth == 0 => return Some((from, end_of_block(bare, from + n))),
            _ => {}
        }
    }
    Some((from, bare.len()))
}

fn end_of_block(bare: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (n, c) in bare[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return open + n + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    bare.len()
}

fn blank(text: &mut String, from: usize, to: usize) {
    let blanks: String = text[from..to].chars().flat_map(blanked).collect();
    text.replace_range(from..to, &blanks);
}

/// As many blanks as the character has bytes, so that places stay the same; line ends stay.
fn blanked(c: char) -> impl Iterator<Item = char> {
    let blank = if c == '\n' { '\n' } else { ' ' };
    std::iter::repeat_n(blank, c.len_utf8())
}

/// What the lexer is inside of.
enum Inside {
    Code,
    LineComment,
    /// How many are open: they nest.
    BlockComment(usize),
    Quotes,
    /// How many `#` end it.
    Raw(usize),
}

/// The text with blanks for comments and, when asked, for the words of literals.
fn blank_words(text: &str, literals_too: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = Inside::Code;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (taken, next, keep) = step(&inside, rest, &out, c);
        let (head, tail) = rest.split_at(taken);
        let was_literal = matches!(inside, Inside::Quotes | Inside::Raw(_));
        match keep && !(was_literal && literals_too) {
            true => out.push_str(head),
            false => out.extend(head.chars().flat_map(blanked)),
        }
        inside = next;
        rest = tail;
    }
    out
}

/// How many bytes to take, what follows, and whether what was taken is code or literal.
fn step(inside: &Inside, rest: &str, before: &str, c: char) -> (usize, Inside, bool) {
    let one = c.len_utf8();
    match inside {
        Inside::Code if rest.starts_with("//") => (2, Inside::LineComment, false),
        Inside::Code if rest.starts_with("/*") => (2, Inside::BlockComment(1), false),
        Inside::Code if c == '"' => (1, Inside::Quotes, true),
        Inside::Code if c == '\'' => (quoted_char(rest), Inside::Code, true),
        Inside::Code => match raw_start(rest, before) {
            Some((taken, hashes)) => (taken, Inside::Raw(hashes), true),
            None => (one, Inside::Code, true),
        },
        Inside::LineComment if c == '\n' => (1, Inside::Code, true),
        Inside::LineComment => (one, Inside::LineComment, false),
        Inside::BlockComment(open) if rest.starts_with("/*") => {
            (2, Inside::BlockComment(open + 1), false)
        }
        Inside::BlockComment(1) if rest.starts_with("*/") => (2, Inside::Code, false),
        Inside::BlockComment(open) if rest.starts_with("*/") => {
            (2, Inside::BlockComment(open - 1), false)
        }
        Inside::BlockComment(open) => (one, Inside::BlockComment(*open), false),
        Inside::Quotes if c == '\\' => (escape(rest), Inside::Quotes, true),
        Inside::Quotes if c == '"' => (1, Inside::Code, true),
        Inside::Quotes => (one, Inside::Quotes, true),
        Inside::Raw(hashes) => match rest.starts_with(&format!("\"{}", "#".repeat(*hashes))) {
            true => (1 + hashes, Inside::Code, true),
            false => (one, Inside::Raw(*hashes), true),
        },
    }
}

fn escape(rest: &str) -> usize {
    1 + rest[1..].chars().next().map_or(0, char::len_utf8)
}

/// Length of a character literal, or of the quote alone when it begins a lifetime.
fn quoted_char(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => rest[2..]
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '\'')
            .map_or(1, |(n, _)| n + 3),
        Some(_) => match chars.next() {
            Some((n, '\'')) => n + 1,
            _ => 1,
        },
        None => 1,
    }
}

/// Length of `r#"` and the number of its `#`, when a raw string begins here.
fn raw_start(rest: &str, before: &str) -> Option<(usize, usize)> {
    let after = rest.strip_prefix('r')?;
    let before = before.trim_end_matches(['b', 'c']);
    if before
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || c == '_')
    {
        return None;
    }
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..]
        .starts_with('"')
        .then_some((hashes + 2, hashes))
}
