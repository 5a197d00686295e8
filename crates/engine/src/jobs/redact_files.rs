//! Takes secrets out of memory folders and their histories, when the rules for secrets have changed.
//!
//! It runs after the consolidations, which write what the rescans changed. A folder records the rules by which it was
//! redacted, and the data folder those by which all were: so an unchanged setup costs one small read.
//!
//! Not here: whose text is whose, and how a history is rewritten (`files`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use daybook_domain::page::read_all;
use daybook_domain::{RulesRevision, Scope, Tenant};
use tracing::{info, warn};

use super::{WorkError, WorkerContext};
use crate::bounded;
use crate::files::layout::{folder, run_folder, tenant_folder};
use crate::files::reindex::reindex;
use crate::files::shared::Rewritten;
use crate::files::{FilesConfig, Folder, LockOutcome, withdrawn};
use crate::stop::Stop;

/// Folder of what processes of this machine share; not part of a backup.
const RUN: &str = "run";
/// Name of the file with the rules by which all folders were redacted.
const DONE: &str = "redacted";
/// Longest such file, in bytes.
const DONE_BYTES: u64 = 64;
/// Folders of retired memories, below a tenant's folder.
const RETIRED: &str = "joined";

/// Redacts the folders of these tenants, as far as that is due. What is in the way now is tried again by the next run.
pub(super) async fn redact_folders(
    worker: &WorkerContext,
    tenants: &BTreeSet<Tenant>,
    stop: &Stop,
) -> Result<(), WorkError> {
    for tenant in tenants {
        let done = run_folder(&worker.root, tenant).join(RUN).join(DONE);
        let rules = worker.redactor.revision();
        if is_done(&done, rules) {
            continue;
        }
        if redact_tenant(worker, tenant, stop).await? {
            // Without the file the folders are looked at again.
            let _ = fs::write(&done, done_text(rules));
        }
    }
    Ok(())
}

fn is_done(done: &Path, rules: RulesRevision) -> bool {
    bounded::read_text(done, DONE_BYTES).is_ok_and(|text| text == done_text(rules))
}

fn done_text(rules: RulesRevision) -> String {
    format!("{:016x}\n", rules.0)
}

/// Redacts all folders of a tenant. False if one has to be tried again.
async fn redact_tenant(
    worker: &WorkerContext,
    tenant: &Tenant,
    stop: &Stop,
) -> Result<bool, WorkError> {
    let mut complete = true;
    for state in read_all(|page| worker.store.scopes(tenant, page)).await? {
        if stop.is_requested() {
            return Ok(false);
        }
        let path = folder(&worker.root, &state.scope);
        complete &= redact_folder(worker, &path, Some(&state.scope)).await?;
    }
    for path in retired_folders(&tenant_folder(&worker.root, tenant)) {
        complete &= redact_folder(worker, &path, None).await?;
    }
    Ok(complete)
}

fn retired_folders(tenant: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(tenant.join(RETIRED)).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Redacts one folder, and indexes its files. False if it has to be tried again.
async fn redact_folder(
    worker: &WorkerContext,
    path: &Path,
    scope: Option<&Scope>,
) -> Result<bool, WorkError> {
    if !path.join(".git").is_dir() {
        return Ok(true);
    }
    match redact_history(worker, path, scope).await {
        Ok(Some(true)) => {
            if let Some(scope) = scope {
                reindex(&*worker.store, &worker.root, scope, worker.clock.now()).await?;
            }
            Ok(true)
        }
        Ok(Some(false)) => Ok(true),
        Ok(None) => Ok(false),
        Err(error) => {
            let what = path.display().to_string();
            warn!(folder = what, error = %error, "secrets were not taken out of a history");
            Ok(false)
        }
    }
}

/// Whether the folder was redacted now, and the history that machines share with it; `None` if another process is writing
/// it.
async fn redact_history(
    worker: &WorkerContext,
    path: &Path,
    scope: Option<&Scope>,
) -> Result<Option<bool>, WorkError> {
    let folder = Folder::open(path, FilesConfig::default())?;
    if folder.is_redacted_by(worker.redactor.revision())? {
        return Ok(Some(false));
    }
    let LockOutcome::Held(lock) = folder.try_lock(worker.limits.folder_wait)? else {
        return Ok(None);
    };
    withdrawn::redact(&lock)?;
    let stamp = worker.stamp();
    let redact = || lock.redact_history(&worker.redactor, &stamp);
    let done = match (worker.folder_sync(), scope) {
        (Some(sharing), Some(scope)) => {
            let edit = || {
                redact().map(|history| Rewritten {
                    report: (),
                    history,
                })
            };
            sharing.rewrite(scope, &lock, &stamp, edit).await?.history
        }
        _ => redact()?,
    };
    folder.note_redacted(worker.redactor.revision())?;
    if done.commits > 0 {
        let (commits, deleted) = (done.commits, done.deleted);
        info!(commits, deleted, "secrets were taken out of a history");
    }
    Ok(Some(true))
}
