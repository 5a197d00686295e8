//! Taking notices in: the transcripts that they name are read on, and sessions that ended or are
//! about to be compacted become due.
//!
//! A notice is let go of when what it names is in the log: whoever is killed in between takes it in
//! again, and adds nothing twice. One that cannot be taken in is set aside with its reason, and holds up
//! no other. Transcripts that are not there are counted and said.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use daybook_domain::{SessionId, StoreError, Trigger};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::aside::AsideNotice;
use super::spool::{Spool, Waiting};
use super::{Moment, Notice};
use crate::guard::{Broken, guarded};
use crate::ingest::import::{FileStatus, ImportProgress, ImportReport, Intake, import, scan};
use crate::ingest::settle::settle_new_roots;
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
    /// What lies aside because it is no notice, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Sessions whose notice was set aside, and why.
    pub aside: Vec<(String, String)>,
    /// Files that could not be imported to their end, and why.
    pub failing: Vec<(String, String)>,
}

impl Taken {
    /// Whether all that was taken in was imported to its end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.unreadable.is_empty() && self.aside.is_empty() && self.failing.is_empty()
    }
}

/// Takes in what waits. `find` answers where a session's transcript lies when its host did not say.
/// A notice that cannot be taken in is set aside, and the others go on.
///
/// # Errors
/// When the store as a whole fails; nothing is let go of then.
pub async fn take(
    spool: &Spool,
    intake: &Intake,
    triggers: &Triggers,
    find: &(dyn Fn(&Notice) -> Option<PathBuf> + Sync),
    stop: &Stop,
) -> Result<Taken, StoreError> {
    retry_mended(spool, intake).await?;
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
        set_aside = Empty,
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
    span.record("set_aside", taken.aside.len());
    span.record("outcome", outcome);
}

/// Has notices wait again whose transcript changed, or was imported meanwhile.
async fn retry_mended(spool: &Spool, intake: &Intake) -> Result<(), StoreError> {
    if spool.list_aside().is_empty() {
        return Ok(());
    }
    let sources = intake.store.sources(&intake.tenant).await?;
    let failing: BTreeSet<&Path> = sources
        .iter()
        .filter(|source| source.failure.is_some())
        .map(|source| Path::new(&source.path))
        .collect();
    spool.retry(|aside| {
        let file = aside.failing.as_deref();
        aside.has_changed() || file.is_some_and(|file| !failing.contains(file))
    });
    Ok(())
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
    let transcript = |notice: &Notice| {
        let named = notice.transcript.as_ref().map(PathBuf::from);
        named.or_else(|| find(notice))
    };
    for notice in waiting.iter().filter_map(|w| w.notice.as_ref().ok()) {
        match transcript(notice) {
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
    let failing = report.failed().map(|file| {
        let why = file.status.failure().unwrap_or_default();
        (file.path.clone(), why.to_owned())
    });
    taken.failing = failing.collect();
    for Waiting { path, notice } in waiting {
        match notice {
            Ok(notice) => {
                taken.started |= notice.moment == Moment::Start;
                let told = guarded(tell(triggers, intake, &notice)).await;
                match reason_aside(told, &notice, transcript(&notice), &taken.failing)? {
                    None => {
                        spool.settle(&notice);
                        spool.done(&path);
                    }
                    Some(failed) => {
                        let session = format!("{}/{}", notice.agent, notice.session);
                        taken.aside.push((session, failed.why.clone()));
                        // A disk that does not take it leaves it waiting, behind all others.
                        if spool.put_aside(&path, failed).is_err() {
                            continue;
                        }
                    }
                }
            }
            Err(why) => match spool.put_broken_aside(&path) {
                Ok(aside) => taken.unreadable.push((aside, why)),
                Err(_) => {
                    taken.unreadable.push((path, why));
                    continue;
                }
            },
        }
        taken.notices += 1;
    }
    Ok(taken)
}

/// Why a notice is set aside, if it is: its session could not be made due, or a file of its transcript
/// could not be imported.
fn reason_aside(
    told: Result<(), Broken>,
    notice: &Notice,
    transcript: Option<PathBuf>,
    failing: &[(String, String)],
) -> Result<Option<AsideNotice>, StoreError> {
    match told {
        Err(Broken::Store(error)) => return Err(error),
        Err(Broken::Alone(why)) => {
            let aside = AsideNotice::new(notice.clone(), why, transcript.as_deref());
            return Ok(Some(aside));
        }
        Ok(()) => {}
    }
    let Some(transcript) = transcript else {
        return Ok(None);
    };
    let folder = transcript.with_extension("");
    let is_of = |path: &Path| path == transcript || path.starts_with(&folder);
    let failed = failing.iter().find(|(path, _)| is_of(Path::new(path)));
    Ok(failed.map(|(path, why)| AsideNotice {
        failing: Some(PathBuf::from(path)),
        ..AsideNotice::new(notice.clone(), why.clone(), Some(&transcript))
    }))
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
        settle_new_roots(&*intake.store, &intake.tenant, intake.clock.now()).await?;
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
