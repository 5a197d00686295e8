//! Processes hook events: imports the transcripts that they name, and makes finished sessions due.
//!
//! A session that ended, or is about to be compacted, becomes due. An event is removed when what it names
//! is in the log: if the process is killed in between, the next one processes it again, and adds nothing
//! twice. An event that fails is set aside with its reason, and blocks no other. Transcripts that do not
//! exist are counted and reported.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use daybook_domain::seams::Append;
use daybook_domain::{EventSeq, SessionId, SessionKind, SessionMeta, StoreError, Trigger};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::failed::FailedHookEvent;
use super::spool::{SPOOL_EVENTS, Spool, SpooledEvent};
use super::{HookEvent, HookEventKind};
use crate::append::IngestContext;
use crate::guard::{ItemFailure, run_isolated};
use crate::import::{FileStatus, ImportProgress, ImportReport, import, scan};
use crate::places::stored_path::{path_on_disk, shown_path, stored_path};
use crate::projects::settle::settle_new_roots;
use crate::stage::within;
use crate::stop::Stop;
use crate::triggers::Triggers;

/// Most events that are processed at once, so that an update has an end.
const BATCH: usize = 512;

/// What processing the spool did.
#[derive(Debug, Default)]
pub struct SpoolReport {
    /// Events that left the spool.
    pub processed: usize,
    /// Events that the transcripts added to the log.
    pub added: u64,
    /// Whether a session began.
    pub session_began: bool,
    /// Transcripts that were named and do not exist.
    pub missing: BTreeSet<PathBuf>,
    /// Files that are no hook events, set aside, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Sessions whose event was set aside, and why.
    pub set_aside: Vec<(String, String)>,
    /// Transcripts that could not be imported to their end, and why.
    pub failed_files: Vec<(String, String)>,
}

impl SpoolReport {
    /// Whether every event was processed and every transcript imported to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unreadable.is_empty() && self.set_aside.is_empty() && self.failed_files.is_empty()
    }
}

/// Processes the events that wait. `find_transcript` locates a session's transcript when its host did
/// not name it. An event that fails is set aside, and the next one follows.
///
/// # Errors
/// When the store as a whole fails; no event is removed then.
pub async fn process_spool(
    spool: &Spool,
    intake: &IngestContext,
    triggers: &Triggers,
    find_transcript: &(dyn Fn(&HookEvent) -> Option<PathBuf> + Sync),
    stop: &Stop,
) -> Result<SpoolReport, StoreError> {
    retry_mended(spool, intake).await?;
    let pending = spool.pending(BATCH);
    if pending.is_empty() {
        return Ok(SpoolReport::default());
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
    let work = process(spool, intake, triggers, find_transcript, stop, pending);
    within(span, work, record_report).await
}

fn record_report(span: &Span, report: &SpoolReport) {
    let outcome = if report.processed == 0 {
        "stopped"
    } else {
        "taken"
    };
    span.record("notices", report.processed);
    span.record("events", report.added);
    span.record("missing", report.missing.len());
    span.record("unreadable", report.unreadable.len());
    span.record("set_aside", report.set_aside.len());
    span.record("outcome", outcome);
}

/// Queues failed events again whose transcript changed, or was imported meanwhile.
async fn retry_mended(spool: &Spool, intake: &IngestContext) -> Result<(), StoreError> {
    let failed = spool.failed();
    if failed.is_empty() {
        return Ok(());
    }
    let events = failed.into_iter().filter_map(|file| file.content.ok());
    let files: Vec<String> = events
        .filter_map(|failed| failed.failed_transcript)
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let paths: Vec<&str> = files.iter().map(String::as_str).collect();
    let sources = intake.store.sources_at(&intake.tenant, &paths).await?;
    let failing: BTreeSet<&Path> = sources
        .iter()
        .filter(|source| source.failure.is_some())
        .map(|source| Path::new(&source.path))
        .collect();
    spool.retry_failed(|failed| {
        let file = failed.failed_transcript.as_deref();
        failed.has_changed() || file.is_some_and(|file| !failing.contains(file))
    });
    Ok(())
}

async fn process(
    spool: &Spool,
    intake: &IngestContext,
    triggers: &Triggers,
    find_transcript: &(dyn Fn(&HookEvent) -> Option<PathBuf> + Sync),
    stop: &Stop,
    pending: Vec<SpooledEvent>,
) -> Result<SpoolReport, StoreError> {
    let mut report = SpoolReport::default();
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    let transcript = |event: &HookEvent| {
        let named = event.transcript.as_deref().map(path_on_disk);
        named.or_else(|| find_transcript(event))
    };
    for event in pending.iter().filter_map(|it| it.event.as_ref().ok()) {
        match transcript(event) {
            Some(path) if path.is_file() => paths.extend(with_sub_agents(&path)),
            // A session that has just begun has none yet.
            Some(path) if event.kind != HookEventKind::Start => {
                report.missing.insert(PathBuf::from(stored_path(&path)));
            }
            Some(_) | None => {}
        }
    }
    bind_venues(spool, intake).await?;
    let imported = import_transcripts(intake, paths, stop).await?;
    if imported.stopped {
        return Ok(report);
    }
    report.added = imported.added();
    let failed_files = imported.failed().map(|file| {
        let reason = file.status.failure().unwrap_or_default();
        (file.path.clone(), reason.to_owned())
    });
    report.failed_files = failed_files.collect();
    for SpooledEvent { path, event } in pending {
        match event {
            Ok(event) => {
                report.session_began |= event.kind == HookEventKind::Start;
                let fired = run_isolated(fire_trigger(triggers, intake, &event)).await;
                match failure_of(fired, &event, transcript(&event), &report.failed_files)? {
                    None => {
                        spool.remove_failed(&event);
                        spool.remove(&path);
                    }
                    Some(failed) => {
                        let session = format!("{}/{}", event.agent, event.session);
                        report.set_aside.push((session, failed.reason.clone()));
                        // When the disk refuses the move, the event stays queued, behind all others.
                        if spool.set_aside(&path, failed).is_err() {
                            continue;
                        }
                    }
                }
            }
            Err(reason) => match spool.set_aside_unreadable(&path) {
                Ok(moved) => report.unreadable.push((moved, reason)),
                Err(_) => {
                    report.unreadable.push((path, reason));
                    continue;
                }
            },
        }
        report.processed += 1;
    }
    Ok(report)
}

/// The event with the reason for which it is set aside, if its session could not be made due, or a file
/// of its transcript could not be imported.
fn failure_of(
    fired: Result<(), ItemFailure>,
    event: &HookEvent,
    transcript: Option<PathBuf>,
    failed_files: &[(String, String)],
) -> Result<Option<FailedHookEvent>, StoreError> {
    match fired {
        Err(ItemFailure::Store(error)) => return Err(error),
        Err(ItemFailure::Item(reason)) => {
            let failed = FailedHookEvent::new(event.clone(), reason, transcript.as_deref());
            return Ok(Some(failed));
        }
        Ok(()) => {}
    }
    let Some(transcript) = transcript else {
        return Ok(None);
    };
    let (file, folder) = (stored_path(&transcript), transcript.with_extension(""));
    let folder = shown_path(&folder);
    let is_of = |path: &str| path == file || Path::new(path).starts_with(&folder);
    let failed = failed_files.iter().find(|(path, _)| is_of(path));
    Ok(failed.map(|(path, reason)| FailedHookEvent {
        failed_transcript: Some(PathBuf::from(path)),
        ..FailedHookEvent::new(event.clone(), reason.clone(), Some(&transcript))
    }))
}

/// Begins the sessions of queued events in the room or the team that these name, so that no import files their words
/// elsewhere. A session that has begun stays where it began.
///
/// # Errors
/// The store's.
pub async fn bind_venues(spool: &Spool, intake: &IngestContext) -> Result<(), StoreError> {
    let events = spool.pending(SPOOL_EVENTS).into_iter();
    for event in events.filter_map(|queued| queued.event.ok()) {
        if event.venue.is_empty() {
            continue;
        }
        let id = session_of(intake, &event);
        let known = intake.store.session(&id).await?;
        if known.is_some_and(|known| known.events > EventSeq(0) || !known.venue.is_empty()) {
            continue;
        }
        let session = SessionMeta {
            id,
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            user: None,
            surface: None,
            venue: intake.with_team_id(event.venue),
        };
        let begun = Append {
            session,
            events: Vec::new(),
            remotes: Vec::new(),
            source: None,
            import: None,
            patience: intake.patience,
            urgent: None,
            switches: intake.switches.clone(),
            rules: intake.redactor.revision(),
            now: intake.clock.now(),
        };
        intake.store.append(&begun).await?;
    }
    Ok(())
}

/// The session that an event is about.
fn session_of(intake: &IngestContext, event: &HookEvent) -> SessionId {
    SessionId {
        tenant: intake.tenant.clone(),
        agent: event.agent.clone(),
        host_id: event.session.clone(),
    }
}

/// A session's transcript, and those of its sub-agents, which lie in a folder of its name.
fn with_sub_agents(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_extension("");
    let beside = Some(folder).filter(|folder| folder.is_dir());
    std::iter::once(transcript.to_owned())
        .chain(beside)
        .collect()
}

async fn import_transcripts(
    intake: &IngestContext,
    paths: BTreeSet<PathBuf>,
    stop: &Stop,
) -> Result<ImportReport, StoreError> {
    let paths: Vec<PathBuf> = paths.into_iter().collect();
    let report = import(intake, "hooks", scan(&paths), stop, &NoProgress).await?;
    let is_new = |status: &FileStatus| *status != FileStatus::Unchanged;
    if report.files.iter().any(|file| is_new(&file.status)) {
        settle_new_roots(&*intake.store, &intake.tenant, intake.clock.now()).await?;
    }
    Ok(report)
}

/// Fires the trigger of a hook event, which decides when its session is due.
async fn fire_trigger(
    triggers: &Triggers,
    intake: &IngestContext,
    event: &HookEvent,
) -> Result<(), StoreError> {
    let trigger = match event.kind {
        HookEventKind::Start => Trigger::Start,
        HookEventKind::Prompt => Trigger::Prompt,
        HookEventKind::Stop => Trigger::Turn,
        HookEventKind::Compact => Trigger::Compaction,
        HookEventKind::End => Trigger::End,
    };
    let session = session_of(intake, event);
    match triggers.handle(&session, None, trigger).await {
        // No event of the session was ever stored: nothing can be due.
        Ok(_) | Err(StoreError::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reports no progress.
struct NoProgress;

impl ImportProgress for NoProgress {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &crate::import::FileReport) {}
}
