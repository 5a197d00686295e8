//! Opens the data folder that a command line names, or says what the person can do where there is none.

use std::path::Path;

use anyhow::{Context, Result, bail};
use daybook_engine::files::audit::scopes_on_disk;

use super::record::is_database_lost;
use super::{DATABASE, Daybook, spool_of, tenant_of};
use crate::folders::data_folder;
use crate::settings::Settings;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::output::count;
use crate::terminal::suggest;

impl Daybook {
    /// Opens the data folder, creating it when it is new.
    pub(crate) fn open_or_create(common: &CommonArgs) -> Result<Self> {
        let folder = data_folder::locate(common.root.as_deref())?;
        data_folder::create(&folder)?;
        Self::open_for(common.server_timeout, folder, &common.set)
    }

    /// Opens the data folder, which must hold a memory already.
    pub(crate) fn open_existing(common: &CommonArgs) -> Result<Self> {
        let folder = data_folder::locate(common.root.as_deref())?;
        check_readable(&folder)?;
        // Hook events in the spool are a memory, too, although they are not imported yet.
        let has_spool = |settings: Settings| !spool_of(&folder, &settings).is_empty();
        let has_hook_events = || Settings::load(&folder, &common.set).is_ok_and(has_spool);
        if !Self::may_exist(&folder, &common.set) && !has_hook_events() {
            let scopes = scopes_on_disk(&folder, &tenant_of(&folder, &common.set)).len() as u64;
            if is_database_lost(&folder) {
                bail!(
                    "the database in {} is gone, and the memory files of {} are there: `{}` makes it again \
                     from them",
                    data_folder::display_path(&folder),
                    count(scopes, "scope"),
                    suggest::command("rebuild"),
                );
            }
            if scopes > 0 {
                bail!(
                    "{} has memory files of {} and no database: `{}` brings a backup back, \
                     `{}` makes the files known to a new one",
                    data_folder::display_path(&folder),
                    count(scopes, "scope"),
                    suggest::command("restore"),
                    suggest::command("doctor --repair")
                );
            }
            bail!(
                "there is no memory in {} yet; `{}` creates one",
                data_folder::display_path(&folder),
                suggest::command("import"),
            );
        }
        Self::open_for(common.server_timeout, folder, &common.set)
    }

    /// Opens the data folder, making its database again from the record if it is gone.
    pub(crate) fn open_restoring(common: &CommonArgs) -> Result<Self> {
        let folder = data_folder::locate(common.root.as_deref())?;
        check_readable(&folder)?;
        match is_database_lost(&folder) {
            true => Self::open_for(common.server_timeout, folder, &common.set),
            false => Self::open_existing(common),
        }
    }
}

/// Fails for a folder without read permission, which would otherwise look like one without a memory.
fn check_readable(folder: &Path) -> Result<()> {
    let failed = || {
        format!(
            "the data folder {} cannot be read; check its owner and permissions",
            data_folder::display_path(folder)
        )
    };
    for path in [folder.to_owned(), folder.join(DATABASE)] {
        match std::fs::metadata(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(failed);
            }
            Ok(_) | Err(_) => {}
        }
    }
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(failed)
        }
        Ok(_) | Err(_) => Ok(()),
    }
}
