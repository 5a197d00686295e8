//! Walks the tokens of a file: the paths that it names, `use` trees laid flat, and its words.
//!
//! Tokens rather than syntax trees, so that paths inside macros count, too. Items behind `#[cfg(test)]` are left out.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A path and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPath {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// The module that it stands in, from the crate's root on.
    pub(super) module: Vec<String>,
    /// Its segments.
    pub(super) segments: Vec<String>,
    /// The name that a `use` gives to it in the module; `*` for all that it holds.
    pub(super) alias: Option<String>,
}

impl NamedPath {
    /// The path from the crate's root on; `None` when it begins with a name in reach or with another crate.
    pub(super) fn path_from_root(&self) -> Option<Vec<String>> {
        let ups = self.segments.iter().take_while(|s| *s == "super").count();
        let base = match self.segments.first()?.as_str() {
            "crate" => &[],
            "self" => self.module.as_slice(),
            "super" => self.module.get(..self.module.len().checked_sub(ups)?)?,
            _ => return None,
        };
        let named = self.segments.get(ups.max(1)..)?;
        Some(base.iter().chain(named).cloned().collect())
    }

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

/// An identifier or a literal, and where it stands.
#[derive(Debug)]
pub(super) struct Word {
    /// The line that it begins in, counted from 1.
    pub(super) line: usize,
    /// As it is written, quotes included.
    pub(super) text: String,
}

/// Collects what a file names.
#[derive(Debug, Default)]
pub(super) struct Reader {
    module: Vec<String>,
    /// All paths of at least two segments, and all imports.
    pub(super) paths: Vec<NamedPath>,
    /// All words of its code.
    pub(super) words: Vec<Word>,
    /// Names of the modules that it declares for tests alone.
    pub(super) test_modules: Vec<String>,
}

impl Reader {
    /// Reads a file of `module`.
    pub(super) fn read(module: Vec<String>, file: TokenStream) -> Self {
        let mut reader = Self {
            module,
            ..Self::default()
        };
        reader.walk(file);
        reader
    }

    fn walk(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut rest = tokens.as_slice();
        while let Some((token, after)) = rest.split_first() {
            rest = match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => self.attribute(after),
                TokenTree::Ident(word) if word == "mod" => self.inline_module(after),
                TokenTree::Ident(word) if word == "use" => self.use_tree(&[], after),
                TokenTree::Ident(_) => self.path(rest),
                TokenTree::Group(group) => {
                    self.walk(group.stream());
                    after
                }
                TokenTree::Literal(literal) => {
                    self.word(literal.span().start().line, literal.to_string());
                    after
                }
                TokenTree::Punct(_) => after,
            };
        }
    }

    fn word(&mut self, line: usize, text: String) {
        self.words.push(Word { line, text });
    }

    /// Reads the attribute behind a `#`, and what it makes test code.
    fn attribute<'t>(&mut self, after: &'t [TokenTree]) -> &'t [TokenTree] {
        let (is_inner, after) = match after {
            [TokenTree::Punct(mark), rest @ ..] if mark.as_char() == '!' => (true, rest),
            _ => (false, after),
        };
        let Some((content, after)) = group(after, Delimiter::Bracket) else {
            return after;
        };
        let content: Vec<TokenTree> = content.stream().into_iter().collect();
        match content.as_slice() {
            [TokenTree::Ident(name), ..] if name == "doc" => after,
            [TokenTree::Ident(name), TokenTree::Group(when)]
                if name == "cfg" && is_for_tests(when.stream()) =>
            {
                match is_inner {
                    true => &[],
                    false => self.skip_item(after),
                }
            }
            _ => {
                self.walk(content.into_iter().collect());
                after
            }
        }
    }

    /// What follows an item, which ends with `;` or a block.
    fn skip_item<'t>(&mut self, item: &'t [TokenTree]) -> &'t [TokenTree] {
        let is_end = |token: &TokenTree| match token {
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        let end = item.iter().position(is_end).unwrap_or(item.len());
        if let [.., TokenTree::Ident(keyword), TokenTree::Ident(name)] = &item[..end]
            && keyword == "mod"
        {
            self.test_modules.push(name.to_string());
        }
        item.get(end + 1..).unwrap_or_default()
    }

    fn inline_module<'t>(&mut self, after: &'t [TokenTree]) -> &'t [TokenTree] {
        let [TokenTree::Ident(name), rest @ ..] = after else {
            return after;
        };
        let Some((body, rest)) = group(rest, Delimiter::Brace) else {
            return rest;
        };
        self.module.push(name.to_string());
        self.walk(body.stream());
        self.module.pop();
        rest
    }

    /// Takes `a::b` in the middle of code.
    fn path<'t>(&mut self, path: &'t [TokenTree]) -> &'t [TokenTree] {
        let (line, segments, after) = self.segments(path);
        if segments.len() > 1 {
            self.add(line, segments, None);
        }
        after
    }

    /// Takes `a::b::{c as x, d::e, f::*}` and adds each path in it, behind `prefix`.
    fn use_tree<'t>(&mut self, prefix: &[String], tree: &'t [TokenTree]) -> &'t [TokenTree] {
        let (line, mut segments, mut after) = self.segments(tree);
        segments.splice(..0, prefix.iter().cloned());
        if let Some((group, rest)) = group(after, Delimiter::Brace) {
            let trees: Vec<TokenTree> = group.stream().into_iter().collect();
            let is_comma = |token: &TokenTree| token.to_string() == ",";
            for tree in trees.split(is_comma).filter(|tree| !tree.is_empty()) {
                self.use_tree(&segments, tree);
            }
            return rest;
        }
        if segments.is_empty() {
            return after;
        }
        if segments.len() > 1 {
            segments.pop_if(|last| last == "self");
        }
        let mut alias = segments.last().cloned();
        if let [TokenTree::Punct(mark), rest @ ..] = after
            && mark.as_char() == '*'
        {
            (alias, after) = (Some("*".to_owned()), rest);
        }
        if let [TokenTree::Ident(word), TokenTree::Ident(name), rest @ ..] = after
            && word == "as"
        {
            (alias, after) = (Some(name.to_string()), rest);
        }
        self.add(line, segments, alias);
        after
    }

    /// The words of a path up to its last `::`, with the line of the first.
    fn segments<'t>(&mut self, path: &'t [TokenTree]) -> (usize, Vec<String>, &'t [TokenTree]) {
        let line = path.first().map_or(0, |token| token.span().start().line);
        let mut segments = Vec::new();
        let mut rest = skip_colons(path).unwrap_or(path);
        while let [TokenTree::Ident(word), after @ ..] = rest {
            self.word(word.span().start().line, word.to_string());
            segments.push(word.to_string());
            let Some(further) = skip_colons(after) else {
                return (line, segments, after);
            };
            rest = further;
        }
        (line, segments, rest)
    }

    fn add(&mut self, line: usize, segments: Vec<String>, alias: Option<String>) {
        self.paths.push(NamedPath {
            line,
            module: self.module.clone(),
            segments,
            alias,
        });
    }
}

/// Whether the condition of a `cfg` holds in tests alone: `test`, or `all` of it and more.
fn is_for_tests(condition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(name)] => name == "test" || name == "doctest",
        [TokenTree::Ident(all), TokenTree::Group(parts)] if all == "all" => parts
            .stream()
            .into_iter()
            .any(|part| is_for_tests(part.into())),
        _ => false,
    }
}

fn group(tokens: &[TokenTree], delimiter: Delimiter) -> Option<(&Group, &[TokenTree])> {
    match tokens {
        [TokenTree::Group(group), rest @ ..] if group.delimiter() == delimiter => {
            Some((group, rest))
        }
        _ => None,
    }
}

/// What follows `::`.
fn skip_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [TokenTree::Punct(one), TokenTree::Punct(two), rest @ ..]
            if one.as_char() == ':' && two.as_char() == ':' =>
        {
            Some(rest)
        }
        _ => None,
    }
}
