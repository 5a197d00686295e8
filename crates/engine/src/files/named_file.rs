//! Reads one memory file named by a caller, and no other file.
//!
//! Invariants: the file is in the memory folder of a scope of the local tenant, no link is followed on the
//! way, and nothing on it is hidden. So neither `..` nor a link leads out, and `.git`, the database and the
//! settings are out of reach.
//!
//! Not here: which part of the text is shown to a reader.

use std::path::{Path, PathBuf};

use super::layout::KINDS;
use super::own_secrets::masked;
use super::path::FilePath;
use super::reader::{self, Refused};
use crate::bounded::FileRefusal;
use daybook_text::redact::Redactor;

/// Why a named file was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamedFileError {
    /// The name is not that of a memory file.
    #[error("{0:?} does not name a memory file: {1}")]
    NoMemoryFile(String, String),
    /// Not found.
    #[error("there is no memory file {0}")]
    Missing(String),
    /// The file exists and cannot be read; a person can fix that.
    #[error("the memory file {0} cannot be read: {1}")]
    Unreadable(String, String),
}

/// Reads the memory file `named`, such as `projects/tidepool/memory/MEMORY.md`, below `root`. Invalid UTF-8
/// in it is replaced.
///
/// # Errors
/// When it names no memory file, or the file cannot be read.
pub fn read(root: &Path, named: &str) -> Result<String, NamedFileError> {
    let no = |why: &str| NamedFileError::NoMemoryFile(named.to_owned(), why.to_owned());
    let path = FilePath::new(named).map_err(|error| no(&error.to_string()))?;
    let parts: Vec<&str> = path.components().collect();
    let &[kind, scope, "memory", _, ..] = parts.as_slice() else {
        return Err(no("it does not lie in a scope's memory folder"));
    };
    if !KINDS.contains(&kind) {
        return Err(no("it does not begin with a kind of scope"));
    }
    let memory: PathBuf = [kind, scope, "memory"].iter().collect();
    let unread = |refused: Refused| match refused.why {
        FileRefusal::Link => no("a symbolic link on the way to it is not followed"),
        why => NamedFileError::Unreadable(named.to_owned(), why.to_string()),
    };
    let below = FilePath::new(parts[3..].join("/")).map_err(|error| no(&error.to_string()))?;
    let text = reader::text(&root.join(memory), &below).map_err(unread)?;
    let text = text.map(|text| masked(&Redactor::current(), &text).into_owned());
    text.ok_or_else(|| NamedFileError::Missing(named.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MEMORY: &str = "projects/tidepool/memory";

    /// A root with a memory file, a secret beside it, and a repository in the memory folder.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let memory = root.path().join(MEMORY);
        fs::create_dir_all(memory.join(".git")).unwrap();
        fs::create_dir_all(memory.join("topics")).unwrap();
        fs::create_dir_all(root.path().join("tenants/x").join(MEMORY)).unwrap();
        for file in [
            "secret.md",
            "daybook.toml",
            "projects/tidepool/beside.md",
            "projects/tidepool/memory/MEMORY.md",
            "projects/tidepool/memory/topics/tides.md",
            "projects/tidepool/memory/.git/config",
            "tenants/x/projects/tidepool/memory/MEMORY.md",
        ] {
            fs::write(root.path().join(file), file).unwrap();
        }
        root
    }

    #[test]
    fn memory_files_are_read() {
        let root = root();
        for named in ["MEMORY.md", "topics/tides.md"] {
            let named = format!("{MEMORY}/{named}");
            assert_eq!(read(root.path(), &named).as_deref(), Ok(named.as_str()));
        }
        assert_eq!(
            read(root.path(), &format!("{MEMORY}/none.md")),
            Err(NamedFileError::Missing(format!("{MEMORY}/none.md")))
        );
    }

    #[test]
    fn nothing_outside_a_memory_folder_is_read() {
        let root = root();
        let absolute = root.path().join(MEMORY).join("MEMORY.md");
        for named in [
            "",
            "secret.md",
            "daybook.toml",
            "projects/tidepool/beside.md",
            "projects/tidepool/memory",
            "projects/tidepool/memory/",
            "projects/tidepool/memory/../beside.md",
            "projects/tidepool/memory/../../../secret.md",
            "projects/../projects/tidepool/memory/MEMORY.md",
            "projects/./tidepool/memory/MEMORY.md",
            "projects//tidepool/memory/MEMORY.md",
            "projects\\tidepool\\memory\\MEMORY.md",
            "projects/tidepool/memory/.git/config",
            "projects/tidepool/memory/%2e%2e/beside.md/..",
            "tenants/x/projects/tidepool/memory/MEMORY.md",
            "../memory/x",
            absolute.to_str().unwrap(),
        ] {
            assert!(
                matches!(
                    read(root.path(), named),
                    Err(NamedFileError::NoMemoryFile(..))
                ),
                "{named:?}: {:?}",
                read(root.path(), named)
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed_to_or_in_a_memory_folder() {
        use std::os::unix::fs::symlink;
        let root = root();
        let memory = root.path().join(MEMORY);
        symlink(root.path().join("secret.md"), memory.join("out.md")).unwrap();
        symlink(memory.join(".git/config"), memory.join("config.md")).unwrap();
        symlink(root.path(), memory.join("up")).unwrap();
        symlink(memory.join("MEMORY.md"), memory.join("same.md")).unwrap();
        fs::create_dir_all(root.path().join("projects/linked")).unwrap();
        symlink(&memory, root.path().join("projects/linked/memory")).unwrap();
        for named in [
            "memory/out.md",
            "memory/config.md",
            "memory/up/secret.md",
            "memory/same.md",
        ] {
            let named = format!("projects/tidepool/{named}");
            assert!(
                matches!(
                    read(root.path(), &named),
                    Err(NamedFileError::NoMemoryFile(..))
                ),
                "{named}"
            );
        }
        let linked = read(root.path(), "projects/linked/memory/MEMORY.md");
        assert!(
            matches!(linked, Err(NamedFileError::NoMemoryFile(..))),
            "{linked:?}"
        );
    }

    #[test]
    fn a_folder_is_no_file() {
        let root = root();
        let named = format!("{MEMORY}/topics");
        let found = read(root.path(), &named);
        assert!(
            matches!(found, Err(NamedFileError::Unreadable(..))),
            "{found:?}"
        );
    }
}
