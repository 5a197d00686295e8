//! This process as a worker: its name among lease holders, and the context that its jobs are given.

#[cfg(feature = "postgres")]
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result};
#[cfg(feature = "postgres")]
use daybook_engine::bounded;
#[cfg(feature = "postgres")]
use daybook_engine::files::name::FileName;
use daybook_engine::jobs::{
    AGENT_LIMITS, BeforeFiles, WorkLimits, WorkerContext, WorkerLock, free_vanished,
};
use daybook_text::redact::Redactor;

use super::{Daybook, MemoryDatabase};
use crate::folders::data_folder;
use crate::process::random_bytes;

impl Daybook {
    /// The prefix of the names of workers in this data folder. On a server it names the machine, because a machine
    /// cannot see whether processes of another one are alive.
    fn holder_prefix(&self) -> Result<String> {
        match &self.database {
            MemoryDatabase::File(_) => Ok("pid-".to_owned()),
            #[cfg(feature = "postgres")]
            MemoryDatabase::Server(_) => Ok(format!("{}-pid-", machine_name(&self.root)?)),
        }
    }

    /// Whether the holder of a lease is a worker in this data folder.
    pub(crate) fn is_worker_of_folder(&self, holder: &str) -> Result<bool> {
        Ok(holder.starts_with(&self.holder_prefix()?))
    }

    /// Frees the jobs of workers in this data folder whose processes have ended.
    pub(crate) async fn free_vanished(&self) -> Result<usize> {
        Ok(free_vanished(&self.root, &*self.store, &self.holder_prefix()?).await?)
    }

    /// Registers this process as a worker, and frees the jobs of workers that have ended.
    pub(crate) async fn worker(&self) -> Result<(WorkerContext, WorkerLock)> {
        let process = format!(
            "{}{}-{:08x}",
            self.holder_prefix()?,
            std::process::id(),
            run_tag()?
        );
        let presence = WorkerLock::announce(&self.root, &process).with_context(|| {
            format!(
                "cannot write below {}",
                data_folder::display_path(&self.root)
            )
        })?;
        self.free_vanished().await?;
        Ok((self.worker_context(presence.holder())?, presence))
    }

    /// The same for a command that a person waits for: files that were written a short while ago are written again.
    pub(crate) async fn attended_worker(&self) -> Result<(WorkerContext, WorkerLock)> {
        let (mut worker, presence) = self.worker().await?;
        worker.limits.consolidation.cooldown = Duration::ZERO;
        Ok((worker, presence))
    }

    /// The context of jobs that `holder` works on.
    pub(crate) fn worker_context(&self, holder: &str) -> Result<WorkerContext> {
        let work = self.settings.profile.work;
        let limits = WorkLimits {
            claim: work.claims,
            window: work.window,
            known: work.known,
            parallel: work.parallel,
            lease: work.lease,
            retry: work.retry,
            drain: work.drain,
            consolidation: self.settings.profile.consolidation,
            curation: self.settings.curation,
            agent: self.settings.consolidation_agent.then_some(AGENT_LIMITS),
            ..WorkLimits::default()
        };
        Ok(WorkerContext {
            store: Arc::clone(&self.store),
            trees: self.trees.clone(),
            before_files: self
                .record
                .clone()
                .map(|record| -> BeforeFiles { Arc::new(move || record.write_before_files()) }),
            root: self.root.clone(),
            clock: Arc::clone(&self.clock),
            extractor: self.models().extractor(holder)?,
            consolidation_model: self.models().consolidation_model(holder)?,
            holder: holder.to_owned(),
            person: self.settings.person.clone(),
            zone: self.settings.zone.clone(),
            tenant: self.tenant.clone(),
            switches: self.switches(),
            redactor: Redactor::current(),
            limits,
        })
    }
}

/// A number that distinguishes this process from others with the same id: earlier ones, and those in other containers.
fn run_tag() -> Result<u32> {
    static TAG: OnceLock<u32> = OnceLock::new();
    let random = random_bytes()?;
    Ok(*TAG.get_or_init(|| u32::from_ne_bytes(random)))
}

/// The name of this data folder, which no other one has. It is made once.
#[cfg(feature = "postgres")]
fn machine_name(root: &Path) -> Result<String> {
    let path = root.join("machine");
    let failed = || format!("cannot write {}", data_folder::display_path(&path));
    let name: [u8; 8] = random_bytes()?;
    let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut file = tempfile::NamedTempFile::new_in(root).with_context(failed)?;
    std::io::Write::write_all(&mut file, name.as_bytes()).with_context(failed)?;
    // Of several processes, the first one names it.
    let _ = file.persist_noclobber(&path);
    let name = bounded::read_text(&path, 1024).with_context(failed)?;
    // The name is part of the names of workers' lock files.
    Ok(format!("at-{}", FileName::folder(name.trim())))
}
