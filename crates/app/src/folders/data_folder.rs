//! The data folder: where it is, and how paths are shown to people.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Locates the data folder: `--root`, else `DAYBOOK_HOME`, else `~/.daybook`.
pub(crate) fn locate(root_flag: Option<&Path>) -> Result<PathBuf> {
    let chosen = match root_flag {
        Some(root) => root.to_owned(),
        None => match std::env::var_os("DAYBOOK_HOME").filter(|home| !home.is_empty()) {
            Some(home) => PathBuf::from(home),
            None => home()?.join(".daybook"),
        },
    };
    std::path::absolute(&chosen).with_context(|| format!("{} is not a path", chosen.display()))
}

/// The person's home folder.
pub(crate) fn home() -> Result<PathBuf> {
    match std::env::home_dir().filter(|home| !home.as_os_str().is_empty()) {
        Some(home) => Ok(home),
        None => bail!("no home folder is known; name the data folder with --root"),
    }
}

/// Creates the data folder, readable by its owner alone.
pub(crate) fn create(root: &Path) -> Result<()> {
    let failed = || {
        format!(
            "the data folder {} cannot be created; choose another with --root or DAYBOOK_HOME",
            root.display()
        )
    };
    if root.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(root).with_context(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(root, fs::Permissions::from_mode(0o700)).with_context(failed)?;
    }
    Ok(())
}

/// A path for people, with `~` for the home folder.
pub(crate) fn display_path(path: &Path) -> String {
    let short = home()
        .ok()
        .and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned));
    match short {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
