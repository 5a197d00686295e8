//! Checks of the data folder itself: that it is there, private, and has settings that can be read.

use std::path::Path;

use crate::cli::Common;
use crate::root;
use crate::settings::Settings;
use crate::suggest;

use super::finding::Finding;

/// The folder is there and is its owner's alone.
pub(super) fn check(folder: &Path) -> Finding {
    const WHAT: &str = "data folder";
    let name = root::shown(folder);
    let metadata = match std::fs::metadata(folder) {
        Ok(metadata) => metadata,
        Err(error) => {
            return Finding::wrong(WHAT, format!("{name}: {error}"))
                .with_advice(format!("`{}` makes it", suggest::command("import")));
        }
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let says = format!("{name} can be read by others (mode {mode:o})");
            return Finding::wrong(WHAT, says).with_advice(format!("chmod 700 {name}"));
        }
    }
    if !metadata.is_dir() {
        return Finding::wrong(WHAT, format!("{name} is not a folder"));
    }
    Finding::fine(WHAT, format!("{name}, for your eyes alone"))
}

/// The settings can be read.
pub(super) fn check_settings(folder: &Path, common: &Common) -> Finding {
    let settings = Settings::load(folder, &common.set);
    Finding::of(
        "settings",
        settings.map(|_| "all settings make sense".to_owned()),
    )
}
