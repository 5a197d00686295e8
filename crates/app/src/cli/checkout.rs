//! `daybook checkout` and `checkin`: memory files of a memory that several machines share, as folders
//! with a real git history.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::Scope;
use daybook_engine::files::FilesError;
use daybook_engine::files::layout::folder;
use daybook_engine::files::shared::Together;
use daybook_engine::files::stamp::Stamp;
use daybook_engine::jobs::{Sharing, WorkError, WorkLimits};
use serde_json::json;

use super::Common;
use crate::logging::complain;
use crate::output::{bold, count, dim, json as print_json, warn};
use crate::refusals;
use crate::root;
use crate::wiring::{Daybook, block_on};

/// Bring the memory folders of this machine up to date with what others wrote.
#[derive(Args)]
pub(crate) struct Checkout {
    /// Lay them below this folder instead of the data folder
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

/// Hand over what you edited in memory folders; what others wrote meanwhile is merged with it.
#[derive(Args)]
pub(crate) struct Checkin {
    /// The folder that they were checked out to, if it is not the data folder
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// First read the whole histories, and have folders and store give each other what one of them lacks
    #[arg(long)]
    repair: bool,
}

/// What became of one scope's folder; `None` when somebody was writing it.
type Met = (Scope, Option<Together>);

impl Checkout {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        if let Some(to) = &self.to {
            root::create(to)?;
        }
        let below = self.to.as_deref().unwrap_or(&daybook.root);
        let sharing = shared(&daybook, below)?;
        let (stamp, wait) = (daybook.stamp(), WorkLimits::default().folder_wait);
        let met = block_on(async { Ok(sharing.check_out(&daybook.tenant, &stamp, wait).await?) })?;
        tell(common, below, &met, "Everything is up to date.")
    }
}

impl Checkin {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let below = self.from.as_deref().unwrap_or(&daybook.root);
        let sharing = shared(&daybook, below)?;
        let (stamp, wait) = (daybook.stamp(), WorkLimits::default().folder_wait);
        let mut is_refused = false;
        let met = block_on(async {
            let mut met = Vec::new();
            for state in daybook.store.scopes(&daybook.tenant).await? {
                if !folder(below, &state.scope).is_dir() {
                    continue;
                }
                if self.repair
                    && let Err(error) = repair(&sharing, &state.scope, &stamp).await
                {
                    // The others are repaired all the same.
                    complain(&format!("{error:#}"));
                    is_refused = true;
                    continue;
                }
                match sharing.check_in(&state.scope, &stamp, wait).await {
                    Ok(together) => met.push((state.scope, together)),
                    // One folder that is none costs no other.
                    Err(WorkError::Files(error @ FilesError::Refused { .. })) => {
                        complain(&error.to_string());
                        is_refused = true;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            refusals::complain_of(&daybook).await?;
            Ok(met)
        })?;
        let moved = |(_, together): &Met| together.as_ref().is_none_or(|t| t.given + t.taken > 0);
        let met: Vec<Met> = met.into_iter().filter(moved).collect();
        let told = tell(common, below, &met, "Nothing was edited.")?;
        Ok(if is_refused { ExitCode::FAILURE } else { told })
    }
}

/// Has a folder and the store give each other what one of them lacks, and says what that was.
async fn repair(sharing: &Sharing<'_>, scope: &Scope, stamp: &Stamp) -> Result<()> {
    let before = sharing.check_history(scope).await?;
    if before.is_none_or(|found| found.is_whole()) {
        return Ok(());
    }
    let wait = WorkLimits::default().folder_wait;
    let Some(healed) = sharing.heal_history(scope, stamp, wait).await? else {
        bail!(
            "another process is writing the memory of {scope}; run this again when it has finished"
        );
    };
    let (fetched, restored) = (
        count(healed.fetched, "object"),
        count(healed.restored, "object"),
    );
    anstream::eprintln!("{scope}: fetched {fetched}, put {restored} into the store");
    let left = sharing.check_history(scope).await?;
    if let Some(left) = left.filter(|found| !found.is_whole()) {
        bail!(
            "{scope}: {left}; run `daybook checkin --repair` on another machine that has this memory, \
             then here again"
        );
    }
    Ok(())
}

fn shared<'a>(daybook: &'a Daybook, below: &'a Path) -> Result<Sharing<'a>> {
    match daybook.sharing_below(below) {
        Some(sharing) => Ok(sharing),
        None => bail!(
            "memory is kept in {} alone, and its folders are git repositories already; several \
             machines share one when the setting `store` names a PostgreSQL database",
            root::shown(&daybook.root)
        ),
    }
}

fn tell(common: &Common, below: &Path, met: &[Met], nothing: &str) -> Result<ExitCode> {
    let is_busy = met.iter().any(|(_, together)| together.is_none());
    if common.json {
        let folders: Vec<_> = met.iter().map(|met| as_json(below, met)).collect();
        print_json(&folders)?;
    } else if met.is_empty() {
        anstream::println!("{nothing}");
    } else {
        for met in met {
            anstream::println!("{}", line(below, met));
        }
    }
    Ok(match is_busy {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn as_json(below: &Path, (scope, together): &Met) -> serde_json::Value {
    json!({
        "scope": scope.to_string(),
        "folder": folder(below, scope),
        "busy": together.is_none(),
        "commit": together.as_ref().and_then(|t| t.head).map(|head| head.to_string()),
        "taken": together.as_ref().map(|t| t.taken),
        "given": together.as_ref().map(|t| t.given),
        "merged": together.as_ref().map(|t| t.merged),
        "kept": together.as_ref().map(|t| t.kept.iter().map(ToString::to_string).collect::<Vec<_>>()),
    })
}

fn line(below: &Path, (scope, together): &Met) -> String {
    let Some(together) = together else {
        let busy = warn("somebody is writing it: do it again");
        return format!("{scope}  {busy}");
    };
    let mut did = Vec::new();
    if together.taken > 0 {
        did.push(format!("took in {}", count(together.taken, "object")));
    }
    if together.given > 0 {
        did.push(format!("handed over {}", count(together.given, "object")));
    }
    if together.merged {
        did.push("merged".to_owned());
    }
    let path = root::shown(&folder(below, scope));
    format!(
        "{}  {}  {}",
        bold(&scope.to_string()),
        did.join(", "),
        dim(&path)
    )
}
