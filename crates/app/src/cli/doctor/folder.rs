//! Checks the data folder itself: that it exists, is private, and has readable settings.

use std::path::Path;

use crate::cli::CommonArgs;
use crate::folders::data_folder;
use crate::settings::Settings;
use crate::terminal::suggest;

use super::finding::CheckFinding;

/// Checks that the folder exists and only its owner can read it.
pub(super) fn check(folder: &Path) -> CheckFinding {
    const WHAT: &str = "data folder";
    let name = data_folder::display_path(folder);
    let metadata = match std::fs::metadata(folder) {
        Ok(metadata) => metadata,
        Err(error) => {
            return CheckFinding::wrong(WHAT, format!("{name}: {error}"))
                .with_advice(format!("`{}` creates it", suggest::command("import")));
        }
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let says = format!("{name} can be read by others (mode {mode:o})");
            return CheckFinding::wrong(WHAT, says).with_advice(format!("chmod 700 {name}"));
        }
    }
    if !metadata.is_dir() {
        return CheckFinding::wrong(WHAT, format!("{name} is not a folder"));
    }
    CheckFinding::fine(WHAT, format!("{name}, readable by you alone"))
}

/// The settings can be read.
pub(super) fn check_settings(folder: &Path, common: &CommonArgs) -> CheckFinding {
    let settings = Settings::load(folder, &common.set);
    CheckFinding::of(
        "settings",
        settings.map(|_| "all settings are valid".to_owned()),
    )
}
