//! Landing: batches become events of a session, in one transaction each with their file's progress.

use std::collections::{BTreeMap, HashSet};

use daybook_domain::seams::Append;
use daybook_domain::source::{ImportNo, Source};
use daybook_domain::{
    EventId, EventSeq, NewEvent, Origin, RemoteEvidence, SessionId, SessionKind, SessionMeta,
    StoreError,
};

use super::reading::{Batch, Ending, FileUnderWay, Piece, Progress, READING};
use super::{FileReport, FileStatus, ImportReport, Intake, failing, retraction};
use crate::ingest::SessionHint;
use crate::ingest::batches::split_batches;
use crate::stop::Stop;

/// Conversations that may claim one id. More are taken for the last of them.
const SAME_ID: usize = 99;

pub(super) struct Landing<'a> {
    intake: &'a Intake,
    what: &'a str,
    known: &'a BTreeMap<String, Source>,
    report: ImportReport,
}

/// A file while it lands.
pub(super) struct Under {
    path: String,
    size: u64,
    modified: i64,
    lasting: bool,
    /// What the store last recorded of it.
    stored: Option<Source>,
    /// Which session each host id of the file came to.
    sessions: BTreeMap<String, SessionId>,
    last_session: Option<SessionId>,
    report: FileReport,
}

impl<'a> Landing<'a> {
    pub(super) fn new(
        intake: &'a Intake,
        what: &'a str,
        known: &'a BTreeMap<String, Source>,
    ) -> Self {
        Self {
            intake,
            what,
            known,
            report: ImportReport::default(),
        }
    }

    pub(super) fn begin(&self, file: &FileUnderWay) -> Under {
        let known = self.known.get(&file.path);
        Under {
            path: file.path.clone(),
            size: file.size,
            modified: file.modified,
            lasting: file.lasting,
            stored: known.cloned(),
            sessions: BTreeMap::new(),
            last_session: known.and_then(|source| source.session.clone()),
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

    pub(super) async fn land(&mut self, file: &mut Under, piece: Piece) -> Result<(), StoreError> {
        match piece {
            Piece::Begun { format, status } => self.begun(file, format, status).await,
            Piece::Batch(batch) => self.batch(file, *batch).await,
            Piece::Ended(ending) => self.ended(file, *ending).await,
            Piece::Failed(status) => self.failed(file, status).await,
        }
    }

    /// The file's import ended early. What landed of it stays, with its progress.
    pub(super) async fn failed(
        &mut self,
        file: &mut Under,
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
            let source = stored.unwrap_or_else(|| file.source(&Progress::default(), format));
            let source = Source {
                size: file.size,
                modified: file.modified,
                ..source
            };
            failing::record(self.intake, source, reason, self.report.import).await?;
        }
        file.report.status = status;
        Ok(())
    }

    /// The file is done: what became of it.
    pub(super) fn end(&mut self, mut file: Under) -> &FileReport {
        file.report.session = file.last_session.as_ref().map(ToString::to_string);
        self.report.files.push(file.report);
        &self.report.files[self.report.files.len() - 1]
    }

    pub(super) async fn finish(mut self, stop: &Stop) -> Result<ImportReport, StoreError> {
        self.report.stopped = stop.asked();
        if let (Some(import), false) = (self.report.import, self.report.stopped) {
            self.intake
                .store
                .end_import(&self.intake.tenant, import, self.intake.clock.now())
                .await?;
        }
        Ok(self.report)
    }

    async fn begun(
        &mut self,
        file: &mut Under,
        format: String,
        status: FileStatus,
    ) -> Result<(), StoreError> {
        if let FileStatus::Unknown(reason) = &status {
            let mut source = file.source(&Progress::default(), "unknown");
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

    async fn batch(&mut self, file: &mut Under, batch: Batch) -> Result<(), StoreError> {
        let id = self.session_of(file, &batch).await?;
        let mut events = Vec::with_capacity(batch.events.len());
        for event in batch.events {
            if event.origin == Origin::Retraction {
                let before = std::mem::take(&mut events);
                self.append(file, &batch.session, &id, (before, Vec::new()), None)
                    .await?;
                let known = self.intake.store.event_ids(&id).await?;
                events.extend(retraction::resolve(&event, &known));
            } else {
                events.push(event);
            }
        }
        let progress = batch.progress.filter(|_| file.lasting);
        let source = progress.map(|progress| {
            let mut source = file.source(&progress, &file.report.format);
            // Its end has not been reached: whatever its size, there is more to look at.
            source.size = 0;
            source.session = Some(id.clone());
            source
        });
        let mut remotes = batch.remotes;
        for (events, is_last) in in_appends(events) {
            let source = source.clone().filter(|_| is_last);
            // By then the session has all events that show something.
            let shown = if is_last {
                std::mem::take(&mut remotes)
            } else {
                Vec::new()
            };
            self.append(file, &batch.session, &id, (events, shown), source)
                .await?;
        }
        Ok(())
    }

    async fn append(
        &mut self,
        file: &mut Under,
        hint: &SessionHint,
        id: &SessionId,
        (events, remotes): (Vec<NewEvent>, Vec<RemoteEvidence>),
        source: Option<Source>,
    ) -> Result<(), StoreError> {
        let import = self.number().await?;
        let append = Append {
            session: SessionMeta {
                id: id.clone(),
                kind: hint.kind,
                memory_off: hint.memory_off,
                forked_from: hint.forked_from.clone(),
                user: None,
                surface: hint.surface.clone(),
            },
            events,
            remotes,
            source,
            import: Some(import),
            patience: self.intake.patience,
            urgent: None,
            switches: self.intake.switches.clone(),
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

    async fn number(&mut self) -> Result<ImportNo, StoreError> {
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
    async fn session_of(&self, file: &mut Under, batch: &Batch) -> Result<SessionId, StoreError> {
        let hint = &batch.session;
        if let Some(id) = file.sessions.get(&hint.host_id) {
            return Ok(id.clone());
        }
        let claimed = SessionId {
            tenant: self.intake.tenant.clone(),
            agent: hint.agent.to_owned(),
            host_id: hint.host_id.clone(),
        };
        let id = match &file.last_session {
            Some(last) if last.host_id.split('~').next() == Some(hint.host_id.as_str()) => {
                last.clone()
            }
            _ if hint.kind == SessionKind::SubAgent => claimed.clone(),
            _ => self.free_id(&claimed, &batch.events).await?,
        };
        if id != claimed {
            file.report.same_id_as = Some(claimed.to_string());
        }
        file.sessions.insert(hint.host_id.clone(), id.clone());
        file.last_session = Some(id.clone());
        Ok(id)
    }

    async fn free_id(
        &self,
        claimed: &SessionId,
        events: &[NewEvent],
    ) -> Result<SessionId, StoreError> {
        let ids: HashSet<EventId> = events.iter().map(|event| event.id).collect();
        let mut id = claimed.clone();
        for n in 2..=SAME_ID {
            let Some(taken) = self.intake.store.session(&id).await? else {
                break;
            };
            let known = self.intake.store.event_ids(&id).await?;
            let shared = known.iter().any(|(_, known)| ids.contains(known));
            if shared || known.is_empty() || taken.kind == SessionKind::SubAgent {
                break;
            }
            id.host_id = format!("{}~{n}", claimed.host_id);
        }
        Ok(id)
    }

    async fn ended(&mut self, file: &mut Under, ending: Ending) -> Result<(), StoreError> {
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
            self.take_back_missing(file, &ids).await?;
        }
        if file.lasting {
            let format = file.report.format.clone();
            let mut source = file.source(&ending.progress, &format);
            source.session = file.last_session.clone();
            self.intake
                .store
                .put_source(&self.intake.tenant, &source, self.report.import)
                .await?;
        }
        Ok(())
    }

    /// What a rewritten file no longer says is taken back, when no other file feeds its session.
    async fn take_back_missing(
        &mut self,
        file: &mut Under,
        ids: &HashSet<EventId>,
    ) -> Result<(), StoreError> {
        let Some(session) = file.last_session.clone() else {
            return Ok(());
        };
        let feeds = |source: &&Source| {
            source.session.as_ref() == Some(&session) && source.path != file.path
        };
        if self.known.values().any(|source| feeds(&source)) {
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
            agent: "",
            kind: store.kind,
            memory_off: store.memory_off,
            forked_from: store.forked_from,
            surface: store.surface,
            parent: None,
            cwd: None,
            branch: None,
            remote: None,
        };
        for (events, _) in in_appends(retractions) {
            let said = (events, Vec::new());
            self.append(file, &hint, &session, said, None).await?;
        }
        Ok(())
    }
}

/// Batches of what one append may carry, and which is the last. There is always one.
fn in_appends(events: Vec<NewEvent>) -> impl Iterator<Item = (Vec<NewEvent>, bool)> {
    let mut batches = split_batches(events);
    if batches.is_empty() {
        batches.push(Vec::new());
    }
    let last = batches.len() - 1;
    let numbered = batches.into_iter().enumerate();
    numbered.map(move |(nth, batch)| (batch, nth == last))
}

impl Under {
    fn source(&self, progress: &Progress, format: &str) -> Source {
        Source {
            path: self.path.clone(),
            format: format.to_owned(),
            session: None,
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
            reading: READING,
        }
    }
}
