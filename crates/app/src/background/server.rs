//! The background thread of servers (`serve`, `mcp`): does a bounded share of pending work, again and again.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow};
use daybook_engine::import::{ImportCandidate, known_sources};
use daybook_engine::places::stored_path::stored_path;
use daybook_engine::stop::Stop;

use super::folder_watch::{FolderWatch, host_folders, path_of};
use super::outage::{Outage, pause};
use super::pending::{FROM_HOSTS, import_changed, is_due, process_pending_exclusively, stop_after};
use crate::folders::data_folder;
use crate::models::embedding::embed_share;
use crate::process::{block_on, spawn_work};
use crate::settings::Settings;
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::{Daybook, spool_of};

/// Longest share of work between two checks of the stop.
const SHARE: Duration = Duration::from_secs(5);
/// How often a server checks for work: changed transcripts wake no process.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Starts a thread that does a server's share of pending work, until `stop` is requested. With `follow` it imports
/// changes in the folders of hosts. Transcripts that exist at the start and were never imported stay out, because their
/// person was not asked.
pub(crate) fn start(root: PathBuf, set: Vec<String>, follow: bool, stop: Stop) {
    spawn_work(move || {
        let mut worker = BackgroundWorker {
            root,
            set,
            daybook: None,
            watch: follow.then(|| FolderWatch::new(host_folders())),
            existing: Vec::new(),
            outage: Outage::default(),
        };
        while !stop.is_requested() {
            let wait = match catch_panic(|| worker.do_share(&stop)) {
                Ok(()) => CHECK_INTERVAL,
                Err(error) => worker.wait_after(&error),
            };
            if pause(&stop, wait).is_err() {
                std::thread::sleep(wait);
            }
        }
    });
}

/// Turns a panic into an error: a server whose background thread ended at a defect would look alive and learn nothing.
fn catch_panic(work: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(anyhow!("background work met a defect of Daybook")))
}

/// The state of a server's background thread.
struct BackgroundWorker {
    root: PathBuf,
    /// Settings of the command line.
    set: Vec<String>,
    /// Opened when there is work for the first time.
    daybook: Option<Daybook>,
    watch: Option<FolderWatch>,
    /// Files that existed at the first scan, until the memory shows which of them were imported before.
    existing: Vec<ImportCandidate>,
    outage: Outage,
}

impl BackgroundWorker {
    /// Prepares the next try after a failure, and returns how long to wait for it. A data folder that is broken now may
    /// be repaired later.
    fn wait_after(&mut self, error: &anyhow::Error) -> Duration {
        self.daybook = None;
        if let Some(watch) = &mut self.watch {
            watch.forget_last_scan();
        }
        self.outage.next_wait(error)
    }

    fn do_share(&mut self, stop: &Stop) -> Result<()> {
        let mut changed = self.scan();
        let settings = Settings::load(&self.root, &self.set)?;
        let has_hook_events = !spool_of(&self.root, &settings).is_empty();
        let may_exist = || Daybook::may_exist(&self.root, &self.set);
        if changed.is_empty() && !has_hook_events && !may_exist() {
            self.existing.clear();
            return Ok(());
        }
        let daybook = match self.daybook.take() {
            Some(open) => self.daybook.insert(open),
            None => {
                data_folder::create(&self.root)?;
                let opened = Daybook::open(self.root.clone(), &self.set)?;
                block_on(opened.retry_overlong())?;
                self.daybook.insert(opened)
            }
        };
        block_on(async {
            if !self.existing.is_empty() {
                let known = take_imported_before(daybook, &mut self.existing).await?;
                if let Some(watch) = &mut self.watch {
                    watch.add_last_changed(&known);
                }
                changed.extend(known);
            }
            if !changed.is_empty() {
                import_changed(daybook, FROM_HOSTS, changed, stop).await?;
            }
            if is_due(daybook).await? {
                let share_over = Stop::default();
                stop_after(&share_over, SHARE);
                process_pending_exclusively(daybook, &share_over, &HiddenUpdate).await?;
            }
            embed_share(&daybook.models(), stop).await.map(drop)
        })?;
        self.outage.end();
        Ok(())
    }

    /// Scans for files that have changed since the first scan.
    fn scan(&mut self) -> Vec<ImportCandidate> {
        let Some(watch) = &mut self.watch else {
            return Vec::new();
        };
        let is_first = !watch.has_scanned();
        let changed = watch.changed_files();
        if !is_first {
            return changed;
        }
        watch.clear_last_changed();
        self.existing = changed;
        Vec::new()
    }
}

/// Empties `existing`, and returns those of its files that were imported before; the others stay out.
async fn take_imported_before(
    daybook: &Daybook,
    existing: &mut Vec<ImportCandidate>,
) -> Result<Vec<ImportCandidate>> {
    let mut files = std::mem::take(existing);
    let sources = known_sources(&*daybook.store, &daybook.tenant, &files).await?;
    let known: HashSet<String> = sources.into_iter().map(|source| source.path).collect();
    files.retain(|file| path_of(file).is_some_and(|path| known.contains(&stored_path(&path))));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_work_survives_a_defect() {
        assert!(catch_panic(|| Ok(())).is_ok());
        let error = catch_panic(|| panic!("out of reach")).unwrap_err();
        assert_eq!(error.to_string(), "background work met a defect of Daybook");
    }
}
