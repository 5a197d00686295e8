//! Taking notices in: the transcripts that they name are read on, and sessions that ended or are
//! about to be compacted become due.
//!
//! A notice is let go of when what it names is in the log: whoever is killed in between takes it in
//! again, and adds nothing twice. Notices that cannot be read, and transcripts that are not there,
//! are counted and said.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use daybook_domain::{SessionId, StoreError, Trigger};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::spool::{Spool, Waiting};
use super::{Moment, Notice};
use crate::ingest::import::{FileStatus, ImportProgress, ImportReport, Intake, import, scan};
use crate::ingest::settle::settle_projects;
use crate::stage::within;
use crate::stop::Stop;
use crate::triggers::Triggers;

/// Most notices that are taken in at once, so that an update has an end.
const AT_ONCE: usize = 512;

/// What taking in did.
#[derive(Debug, Default)]
pub struct Taken {
    /// Notices that were let go of.
    pub notices: usize,
    /// Events that their transcripts added.
    pub events: u64,
    /// A session began.
    pub started: bool,
    /// Transcripts that were named and are not there.
    pub missing: BTreeSet<PathBuf>,
    /// Notices that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Takes in what waits. `find` answers where a session's transcript lies when its host did not say.
///
/// # Errors
/// When the store fails; nothing is let go of then.
pub async fn take(
    spool: &Spool,
    intake: &Intake,
    triggers: &Triggers,
    find: &(dyn Fn(&Notice) -> Option<PathBuf> + Sync),
    stop: &Stop,
) -> Result<Taken, StoreError> {
    let waiting = spool.waiting(AT_ONCE);
    if waiting.is_empty() {
        return Ok(Taken::default());
    }
    let span = info_span!(
        "notices",
        notices = Empty,
        events = Empty,
        missing = Empty,
        unreadable = Empty,
        outcome = Empty,
    );
    let work = take_in(spool, intake, triggers, find, stop, waiting);
    within(span, work, note).await
}

fn note(span: &Span, taken: &Taken) {
    let outcome = if taken.notices == 0 {
        "stopped"
    } else {
        "taken"
    };
    span.record("notices", taken.notices);
    span.record("events", taken.events);
    span.record("missing", taken.missing.len());
    span.record("unreadable", taken.unreadable.len());
    span.record("outcome", outcome);
}

async fn take_in(
    spool: &Spool,
    intake: &Intake,
    triggers: &Triggers,
    find: &(dyn Fn(&Notice) -> Option<PathBuf> + Sync),
    stop: &Stop,
    waiting: Vec<Waiting>,
) -> Result<Taken, StoreError> {
    let mut taken = Taken::default();
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    for notice in waiting.iter().filter_map(|w| w.notice.as_ref().ok()) {
        let named = notice.transcript.as_ref().map(PathBuf::from);
        match named.or_else(|| find(notice)) {
            Some(path) if path.is_file() => paths.extend(with_sub_agents(&path)),
            // A session that has just begun has none yet.
            Some(path) if notice.moment != Moment::Start => {
                taken.missing.insert(path);
            }
            Some(_) | None => {}
        }
    }
    let report = read_on(intake, paths, stop).await?;
    if report.stopped {
        return Ok(taken);
    }
    taken.events = report.added();
    for Waiting { path, notice } in waiting {
        match notice {
            Ok(notice) => {
                taken.started |= notice.moment == Moment::Start;
                tell(triggers, intake, &notice).await?;
            }
            Err(why) => taken.unreadable.push((path.clone(), why)),
        }
        spool.done(&path);
        taken.notices += 1;
    }
    Ok(taken)
}

/// A session's transcript, and those of its sub-agents, which lie in a folder of its name.
fn with_sub_agents(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_extension("");
    let beside = Some(folder).filter(|folder| folder.is_dir());
    std::iter::once(transcript.to_owned())
        .chain(beside)
        .collect()
}

async fn read_on(
    intake: &Intake,
    paths: BTreeSet<PathBuf>,
    stop: &Stop,
) -> Result<ImportReport, StoreError> {
    let paths: Vec<PathBuf> = paths.into_iter().collect();
    let report = import(intake, "hooks", scan(&paths), stop, &Silent).await?;
    let is_new = |status: &FileStatus| *status != FileStatus::Unchanged;
    if report.files.iter().any(|file| is_new(&file.status)) {
        settle_projects(
            &*intake.store,
            &intake.tenant,
            &report.remotes,
            intake.clock.now(),
        )
        .await?;
    }
    Ok(report)
}

/// What a moment means for when sessions are due.
async fn tell(triggers: &Triggers, intake: &Intake, notice: &Notice) -> Result<(), StoreError> {
    let what = match notice.moment {
        Moment::Start => Trigger::Start,
        Moment::Prompt => Trigger::Prompt,
        Moment::Stop => Trigger::Turn,
        Moment::Compact => Trigger::Compaction,
        Moment::End => Trigger::End,
    };
    let session = SessionId {
        tenant: intake.tenant.clone(),
        agent: notice.agent.clone(),
        host_id: notice.session.clone(),
    };
    match triggers.happened(&session, None, what).await {
        // Nothing of it was ever written down: there is nothing that could be due.
        Ok(_) | Err(StoreError::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

struct Silent;

impl ImportProgress for Silent {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &crate::ingest::import::FileReport) {}
}
