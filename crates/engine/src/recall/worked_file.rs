//! Matches lines of memory against the files that are worked on, and the folders that hold them.
//!
//! People and agents shorten paths: `rank.rs`, `recall/rank.rs`, `the files in recall/`. A name matches a path where one
//! of the two ends with the other, compared by whole components.

use std::path::{Component, Path};

/// A file that is worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkedFile {
    /// The components of its path, from the top of the checkout on.
    path: Vec<String>,
}

impl WorkedFile {
    /// The file at `file`, relative to `folder`, in the checkout at `top`; `None` for an empty path.
    #[must_use]
    pub fn new(file: &Path, folder: &Path, top: &Path) -> Option<Self> {
        let whole = folder.join(file);
        let mut path: Vec<String> = Vec::new();
        for component in whole.strip_prefix(top).unwrap_or(&whole).components() {
            match component {
                Component::Normal(name) => path.push(name.to_string_lossy().into_owned()),
                Component::ParentDir => drop(path.pop()),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        (!path.is_empty()).then_some(Self { path })
    }

    /// Whether a text names one of these files, or its folder.
    #[must_use]
    pub fn are_named_in(files: &[Self], text: &str) -> bool {
        !files.is_empty() && names(text).any(|name| files.iter().any(|file| file.is_named_by(name)))
    }

    fn is_named_by(&self, name: &str) -> bool {
        let Some((file, folder)) = self.path.split_last() else {
            return false;
        };
        let last = components_from_end(name).next();
        // Rejects nearly every word cheaply.
        if last != Some(file) && last != folder.last().map(String::as_str) {
            return false;
        }
        // A bare word counts as a file only with an extension (`.rs`) or an initial capital (`Makefile`).
        let is_name = components_from_end(name).nth(1).is_some() || is_file_name(file);
        let is_folder = name.contains('/') && have_common_end(name, folder);
        is_name && last == Some(file) && have_common_end(name, &self.path) || is_folder
    }
}

/// The components of a path, the last one first.
fn components_from_end(path: &str) -> impl Iterator<Item = &str> {
    let components = path.rsplit(['/', '\\']);
    components.filter(|name| !name.is_empty() && *name != ".")
}

fn is_file_name(word: &str) -> bool {
    let has_extension = word
        .rsplit_once('.')
        .is_some_and(|(_, end)| !end.is_empty());
    has_extension || word.starts_with(|c: char| c.is_uppercase())
}

/// Whether the longer of two paths ends with the shorter.
fn have_common_end(name: &str, path: &[String]) -> bool {
    !path.is_empty() && {
        let mut pairs = components_from_end(name).zip(path.iter().rev());
        pairs.all(|(one, other)| one == other)
    }
}

/// The words of a text that may be paths, without a line number behind them (`rank.rs:12`).
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| match c {
        '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' => true,
        ',' | ';' | '|' | '=' | '*' | '“' | '”' | '«' | '»' => true,
        _ => c.is_whitespace(),
    };
    text.split(is_between).filter_map(|word| {
        let name = word.split(':').find(|part| !part.is_empty())?;
        let name = name.trim_end_matches(['.', '!', '?', '…']);
        (!name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> WorkedFile {
        let (folder, top) = (
            Path::new("/home/ada/tidepool/app"),
            Path::new("/home/ada/tidepool"),
        );
        WorkedFile::new(Path::new(path), folder, top).expect("a file")
    }

    fn is_named(file: &WorkedFile, text: &str) -> bool {
        WorkedFile::are_named_in(std::slice::from_ref(file), text)
    }

    #[test]
    fn a_path_is_counted_from_the_top_of_the_checkout() {
        for path in [
            "src/cache.rs",
            "./src/cache.rs",
            "../app/src/cache.rs",
            "/home/ada/tidepool/app/src/cache.rs",
        ] {
            assert_eq!(file(path).path, ["app", "src", "cache.rs"], "{path}");
        }
        assert_eq!(
            WorkedFile::new(Path::new(""), Path::new("/a"), Path::new("/a")),
            None
        );
    }

    #[test]
    fn a_line_that_names_the_file_or_its_folder_is_known() {
        let file = file("src/cache.rs");
        for text in [
            "- tides are kept in `cache.rs`.",
            "see app/src/cache.rs:120: it evicts",
            "(src/cache.rs) evicts",
            "/home/ada/tidepool/app/src/cache.rs is long",
            "everything in app/src/ is generated",
            "tests stand beside the code in src/, always",
        ] {
            assert!(is_named(&file, text), "{text}");
        }
        for text in [
            "the cache is long",
            "lib/cache.rs evicts",
            "cache.rs.orig evicts",
            "src evicts",
            "app/tests/ is generated",
            "mycache.rs",
            "",
        ] {
            assert!(!is_named(&file, text), "{text}");
        }
        assert!(is_named(&self::file("Makefile"), "run the Makefile first"));
        assert!(!is_named(&self::file("notes"), "she takes notes"));
    }
}
