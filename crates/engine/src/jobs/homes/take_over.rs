//! Makes the entries of a home's memory files memories, each with its file as provenance.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use daybook_domain::eligibility::Switches;
use daybook_domain::page::read_all;
use daybook_domain::seams::{Append, ObservationStore, SessionCatalog, SessionLog};
use daybook_domain::source::{ImportNo, TranscriptSource};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    EventId, EventSeq, Evidence, NewEvent, Observation, ObservationId, ObservationOrigin, Origin,
    Place, Scope, ScopeKind, SessionId, SessionKind, SessionMeta, StoreError, Timestamp, Venue,
};
use daybook_text::instruction::is_instruction;
use daybook_text::prepare_event;
use daybook_text::raw::{RawEvent, Via};
use daybook_text::tokens::outlined_text;

use super::{entry_event, file_session};
use crate::append::split::split_batches;
use crate::bounded;
use crate::homes::{
    ENTRY_BYTES, EntryAuthor, FILE_BYTES, FileRole, Home, HomeEntry, HomeOwner, folder,
    memory_entries, owner, unreadable_lines,
};
use crate::import::{FileReport, FileStatus, READER_VERSION};
use crate::jobs::WorkerContext;
use crate::places::stored_path::stored_path;

/// What a take-over did.
#[derive(Debug, Default)]
pub struct TakenOver {
    /// The import that it is part of; `None` when there was nothing new.
    pub import: Option<ImportNo>,
    /// Each file that is no transcript, in the order of their paths.
    pub files: Vec<FileReport>,
    /// Sessions that hold the entries of files, of those that had new ones.
    pub sessions: Vec<SessionId>,
    /// Secrets that were hidden, by rule.
    pub secrets: BTreeMap<String, u64>,
}

/// Takes over the memory files of a home, as part of `import`, or of a new import named `what` where that is `None`. A
/// file that cannot be read, or is not text, is reported, and the others are taken over. Repeating it adds nothing.
///
/// # Errors
/// When the store fails; what was stored before stays, and repeating it adds the rest.
pub async fn take_over(
    worker: &WorkerContext,
    home: &Home,
    import: Option<ImportNo>,
    what: &str,
) -> Result<TakenOver, StoreError> {
    let mut taking = TakeOver {
        worker,
        home,
        what,
        taken: TakenOver {
            import,
            ..TakenOver::default()
        },
        projects: HashMap::new(),
    };
    for file in &home.files {
        let report = match file.role {
            FileRole::Memory => taking.take_file(&file.path).await?,
            FileRole::Transcript => continue,
            FileRole::Ledger => {
                let why = "it records which sessions were learned from".to_owned();
                taking.report(&file.path, FileStatus::Companion(why))
            }
            FileRole::Companion(why) => {
                taking.report(&file.path, FileStatus::Companion(why.to_owned()))
            }
            FileRole::Unknown(why) => {
                taking.report(&file.path, FileStatus::Unknown(why.to_owned()))
            }
        };
        taking.taken.files.push(report);
    }
    if let Some(import) = taking.taken.import {
        let now = worker.clock.now();
        worker.store.end_import(&worker.tenant, import, now).await?;
    }
    Ok(taking.taken)
}

struct TakeOver<'a> {
    worker: &'a WorkerContext,
    home: &'a Home,
    what: &'a str,
    taken: TakenOver,
    /// The scope and the root of each folder that an entry names.
    projects: HashMap<String, Option<(Scope, String)>>,
}

/// An entry on its way into memory.
struct TakenEntry {
    event: NewEvent,
    entry: HomeEntry,
    /// What makes it understandable, without secrets.
    context: Option<String>,
    scope: Scope,
}

impl TakeOver<'_> {
    async fn take_file(&mut self, path: &str) -> Result<FileReport, StoreError> {
        let file = self.home.at(path);
        let (store, tenant) = (&self.worker.store, &self.worker.tenant);
        let stored = stored_path(&self.home.root.join(path));
        let (size, modified) = stamp(&file);
        let known = store.sources_at(tenant, &[&stored]).await?;
        let is_current = |source: &TranscriptSource| {
            source.size == size && source.modified == modified && source.session.is_some()
        };
        if known.iter().any(is_current) {
            return Ok(self.report(path, FileStatus::Unchanged));
        }
        let text = match bounded::read_text(&file, FILE_BYTES) {
            Ok(text) => text,
            Err(why) => return Ok(self.report(path, FileStatus::Unreadable(why.to_string()))),
        };
        let owner = self.scope_of(&owner(self.home.kind, path));
        if is_off(&self.worker.switches, &owner) {
            let why = format!("memory is switched off for {owner}");
            return Ok(self.report(path, FileStatus::Unknown(why)));
        }
        let modified_at = Timestamp(modified / 1_000_000);
        let (taken, long) = self.entries(path, &text, (&owner, modified_at)).await?;
        let is_new = known.iter().all(|source| source.session.is_none());
        let status = match is_new {
            true => FileStatus::New,
            false => FileStatus::Rewritten,
        };
        let mut report = self.report(path, status);
        let too_long = |line| (line, format!("an entry of more than {ENTRY_BYTES} bytes"));
        let mut bad = unreadable_lines(self.home.kind, &text);
        bad.extend(long.into_iter().map(too_long));
        report.bad_lines = u32::try_from(bad.len()).unwrap_or(u32::MAX);
        report.first_bad = bad.into_iter().min();
        let session = file_session(tenant, self.home, path);
        report.session = Some(session.to_string());
        let (added, known) = self.append(&session, &owner, &taken).await?;
        (report.added, report.known) = (added, known);
        let ids: HashSet<EventId> = taken.iter().map(|one| one.event.id).collect();
        self.observe(&session, taken).await?;
        if !is_new {
            self.unlearn(&session, &ids).await?;
        }
        // The file counts as read once its memories are stored: what was interrupted is repeated.
        let source = TranscriptSource {
            path: stored,
            format: self.home.kind.format(),
            session: Some(session.clone()),
            claimed_id: None,
            size,
            modified,
            offset: text.len() as u64,
            lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
            fingerprint: (0, 0),
            bad_lines: report.bad_lines,
            first_bad: report.first_bad.clone(),
            secrets: 0,
            state: String::new(),
            failure: None,
            reading: READER_VERSION,
        };
        let import = self.taken.import;
        self.worker
            .store
            .put_source(&self.worker.tenant, &source, import)
            .await?;
        if added > 0 {
            self.taken.sessions.push(session);
        }
        Ok(report)
    }

    /// The entries of a file, and the lines of those that are too long.
    async fn entries(
        &mut self,
        path: &str,
        text: &str,
        (owner, modified): (&Scope, Timestamp),
    ) -> Result<(Vec<TakenEntry>, Vec<u32>), StoreError> {
        let (mut taken, mut long) = (Vec::new(), Vec::new());
        for entry in memory_entries(self.home.kind, path, text) {
            if entry.text.len() > ENTRY_BYTES {
                long.push(entry.line);
                continue;
            }
            let place = entry.folder.clone().or_else(|| folder(self.home, path));
            let project = match (&place, owner.name == self.worker.person) {
                (Some(folder), true) => self.project_of(folder).await?,
                (Some(_), false) | (None, _) => None,
            };
            let (scope, root) = match project {
                Some((scope, root)) => (scope, Some(root)),
                None => (owner.clone(), None),
            };
            let event = self.event(path, &entry, modified, root);
            let redactor = &self.worker.redactor;
            let context = entry.context.as_deref();
            let context = context.map(|context| redactor.redact(context).text.into_owned());
            taken.push(TakenEntry {
                event,
                entry,
                context,
                scope,
            });
        }
        Ok((taken, long))
    }

    fn event(
        &mut self,
        path: &str,
        entry: &HomeEntry,
        modified: Timestamp,
        root: Option<String>,
    ) -> NewEvent {
        let raw = RawEvent {
            id: EventId(0),
            line: entry.line,
            origin: match entry.author {
                EntryAuthor::Person => Origin::Human,
                EntryAuthor::Agent => Origin::Assistant,
                EntryAuthor::Outside => Origin::ToolResult,
            },
            at: entry.at.unwrap_or(modified),
            text: entry.text.clone(),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            reports_external: entry.author == EntryAuthor::Outside,
            place: root.map(|root| Place { root, branch: None }),
            via: Via::Message,
            mentions: Vec::new(),
            retracts: Vec::new(),
        };
        let (event, findings) = prepare_event(&self.worker.redactor, raw);
        for finding in findings {
            *self
                .taken
                .secrets
                .entry(finding.rule.to_string())
                .or_default() += 1;
        }
        NewEvent {
            id: entry_event(path, &event.text),
            ..event
        }
    }

    /// Appends the events of a file, and returns how many are new and how many were known.
    async fn append(
        &mut self,
        session: &SessionId,
        owner: &Scope,
        taken: &[TakenEntry],
    ) -> Result<(u64, u64), StoreError> {
        let import = self.import().await?;
        let worker = self.worker;
        let person = owner.kind == ScopeKind::User && owner.name == worker.person;
        let user = (owner.kind == ScopeKind::User && !person).then(|| owner.name.clone());
        // A search finds the words of a session: those of an agent, a team, a room or another user are theirs alone.
        let filed_in = (!person).then(|| owner.to_string());
        let events: Vec<NewEvent> = taken.iter().map(|one| one.event.clone()).collect();
        let (mut added, mut known) = (0, 0);
        for events in split_batches(events) {
            let append = Append {
                session: SessionMeta {
                    id: session.clone(),
                    // The entries are memories already; extracting them would double them.
                    kind: SessionKind::MemoryAgent,
                    memory_off: false,
                    forked_from: None,
                    user: user.clone(),
                    surface: None,
                    venue: Venue {
                        filed_in: filed_in.clone(),
                        ..Venue::default()
                    },
                },
                events,
                remotes: Vec::new(),
                source: None,
                import: Some(import),
                patience: DueLimits::default(),
                urgent: None,
                switches: worker.switches.clone(),
                rules: worker.redactor.revision(),
                now: worker.clock.now(),
            };
            let appended = worker.store.append(&append).await?;
            added += appended.added;
            known += appended.known;
        }
        Ok((added, known))
    }

    /// Stores the memories of a file. A store refuses those that a person forgot before.
    async fn observe(&self, session: &SessionId, taken: Vec<TakenEntry>) -> Result<(), StoreError> {
        let store = &self.worker.store;
        let Some(row) = SessionCatalog::session(&**store, session).await? else {
            return Ok(());
        };
        let ids = store.event_ids(session).await?;
        let seqs: HashMap<EventId, EventSeq> = ids.into_iter().map(|(seq, id)| (id, seq)).collect();
        let mut lines = HashMap::new();
        for after in (0..row.events.0).step_by(daybook_domain::limits::APPEND_EVENTS) {
            let most = daybook_domain::limits::APPEND_EVENTS;
            let upto = row.events;
            let events =
                SessionLog::events(&**store, session, EventSeq(after), upto, most, usize::MAX);
            lines.extend(
                events
                    .await?
                    .into_iter()
                    .map(|event| (event.seq, event.line)),
            );
        }
        let observations: Vec<Observation> = taken
            .into_iter()
            // An order that came from outside is found by a search, and becomes no memory.
            .filter(|one| {
                one.entry.author != EntryAuthor::Outside || !is_instruction(&one.event.text)
            })
            .filter_map(|one| {
                let seq = *seqs.get(&one.event.id)?;
                let line = lines.get(&seq).copied().unwrap_or(one.event.line);
                Some(observation(one, (session, &row.label), (seq, line)))
            })
            .collect();
        match observations.is_empty() {
            true => Ok(()),
            false => store.observe(&observations, self.worker.clock.now()).await,
        }
    }

    /// Withdraws the memories of entries that the file no longer holds, and that nothing else states.
    async fn unlearn(&self, session: &SessionId, ids: &HashSet<EventId>) -> Result<(), StoreError> {
        let (store, tenant) = (&self.worker.store, &self.worker.tenant);
        let known = store.event_ids(session).await?.into_iter();
        let gone: HashSet<EventSeq> = known
            .filter(|(_, id)| !ids.contains(id))
            .map(|(seq, _)| seq)
            .collect();
        if gone.is_empty() {
            return Ok(());
        }
        let is_gone = |evidence: &Evidence| {
            evidence.session == *session && evidence.events.iter().all(|seq| gone.contains(seq))
        };
        for state in read_all(|page| store.scopes(tenant, page)).await? {
            for one in ObservationStore::observations(&**store, &state.scope).await? {
                if one.evidence.iter().all(is_gone) {
                    let now = self.worker.clock.now();
                    store.retract(&state.scope, one.id, now).await?;
                }
            }
        }
        Ok(())
    }

    async fn import(&mut self) -> Result<ImportNo, StoreError> {
        if let Some(import) = self.taken.import {
            return Ok(import);
        }
        let (store, now) = (&self.worker.store, self.worker.clock.now());
        let import = store
            .begin_import(&self.worker.tenant, self.what, now)
            .await?;
        self.taken.import = Some(import);
        Ok(import)
    }

    fn scope_of(&self, owner: &HomeOwner) -> Scope {
        let (kind, name) = match owner {
            HomeOwner::Person => (ScopeKind::User, &self.worker.person),
            HomeOwner::User(name) => (ScopeKind::User, name),
            HomeOwner::Agent(name) => (ScopeKind::Agent, name),
            HomeOwner::Team(name) => (ScopeKind::Team, name),
            HomeOwner::Room(name) => (ScopeKind::Room, name),
        };
        Scope {
            tenant: self.worker.tenant.clone(),
            kind,
            name: name.clone(),
        }
    }

    /// The project of a folder, and the root of its checkout: that of the folder itself, or of one above it.
    async fn project_of(&mut self, folder: &str) -> Result<Option<(Scope, String)>, StoreError> {
        if let Some(known) = self.projects.get(folder) {
            return Ok(known.clone());
        }
        let (store, tenant) = (&self.worker.store, &self.worker.tenant);
        let mut found = None;
        for above in Path::new(folder).ancestors() {
            let root = above.to_string_lossy().into_owned();
            if let Some(name) = store.project_of_root(tenant, &root).await? {
                let scope = Scope {
                    tenant: tenant.clone(),
                    kind: ScopeKind::Project,
                    name,
                };
                let is_on = !is_off(&self.worker.switches, &scope);
                found = is_on.then_some((scope, root));
                break;
            }
        }
        self.projects.insert(folder.to_owned(), found.clone());
        Ok(found)
    }

    fn report(&self, path: &str, status: FileStatus) -> FileReport {
        FileReport {
            path: stored_path(&self.home.root.join(path)),
            format: self.home.kind.format(),
            status,
            session: None,
            added: 0,
            known: 0,
            bad_lines: 0,
            first_bad: None,
            partial_line: false,
            same_id_as: None,
        }
    }
}

fn is_off(switches: &Switches, scope: &Scope) -> bool {
    switches.all_off || switches.is_off(scope.kind, &scope.name)
}

/// The size of a file, and when it was changed, in nanoseconds since 1970; zeros where that is not known.
pub(super) fn stamp(path: &Path) -> (u64, i64) {
    let Ok(metadata) = fs::metadata(path) else {
        return (0, 0);
    };
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let nanos = modified.and_then(|at| i64::try_from(at.as_nanos()).ok());
    (metadata.len(), nanos.unwrap_or(0))
}

/// The memory that an entry of a file states.
fn observation(
    one: TakenEntry,
    (session, label): (&SessionId, &str),
    (seq, line): (EventSeq, u32),
) -> Observation {
    let TakenEntry {
        event,
        entry,
        context,
        scope,
    } = one;
    Observation {
        id: ObservationId::of(&scope, entry.kind, &event.text),
        scope,
        kind: entry.kind,
        tokens: outlined_text(&event.text),
        text: event.text,
        context,
        subject: None,
        stated: entry.author == EntryAuthor::Person,
        origin: match entry.author {
            EntryAuthor::Person => ObservationOrigin::Typed,
            EntryAuthor::Agent => ObservationOrigin::Concluded,
            EntryAuthor::Outside => ObservationOrigin::External,
        },
        quoted: true,
        evidence: vec![Evidence {
            session: session.clone(),
            label: label.to_owned(),
            events: vec![seq],
            lines: vec![line],
            at: event.at,
            branch: None,
            root: event.place.map(|place| place.root),
        }],
    }
}
