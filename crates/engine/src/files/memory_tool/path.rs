//! Paths of the memory tool: `/memories` and what is below it.
//!
//! A path is resolved by its letters alone, before anything on the disk is looked at: `.` and empty parts are dropped, and
//! `..` takes the part before it away. What would lead out of `/memories`, and what an other program may decode to such a
//! path, is refused.

use super::wording::Refusal;
use crate::files::path::FilePath;

const ROOT: &str = "/memories";
/// Letters that other programs decode to `.`, `/` and `\`.
const ENCODED: [&str; 3] = ["%2e", "%2f", "%5c"];

/// A path inside the memory folder.
pub(super) struct ToolPath {
    given: String,
    /// Relative to the memory folder; empty for the folder itself.
    inside: String,
}

impl ToolPath {
    pub(super) fn parse(given: &str) -> Result<Self, Refusal> {
        let below = given.strip_prefix(ROOT);
        let Some(below) = below.filter(|it| it.is_empty() || it.starts_with('/')) else {
            return Err(Refusal::OutsideRoot(given.to_owned()));
        };
        let escapes = || Refusal::Escapes(given.to_owned());
        let lower = below.to_ascii_lowercase();
        if ENCODED.iter().any(|letters| lower.contains(letters)) {
            return Err(escapes());
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in below.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(escapes)?;
                }
                part => parts.push(part),
            }
        }
        let path = Self {
            given: given.to_owned(),
            inside: parts.join("/"),
        };
        match path.is_root() {
            true => Ok(path),
            false => path.file().map(|_| path),
        }
    }

    /// The path as the model wrote it.
    pub(super) fn given(&self) -> &str {
        &self.given
    }

    pub(super) fn is_root(&self) -> bool {
        self.inside.is_empty()
    }

    /// The path as that of a file.
    pub(super) fn file(&self) -> Result<FilePath, Refusal> {
        FilePath::new(self.inside.as_str()).map_err(|error| Refusal::Impossible(error.to_string()))
    }

    /// Whether `file` is at this path or below it.
    pub(super) fn holds(&self, file: &FilePath) -> bool {
        let rest = file.as_str().strip_prefix(self.inside.as_str());
        self.is_root() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether this path lies below another.
    pub(super) fn is_inside(&self, other: &Self) -> bool {
        let rest = self.inside.strip_prefix(other.inside.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    /// The part of a file's path that is below this path.
    pub(super) fn rest_of<'f>(&self, file: &'f FilePath) -> &'f str {
        let rest = file.as_str().get(self.inside.len()..).unwrap_or_default();
        rest.trim_start_matches('/')
    }

    /// The file called `rest` below this path.
    pub(super) fn joined(&self, rest: &str) -> Result<FilePath, Refusal> {
        let path = match rest {
            "" => self.inside.clone(),
            rest => format!("{}/{rest}", self.inside),
        };
        FilePath::new(path).map_err(|error| Refusal::Impossible(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_by_its_letters() {
        for (given, inside) in [
            ("/memories", ""),
            ("/memories/", ""),
            ("/memories/a.md", "a.md"),
            ("/memories//a/./b.md", "a/b.md"),
            ("/memories/a/../b.md", "b.md"),
            ("/memories/a/..", ""),
        ] {
            let parsed = ToolPath::parse(given).map(|path| path.inside);
            assert_eq!(parsed.ok().as_deref(), Some(inside), "{given}");
        }
    }

    #[test]
    fn what_leads_out_or_hides_is_refused() {
        for given in [
            "",
            "/",
            "memories/a",
            "/etc/passwd",
            "/memoriesa",
            "/memories/..",
            "/memories/../memories/a",
            "/memories/a/../../b",
            "/memories/%2e%2e%2fb",
            "/memories/a%2Fb",
            "/memories/..%5cb",
            "/memories/a\\b",
            "/memories/.git/config",
            "/memories/a/.hidden",
            "/memories/a\0",
        ] {
            assert!(ToolPath::parse(given).is_err(), "{given:?}");
        }
    }
}
