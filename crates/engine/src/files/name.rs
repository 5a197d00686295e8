//! Encodes any name as the name of a file or folder.
//!
//! A session's id, a scope, a tenant, an entity may be any text. [`FileName`] is the only conversion from
//! such a text to a path component. Invariants of each: it is one component, visible, never empty, without
//! separators, control characters or characters that some system forbids; it is no device of any system and
//! is bounded in length; and different texts under one rule have different names.
//!
//! There are two rules, because folders of scopes must stay distinct where a file system folds case, while
//! pages keep the spelling that a person reads. [`FileName::unique`] keeps pages distinct instead.
//!
//! Not here: the names of particular files (`layout`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use daybook_domain::EventId;
use unicode_normalization::UnicodeNormalization;

/// Longest folder name, in bytes; longer ones end in a fingerprint.
const FOLDER_BYTES: usize = 120;
/// Longest page name, in bytes: with its ending it fits common file systems.
const PAGE_BYTES: usize = 252;
/// Precedes a fingerprint; no other name holds two of them in a row.
const FINGERPRINT_MARK: &str = "%%";

/// A path component encoded from any text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName(String);

impl FileName {
    /// The folder name for `name`. Lower-case letters, digits, `-`, `_` and inner dots stay; everything
    /// else is percent-encoded, capitals too.
    ///
    /// ```
    /// use daybook_engine::files::name::FileName;
    /// assert_eq!(FileName::folder("entire").as_str(), "entire");
    /// assert_eq!(FileName::folder("Ada|x").as_str(), "%41da%7Cx");
    /// assert_eq!(FileName::folder("../up").as_str(), "%2E.%2Fup");
    /// ```
    #[must_use]
    pub fn folder(name: &str) -> Self {
        let last = name.len().saturating_sub(1);
        let stays = |at: usize, c: char| match c {
            'a'..='z' | '0'..='9' | '-' | '_' => true,
            '.' => at != 0 && at != last,
            _ => false,
        };
        let mut folder = encoded(name, stays);
        if is_device(&folder) {
            folder.push('%');
        }
        Self(bounded(folder, name, FOLDER_BYTES))
    }

    /// The page name for `name`, without its extension. Characters that every file system accepts stay.
    ///
    /// ```
    /// use daybook_engine::files::name::FileName;
    /// assert_eq!(FileName::page("2026-01-02-größe-7F78").as_str(), "2026-01-02-größe-7F78");
    /// assert_eq!(FileName::page("2026-01-02-ops/").as_str(), "2026-01-02-ops%2F");
    /// ```
    #[must_use]
    pub fn page(name: &str) -> Self {
        let stays = |at: usize, c: char| match c {
            '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*' | '%' => false,
            '.' | ' ' => at != 0 && at + 1 != name.len(),
            c => !c.is_control() && !is_invisible(c),
        };
        let mut page = encoded(name, stays);
        if is_device(&page.to_lowercase()) || is_git_short(&page) {
            page.push('%');
        }
        Self(bounded(page, name, PAGE_BYTES))
    }

    /// Page names for all `names`, no two of which are equal on a file system that folds case or composes
    /// letters. A page keeps its name unless another one collides with it.
    pub fn unique<'n>(names: impl IntoIterator<Item = &'n str>) -> BTreeMap<&'n str, Self> {
        let mut taken: HashSet<String> = HashSet::new();
        let names = names.into_iter().collect::<BTreeSet<_>>().into_iter();
        let pages = names.map(|name| {
            let page = Self::page(name);
            let page = match taken.insert(folded(&page.0)) {
                true => page,
                false => page.with_fingerprint(name),
            };
            (name, page)
        });
        pages.collect()
    }

    /// Decodes a folder name; `None` when no name encodes to this folder, or its name was too long to be
    /// kept whole.
    pub(super) fn decode_folder(folder: &str) -> Option<String> {
        let mut bytes = Vec::with_capacity(folder.len());
        let mut rest = folder.strip_suffix('%').unwrap_or(folder).bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'%' => {
                    let digits = [rest.next()?, rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                byte => byte,
            });
        }
        let name = String::from_utf8(bytes).ok()?;
        (Self::folder(&name).as_str() == folder).then_some(name)
    }

    /// The component as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn with_fingerprint(self, name: &str) -> Self {
        Self(fingerprinted(self.0, name, PAGE_BYTES))
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<std::path::Path> for FileName {
    fn as_ref(&self) -> &std::path::Path {
        self.0.as_ref()
    }
}

/// Encodes each character of `name` that may not stay; one `%` for the empty name.
fn encoded(name: &str, stays: impl Fn(usize, char) -> bool) -> String {
    if !name.is_empty() && name.char_indices().all(|(at, c)| stays(at, c)) {
        return name.to_owned();
    }
    let mut file = String::new();
    for (at, c) in name.char_indices() {
        if stays(at, c) {
            file.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            file.push_str(&format!("%{byte:02X}"));
        }
    }
    if file.is_empty() {
        "%".to_owned()
    } else {
        file
    }
}

fn bounded(file: String, name: &str, limit: usize) -> String {
    if file.len() <= limit {
        return file;
    }
    // Folder names are cut at the bound itself, and the fingerprint comes on top.
    let room = if limit == FOLDER_BYTES {
        limit + 34
    } else {
        limit
    };
    fingerprinted(file, name, room)
}

/// `file`, cut so that it and a fingerprint of `name` fit in `limit` bytes.
fn fingerprinted(mut file: String, name: &str, limit: usize) -> String {
    let print = EventId::of(&[name.as_bytes()]).0;
    let mut end = file.len().min(limit - 34);
    while !file.is_char_boundary(end) {
        end -= 1;
    }
    file.truncate(end);
    file + &format!("{FINGERPRINT_MARK}{print:032x}")
}

/// Characters that some file system drops from names, or that change how a name is shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The part of a name that stays when case is folded and letters are composed in some system's own way:
/// only characters on which all systems agree.
fn folded(file: &str) -> String {
    if file.is_ascii() {
        return file.to_ascii_lowercase();
    }
    let upper = file.nfkd().flat_map(char::to_uppercase);
    let lower = upper.flat_map(char::to_lowercase);
    lower.filter(char::is_ascii).collect()
}

/// Device names of one operating system, which it refuses as file names.
fn is_device(name: &str) -> bool {
    let stem = name.split(['.', ' ']).next().unwrap_or(name);
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix)
            .is_some_and(|n| n.chars().count() == 1 && n.contains(is_device_digit))
    };
    let plain = ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];
    plain.contains(&stem) || numbered("com") || numbered("lpt")
}

fn is_device_digit(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '¹' | '²' | '³')
}

/// Whether a name may be the short name that one file system gives to a folder called `.git`.
fn is_git_short(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("git~") || name.starts_with("gi7eba~")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::path::FilePath;

    #[test]
    fn names_that_every_file_system_takes_are_kept() {
        for name in [
            "2026-01-02-fix-the-limit-7f78",
            "2026-01-02-größe-AbC1",
            "a b",
            "a~2",
        ] {
            assert_eq!(FileName::page(name).as_str(), name);
        }
    }

    #[test]
    fn names_that_lead_elsewhere_or_are_not_files_are_encoded() {
        for (name, page) in [
            ("", "%"),
            ("..", "%2E%2E"),
            (".hidden", "%2Ehidden"),
            ("a/b", "a%2Fb"),
            ("a\\b", "a%5Cb"),
            ("a\0b", "a%00b"),
            ("a\nb", "a%0Ab"),
            ("a%2Fb", "a%252Fb"),
            ("con", "con%"),
            ("COM1.txt", "COM1.txt%"),
            ("git~1", "git~1%"),
            ("end. ", "end.%20"),
        ] {
            assert_eq!(FileName::page(name).as_str(), page, "{name:?}");
        }
    }

    #[test]
    fn pages_that_differ_in_case_alone_stay_apart_where_case_is_folded() {
        let pages = FileName::unique(["x-abcd", "x-ABCD", "y-EFGH"]);
        assert_eq!(pages["y-EFGH"].as_str(), "y-EFGH");
        let lower: BTreeSet<_> = pages.values().map(|page| page.0.to_lowercase()).collect();
        assert_eq!(lower.len(), 3, "{pages:?}");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let (a, b) = ("ä".repeat(5000), "ä".repeat(5001));
        for make in [FileName::page, FileName::folder] {
            assert_ne!(make(&a), make(&b));
            assert!(make(&a).as_str().len() <= PAGE_BYTES);
        }
    }

    fn any_name() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[a-cA-C%./\\\\~ 0-2F:é]{0,6}",
            "(con|COM1|git~1|\\.git|\\.|\\.\\.)[. ]?",
            "(é|e\u{301}|\u{200d}|K|\u{212a}){1,3}",
        ]
    }

    proptest! {
        #[test]
        fn every_name_is_one_component_that_a_tree_can_hold(name in any_name()) {
            for file in [FileName::page(&name), FileName::folder(&name)] {
                prop_assert!(FilePath::new(format!("sessions/{file}.md")).is_ok(), "{file}");
                prop_assert!(FilePath::new(file.as_str()).is_ok(), "{file}");
                prop_assert!(!file.as_str().contains(['/', '\\']));
                prop_assert!(!file.as_str().ends_with(['.', ' ']));
            }
        }

        #[test]
        fn different_names_stay_apart(a in any_name(), b in any_name()) {
            prop_assume!(a != b);
            prop_assert_ne!(FileName::page(&a), FileName::page(&b));
            let (a_folder, b_folder) = (FileName::folder(&a).0, FileName::folder(&b).0);
            prop_assert_ne!(a_folder.to_lowercase(), b_folder.to_lowercase());
            let pages = FileName::unique([a.as_str(), b.as_str()]);
            prop_assert_ne!(folded(&pages[a.as_str()].0), folded(&pages[b.as_str()].0));
        }
    }
}
