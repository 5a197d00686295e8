//! Appends the batches of files to sessions' logs, each in one transaction with its file's progress.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Append;
use daybook_domain::source::{ImportNo, TranscriptSource};
use daybook_domain::{
    EventId, EventSeq, NewEvent, RemoteEvidence, ScopeKind, Session, SessionId, SessionKind,
    SessionMeta, StoreError, Venue,
};

use super::file_messages::{FileEnding, FileMessage, ParsedBatch, ReadProgress};
use super::read_files::{READER_VERSION, ReadingFile};
use super::{FileReport, FileStatus, ImportReport, failing, retraction};
use crate::append::IngestContext;
use crate::append::split::split_batches;
use crate::projects::moved_sessions::MovedSession;
use crate::stop::Stop;
use crate::transcripts::SessionHint;
use crate::uses::{EventMention, note_mentions};

/// Most conversations that may claim one id. Further ones count as the last of them.
const MAX_SAME_ID: usize = 99;
/// Most unresolved citations of an import that are looked up again at its end.
const MAX_MISSING: usize = 10_000;

/// Appends the events of an import, file by file.
pub(super) struct EventAppender<'a> {
    intake: &'a IngestContext,
    what: &'a str,
    known: &'a BTreeMap<String, TranscriptSource>,
    /// Files that another system has learned from.
    learned: &'a BTreeSet<String>,
    report: ImportReport,
    /// Citations whose events were not stored yet: files are not in the order of time.
    missing: Vec<(SessionMeta, Vec<EventMention>)>,
}

/// The state of a file while its events are appended.
pub(super) struct FileInProgress {
    path: String,
    size: u64,
    modified: i64,
    lasting: bool,
    /// Its row, as the store last recorded it.
    stored: Option<TranscriptSource>,
    /// The session of each host id of the file.
    sessions: BTreeMap<String, FileSession>,
    /// The session that it began or went on with last.
    last: Option<FileSession>,
    report: FileReport,
}

/// A session that a file's events go to.
#[derive(Clone)]
struct FileSession {
    id: SessionId,
    /// The host id that the file claims for it, if that is another session's.
    claimed_id: Option<String>,
    /// Where it is held, as far as the file may say so.
    venue: Venue,
}

impl FileSession {
    fn of(source: &TranscriptSource) -> Option<Self> {
        Some(Self {
            id: source.session.clone()?,
            claimed_id: source.claimed_id.clone(),
            venue: Venue::default(),
        })
    }

    /// Whether events of this host id go to the session.
    fn is_claimed_as(&self, host_id: &str) -> bool {
        self.id.host_id == host_id || self.claimed_id.as_deref() == Some(host_id)
    }

    /// Records in the file's row that it feeds the session.
    fn record_in(&self, source: &mut TranscriptSource) {
        source.session = Some(self.id.clone());
        source.claimed_id.clone_from(&self.claimed_id);
    }
}

impl<'a> EventAppender<'a> {
    pub(super) fn new(
        intake: &'a IngestContext,
        what: &'a str,
        (known, learned): (&'a BTreeMap<String, TranscriptSource>, &'a BTreeSet<String>),
    ) -> Self {
        Self {
            intake,
            what,
            known,
            learned,
            report: ImportReport::default(),
            missing: Vec::new(),
        }
    }

    pub(super) fn begin(&self, file: &ReadingFile) -> FileInProgress {
        let known = self.known.get(&file.path);
        FileInProgress {
            path: file.path.clone(),
            size: file.size,
            modified: file.modified,
            lasting: file.lasting,
            stored: known.cloned(),
            sessions: BTreeMap::new(),
            last: known.and_then(FileSession::of),
            report: FileReport {
                path: file.path.clone(),
                format: String::new(),
                status: FileStatus::Stopped,
                session: None,
                added: 0,
                known: 0,
                bad_lines: known.map_or(0, |source| source.bad_lines),
                first_bad: known.and_then(|source| source.first_bad.clone()),
                partial_line: false,
                same_id_as: None,
            },
        }
    }

    pub(super) async fn append_message(
        &mut self,
        file: &mut FileInProgress,
        piece: FileMessage,
    ) -> Result<(), StoreError> {
        match piece {
            FileMessage::Begun { format, status } => self.record_format(file, format, status).await,
            FileMessage::Batch(batch) => self.append_parsed(file, *batch).await,
            FileMessage::Ended(ending) => self.record_end(file, *ending).await,
            FileMessage::Failed(status) => self.record_failure(file, status).await,
        }
    }

    /// Records that the file's import ended early. Its appended events stay, with its progress.
    pub(super) async fn record_failure(
        &mut self,
        file: &mut FileInProgress,
        status: FileStatus,
    ) -> Result<(), StoreError> {
        if let Some(reason) = status.failure()
            && file.lasting
        {
            let format = match file.report.format.as_str() {
                "" => "unknown",
                format => format,
            };
            let stored = file.stored.clone();
            let source = stored.unwrap_or_else(|| file.source(&ReadProgress::default(), format));
            let source = TranscriptSource {
                size: file.size,
                modified: file.modified,
                ..source
            };
            failing::record(self.intake, source, reason, self.report.import).await?;
        }
        file.report.status = status;
        Ok(())
    }

    /// Ends the file and returns its report.
    pub(super) fn end(&mut self, mut file: FileInProgress) -> &FileReport {
        file.report.session = file.last.as_ref().map(|last| last.id.to_string());
        self.report.files.push(file.report);
        &self.report.files[self.report.files.len() - 1]
    }

    pub(super) async fn finish(mut self, stop: &Stop) -> Result<ImportReport, StoreError> {
        for (meta, mentioned) in std::mem::take(&mut self.missing) {
            self.record_uses(&meta, mentioned).await?;
        }
        self.report.stopped = stop.is_requested();
        if let (Some(import), false) = (self.report.import, self.report.stopped) {
            self.intake
                .store
                .end_import(&self.intake.tenant, import, self.intake.clock.now())
                .await?;
        }
        Ok(self.report)
    }

    async fn record_format(
        &mut self,
        file: &mut FileInProgress,
        format: String,
        status: FileStatus,
    ) -> Result<(), StoreError> {
        if let FileStatus::Unknown(reason) = &status {
            let mut source = file.source(&ReadProgress::default(), "unknown");
            source.first_bad = Some((0, reason.clone()));
            if file.lasting {
                self.intake
                    .store
                    .put_source(&self.intake.tenant, &source, None)
                    .await?;
            }
        }
        file.report.format = format;
        file.report.status = status;
        Ok(())
    }

    async fn append_parsed(
        &mut self,
        file: &mut FileInProgress,
        batch: ParsedBatch,
    ) -> Result<(), StoreError> {
        let session = self.session_of(file, &batch).await?;
        let id = session.id.clone();
        if !batch.mentioned.is_empty() {
            let meta = session_meta(&batch.session, &session);
            let missing = self.record_uses(&meta, batch.mentioned).await?;
            self.keep_missing(meta, missing);
        }
        let mut events = Vec::with_capacity(batch.events.len());
        for event in batch.events {
            if let Some(retracts) = batch.retracts.get(&event.id) {
                let before = std::mem::take(&mut events);
                self.append(file, &batch.session, &session, (before, Vec::new()), None)
                    .await?;
                let known = self.intake.store.event_ids(&id).await?;
                events.extend(retraction::resolve(&event, retracts, &known));
            } else {
                events.push(event);
            }
        }
        let progress = batch.progress.filter(|_| file.lasting);
        let source = progress.map(|progress| {
            let mut source = file.source(&progress, &file.report.format);
            // The file's end is not reached: whatever its size, more of it has to be read.
            source.size = 0;
            session.record_in(&mut source);
            source
        });
        let mut remotes = batch.remotes;
        for (events, is_last) in in_appends(events) {
            let source = source.clone().filter(|_| is_last);
            // By then the session holds all events that are evidence.
            let shown = if is_last {
                std::mem::take(&mut remotes)
            } else {
                Vec::new()
            };
            self.append(file, &batch.session, &session, (events, shown), source)
                .await?;
        }
        Ok(())
    }

    async fn append(
        &mut self,
        file: &mut FileInProgress,
        hint: &SessionHint,
        session: &FileSession,
        (mut events, remotes): (Vec<NewEvent>, Vec<RemoteEvidence>),
        source: Option<TranscriptSource>,
    ) -> Result<(), StoreError> {
        let import = self.import_number().await?;
        let id = &session.id;
        if let Some(moved) = MovedSession::load(&*self.intake.store, id).await? {
            moved.relocate(&mut events);
        }
        let mut meta = session_meta(hint, session);
        meta.user = meta
            .user
            .filter(|user| *user != self.intake.switches.person);
        let append = Append {
            session: meta,
            events,
            remotes,
            source,
            import: Some(import),
            patience: self.intake.patience,
            urgent: None,
            switches: self.switches_for(&file.path, id),
            rules: self.intake.redactor.revision(),
            now: self.intake.clock.now(),
        };
        let appended = self.intake.store.append(&append).await?;
        file.stored = append.source.or_else(|| file.stored.take());
        file.report.added += appended.added;
        file.report.known += appended.known;
        if appended.added > 0 {
            self.report.sessions.insert(id.clone());
        }
        Ok(())
    }

    /// The switches for a file's events: those of a file that another system has learned from are passed over, as
    /// events are that arrive while memory is off.
    fn switches_for(&self, path: &str, session: &SessionId) -> Switches {
        let mut switches = self.intake.switches.clone();
        if self.learned.contains(path) {
            switches
                .off
                .insert((ScopeKind::Agent, session.agent.clone()));
        }
        switches
    }

    async fn record_uses(
        &self,
        session: &SessionMeta,
        mentioned: Vec<EventMention>,
    ) -> Result<Vec<EventMention>, StoreError> {
        let (store, now) = (&*self.intake.store, self.intake.clock.now());
        note_mentions(store, session, &self.intake.switches, mentioned, now).await
    }

    fn keep_missing(&mut self, session: SessionMeta, mut missing: Vec<EventMention>) {
        let kept: usize = self.missing.iter().map(|(_, kept)| kept.len()).sum();
        missing.truncate(MAX_MISSING.saturating_sub(kept));
        if !missing.is_empty() {
            self.missing.push((session, missing));
        }
    }

    async fn import_number(&mut self) -> Result<ImportNo, StoreError> {
        if let Some(import) = self.report.import {
            return Ok(import);
        }
        let import = self
            .intake
            .store
            .begin_import(&self.intake.tenant, self.what, self.intake.clock.now())
            .await?;
        self.report.import = Some(import);
        Ok(import)
    }

    /// The session that a batch belongs to. A file that claims another conversation's id, and has
    /// nothing in common with it, gets a session of its own.
    async fn session_of(
        &self,
        file: &mut FileInProgress,
        batch: &ParsedBatch,
    ) -> Result<FileSession, StoreError> {
        let hint = &batch.session;
        if let Some(session) = file.sessions.get(&hint.host_id) {
            return Ok(session.clone());
        }
        let claimed = SessionId {
            tenant: self.intake.tenant.clone(),
            agent: hint.agent.clone().into_owned(),
            host_id: hint.host_id.clone(),
        };
        let venue = self.intake.with_team_id(hint.venue.clone());
        let id = match &file.last {
            Some(last) if last.is_claimed_as(&hint.host_id) => last.id.clone(),
            _ if hint.kind == SessionKind::SubAgent => claimed.clone(),
            _ => self.free_id(&claimed, &batch.events, &venue).await?,
        };
        // A session stays where it began, whatever a file names later.
        let known = self.intake.store.session(&id).await?;
        let is_begun = |known: &Session| known.events > EventSeq(0) || !known.venue.is_empty();
        let stays = known.is_some_and(|known| is_begun(&known) && !known.venue.admits(&venue));
        if id != claimed {
            file.report.same_id_as = Some(claimed.to_string());
        }
        let session = FileSession {
            claimed_id: (id.host_id != claimed.host_id).then_some(claimed.host_id),
            id,
            venue: if stays { Venue::default() } else { venue },
        };
        let host_id = hint.host_id.clone();
        file.sessions.insert(host_id, session.clone());
        file.last = Some(session.clone());
        Ok(session)
    }

    async fn free_id(
        &self,
        claimed: &SessionId,
        events: &[NewEvent],
        venue: &Venue,
    ) -> Result<SessionId, StoreError> {
        let ids: HashSet<EventId> = events.iter().map(|event| event.id).collect();
        let mut id = claimed.clone();
        for n in 2..=MAX_SAME_ID {
            let Some(taken) = self.intake.store.session(&id).await? else {
                break;
            };
            let known = self.intake.store.event_ids(&id).await?;
            let shared = known.iter().any(|(_, known)| ids.contains(known));
            let is_empty =
                known.is_empty() && (taken.venue.is_empty() || taken.venue.admits(venue));
            if shared || is_empty || taken.kind == SessionKind::SubAgent {
                break;
            }
            id.host_id = format!("{}~{n}", claimed.host_id);
        }
        Ok(id)
    }

    async fn record_end(
        &mut self,
        file: &mut FileInProgress,
        ending: FileEnding,
    ) -> Result<(), StoreError> {
        for (rule, found) in ending.secrets {
            *self.report.secrets.entry(rule).or_default() += found;
        }
        file.report.bad_lines = ending.progress.bad_lines;
        file.report.first_bad = ending.progress.first_bad.clone();
        file.report.partial_line = ending.partial_line;
        if let Some(status) = ending.status {
            file.report.status = status;
            return Ok(());
        }
        if let Some(ids) = ending.all_ids {
            self.retract_missing(file, &ids).await?;
        }
        if file.lasting {
            let format = file.report.format.clone();
            let mut source = file.source(&ending.progress, &format);
            if let Some(last) = &file.last {
                last.record_in(&mut source);
            }
            self.intake
                .store
                .put_source(&self.intake.tenant, &source, self.report.import)
                .await?;
        }
        Ok(())
    }

    /// Retracts events that a rewritten file no longer holds, if no other file feeds its session.
    async fn retract_missing(
        &mut self,
        file: &mut FileInProgress,
        ids: &HashSet<EventId>,
    ) -> Result<(), StoreError> {
        let Some(last) = file.last.clone() else {
            return Ok(());
        };
        let session = last.id.clone();
        let feeding = self.intake.store.sources_of(&session).await?;
        if feeding.iter().any(|source| source.path != file.path) {
            return Ok(());
        }
        let known = self.intake.store.event_ids(&session).await?;
        let gone: Vec<EventSeq> = known
            .iter()
            .filter(|(_, id)| !ids.contains(id))
            .map(|(seq, _)| *seq)
            .collect();
        if gone.is_empty() {
            return Ok(());
        }
        let Some(store) = self.intake.store.session(&session).await? else {
            return Ok(());
        };
        let retractions = retraction::of_missing(&gone, store.last_at);
        let hint = SessionHint {
            host_id: session.host_id.clone(),
            agent: "".into(),
            kind: store.kind,
            memory_off: store.memory_off,
            forked_from: store.forked_from,
            surface: store.surface,
            user: store.user,
            venue: store.venue,
            parent: None,
            cwd: None,
            branch: None,
            remote: None,
        };
        for (events, _) in in_appends(retractions) {
            let retracted = (events, Vec::new());
            self.append(file, &hint, &last, retracted, None).await?;
        }
        Ok(())
    }
}

/// The metadata of a file's session, under the id that the session was given.
fn session_meta(hint: &SessionHint, session: &FileSession) -> SessionMeta {
    SessionMeta {
        id: session.id.clone(),
        kind: hint.kind,
        memory_off: hint.memory_off,
        forked_from: hint.forked_from.clone(),
        user: hint.user.clone(),
        surface: hint.surface.clone(),
        venue: session.venue.clone(),
    }
}

/// Batches that one append may carry each, with whether it is the last. There is always one.
fn in_appends(events: Vec<NewEvent>) -> impl Iterator<Item = (Vec<NewEvent>, bool)> {
    let mut batches = split_batches(events);
    if batches.is_empty() {
        batches.push(Vec::new());
    }
    let last = batches.len() - 1;
    let numbered = batches.into_iter().enumerate();
    numbered.map(move |(nth, batch)| (batch, nth == last))
}

impl FileInProgress {
    fn source(&self, progress: &ReadProgress, format: &str) -> TranscriptSource {
        TranscriptSource {
            path: self.path.clone(),
            format: format.to_owned(),
            session: None,
            claimed_id: None,
            size: self.size,
            modified: self.modified,
            offset: progress.offset,
            lines: progress.lines,
            fingerprint: progress.fingerprint,
            bad_lines: progress.bad_lines,
            first_bad: progress.first_bad.clone(),
            secrets: progress.secrets,
            state: progress.state.clone(),
            failure: None,
            reading: READER_VERSION,
        }
    }
}
