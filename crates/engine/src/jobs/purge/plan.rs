//! Finds what a purge removes: events, what rests on them, and the words by which files are searched.
//!
//! Nothing is changed here. Not here: removing it (`run`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::page::read_all;
use daybook_domain::seams::{ObservationStore, SessionCatalog, SessionLog};
use daybook_domain::{
    Event, EventId, EventSeq, Observation, ObservationId, PurgeKey, Scope, ScopeKind, SeqRange,
    Session, SessionId, StoreError, Timestamp, Tombstone,
};

use super::intent::PurgeIntent;
use crate::files::purged_text::index_words;
use crate::jobs::WorkerContext;
use crate::jobs::memories::Memory;

/// Events that are read at once.
const EVENTS: usize = daybook_domain::limits::APPEND_EVENTS;
/// Most bytes of their text.
const BYTES: usize = daybook_domain::limits::APPEND_BYTES;
/// Shortest id that is looked for in texts, in bytes: a shorter one is a word.
const NAME_BYTES: usize = 8;

/// What a person purges.
#[derive(Debug, Clone)]
pub enum PurgeSelection {
    /// These memories, and the events that they rest on.
    Memories(Vec<Memory>),
    /// A whole session.
    Session(SessionId),
    /// A project: its memory, and all events that happened in its folders.
    Project(Scope),
    /// A user: their memory, their sessions, and what other memories say about them by name.
    User(Scope),
    /// All events before a time.
    Before(Timestamp),
    /// What was purged before, according to these tombstones.
    Tombstones(BTreeSet<Tombstone>),
}

impl PurgeSelection {
    fn kind(&self) -> &'static str {
        match self {
            Self::Memories(_) => "memory",
            Self::Session(_) => "session",
            Self::Project(_) => "project",
            Self::User(_) => "user",
            Self::Before(_) => "before",
            Self::Tombstones(_) => "tombstones",
        }
    }
}

/// What a purge would remove.
#[derive(Debug, Clone)]
pub struct PurgePlan {
    /// The purge, to be recorded and run.
    pub intent: PurgeIntent,
    /// Sessions of which nothing is left.
    pub sessions: u64,
    /// Sessions of which a part is left; that is extracted again.
    pub shortened: u64,
    /// Events.
    pub events: u64,
    /// Observations of which nothing is left, by kind.
    pub observations: BTreeMap<&'static str, u64>,
    /// Observations that lose a part of their evidence, and keep the rest.
    pub kept: u64,
    /// Accounts of windows.
    pub digests: u64,
    /// Scopes whose memory rests on any of it.
    pub scopes: BTreeSet<Scope>,
    /// Transcripts that the events were read from. They stay.
    pub transcripts: Vec<String>,
}

impl PurgePlan {
    /// Whether there is nothing to remove.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let intent = &self.intent;
        intent.events.is_empty() && intent.observations.is_empty() && intent.scopes.is_empty()
    }
}

/// Finds what a selection removes. `key` is the tenant's key of tombstones.
///
/// # Errors
/// When the store fails.
pub async fn plan(
    worker: &WorkerContext,
    key: &PurgeKey,
    selection: &PurgeSelection,
) -> Result<PurgePlan, StoreError> {
    let mut planning = Planning::new(worker, key, selection);
    planning.select_scopes(selection).await?;
    planning.select_memories(selection);
    for session in
        read_all(|page| SessionCatalog::sessions(&*worker.store, &worker.tenant, page)).await?
    {
        planning.select_events(selection, &session).await?;
    }
    planning.read_observations(selection).await?;
    Ok(planning.finish())
}

struct Planning<'a> {
    worker: &'a WorkerContext,
    key: &'a PurgeKey,
    /// Events that memories rest on, by session.
    cited: BTreeMap<SessionId, BTreeSet<EventSeq>>,
    projects: BTreeMap<String, String>,
    words: BTreeSet<String>,
    statements: BTreeSet<String>,
    marks: BTreeSet<Tombstone>,
    purged: BTreeMap<SessionId, PurgedSession>,
    plan: PurgePlan,
}

/// The purged events of a session.
struct PurgedSession {
    ranges: Vec<SeqRange>,
    is_whole: bool,
}

impl PurgedSession {
    fn has(&self, seq: EventSeq) -> bool {
        self.ranges
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&seq))
    }
}

impl<'a> Planning<'a> {
    fn new(worker: &'a WorkerContext, key: &'a PurgeKey, selection: &PurgeSelection) -> Self {
        Self {
            worker,
            key,
            cited: BTreeMap::new(),
            projects: BTreeMap::new(),
            words: BTreeSet::new(),
            statements: BTreeSet::new(),
            marks: BTreeSet::new(),
            purged: BTreeMap::new(),
            plan: PurgePlan {
                intent: PurgeIntent {
                    tenant: worker.tenant.clone(),
                    at: worker.clock.now(),
                    kind: selection.kind().to_owned(),
                    events: Vec::new(),
                    observations: Vec::new(),
                    scopes: Vec::new(),
                    tombstones: Vec::new(),
                    words: Vec::new(),
                    names_of_people: Vec::new(),
                    statements: Vec::new(),
                    names: Vec::new(),
                    lines: BTreeMap::new(),
                    gone: Vec::new(),
                },
                sessions: 0,
                shortened: 0,
                events: 0,
                observations: BTreeMap::new(),
                kept: 0,
                digests: 0,
                scopes: BTreeSet::new(),
                transcripts: Vec::new(),
            },
        }
    }

    async fn select_scopes(&mut self, selection: &PurgeSelection) -> Result<(), StoreError> {
        let intent = &mut self.plan.intent;
        match selection {
            PurgeSelection::Project(scope) => {
                for (place, project) in self.worker.store.places(&self.worker.tenant).await? {
                    if let Some(project) = project {
                        self.projects.insert(place.root, project);
                    }
                }
                intent.scopes.push(scope.clone());
            }
            PurgeSelection::User(scope) => {
                intent.names_of_people.push(index_words(&scope.name));
                intent.scopes.push(scope.clone());
            }
            PurgeSelection::Tombstones(marks) => {
                for scope in known_scopes(self.worker).await? {
                    if marks.contains(&self.key.scope(&scope)) {
                        intent.scopes.push(scope);
                    }
                }
            }
            PurgeSelection::Memories(_)
            | PurgeSelection::Session(_)
            | PurgeSelection::Before(_) => {}
        }
        self.marks
            .extend(intent.scopes.iter().map(|scope| self.key.scope(scope)));
        Ok(())
    }

    fn select_memories(&mut self, selection: &PurgeSelection) {
        let PurgeSelection::Memories(memories) = selection else {
            return;
        };
        for memory in memories {
            self.statements.insert(index_words(&memory.words));
            self.words.extend(words_of(&memory.words));
            for observation in &memory.observations {
                let place = (memory.scope.clone(), observation.id);
                self.plan.intent.observations.push(place);
                for evidence in &observation.evidence {
                    let cited = self.cited.entry(evidence.session.clone()).or_default();
                    cited.extend(&evidence.events);
                }
            }
        }
    }

    /// Finds the purged events of a session, and reads their words.
    async fn select_events(
        &mut self,
        selection: &PurgeSelection,
        session: &Session,
    ) -> Result<(), StoreError> {
        let store = &self.worker.store;
        let is_all = self.takes_all(selection, session);
        if !is_all && !self.may_take_some(selection, session) {
            return Ok(());
        }
        let ids: BTreeMap<EventSeq, EventId> =
            store.event_ids(&session.id).await?.into_iter().collect();
        let (mut after, mut purged) = (EventSeq(0), Vec::new());
        let (mut left, mut lines) = (0_u64, Vec::new());
        loop {
            let events =
                SessionLog::events(&**store, &session.id, after, session.events, EVENTS, BYTES)
                    .await?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            for event in &events {
                let id = ids.get(&event.seq).copied();
                if !is_all && !self.takes(selection, &session.id, event, id) {
                    left += 1;
                    continue;
                }
                purged.push(event.seq);
                lines.push(event.line);
                self.words.extend(words_of(&event.text));
                let names = [
                    event.tool.as_deref(),
                    event.place.as_ref().map(|place| &*place.root),
                    event
                        .place
                        .as_ref()
                        .and_then(|place| place.branch.as_deref()),
                ];
                for name in names.into_iter().flatten() {
                    self.words.extend(words_of(name));
                }
                self.marks
                    .extend(id.map(|id| self.key.event(&session.id, id)));
            }
        }
        if purged.is_empty() && !is_all {
            return Ok(());
        }
        let is_whole = left == 0;
        if is_whole {
            self.marks.insert(self.key.name_of(&session.id));
        }
        if is_whole && selection.session_is_over() {
            self.marks.insert(self.key.session(&session.id));
        }
        self.note_session(session, (purged, lines), is_whole).await
    }

    async fn note_session(
        &mut self,
        session: &Session,
        (purged, lines): (Vec<EventSeq>, Vec<u32>),
        is_whole: bool,
    ) -> Result<(), StoreError> {
        let store = &self.worker.store;
        self.plan.events += purged.len() as u64;
        self.plan.sessions += u64::from(is_whole);
        self.plan.shortened += u64::from(!is_whole);
        let ranges = match is_whole {
            true => vec![(EventSeq(0), EventSeq(u64::from(u32::MAX)))],
            false => ranges_of(&purged),
        };
        let cited = match is_whole {
            true => vec![(0, u32::MAX)],
            false => line_ranges(&lines),
        };
        let intent = &mut self.plan.intent;
        intent.lines.insert(session.label.clone(), cited);
        if is_whole {
            if session.id.host_id.len() >= NAME_BYTES {
                intent.names.push(session.id.host_id.clone());
            }
            let texts = store.session_texts(&session.id).await?;
            for evidence in &texts.evidence {
                let parts = [
                    Some(&evidence.text),
                    evidence.context.as_ref(),
                    evidence.subject.as_ref(),
                ];
                for text in parts.into_iter().flatten() {
                    self.statements.insert(index_words(text));
                    self.words.extend(words_of(text));
                }
            }
            let texts = texts.texts.iter().flat_map(|(_, text)| strings_of(text));
            self.words.extend(texts.flat_map(|text| words_of(&text)));
            self.words.extend(words_of(&session.id.host_id));
            self.words
                .extend(session.user.as_deref().into_iter().flat_map(words_of));
        }
        let sources = store.sources_of(&session.id).await?;
        self.plan
            .transcripts
            .extend(sources.into_iter().map(|source| source.path));
        for record in store.extractions_of(&session.id).await? {
            let overlaps = |(from, to): &SeqRange| record.from <= *to && *from <= record.to;
            self.plan.digests += u64::from(record.digest.is_some() && ranges.iter().any(overlaps));
        }
        self.plan
            .intent
            .events
            .push((session.id.clone(), ranges.clone()));
        let purged = PurgedSession { ranges, is_whole };
        self.purged.insert(session.id.clone(), purged);
        Ok(())
    }

    fn takes_all(&self, selection: &PurgeSelection, session: &Session) -> bool {
        match selection {
            PurgeSelection::Session(id) => *id == session.id,
            PurgeSelection::User(scope) => self.is_of_user(session, scope),
            PurgeSelection::Tombstones(marks) => marks.contains(&self.key.session(&session.id)),
            PurgeSelection::Memories(_)
            | PurgeSelection::Project(_)
            | PurgeSelection::Before(_) => false,
        }
    }

    fn is_of_user(&self, session: &Session, scope: &Scope) -> bool {
        let user = session.user.as_ref().unwrap_or(&self.worker.person);
        *user == scope.name
    }

    fn may_take_some(&self, selection: &PurgeSelection, session: &Session) -> bool {
        match selection {
            PurgeSelection::Memories(_) => self.cited.contains_key(&session.id),
            PurgeSelection::Before(until) => session.first_at < *until,
            PurgeSelection::Project(_) | PurgeSelection::Tombstones(_) => true,
            PurgeSelection::Session(_) | PurgeSelection::User(_) => false,
        }
    }

    fn takes(
        &self,
        selection: &PurgeSelection,
        session: &SessionId,
        event: &Event,
        id: Option<EventId>,
    ) -> bool {
        match selection {
            PurgeSelection::Memories(_) => self
                .cited
                .get(session)
                .is_some_and(|cited| cited.contains(&event.seq)),
            PurgeSelection::Project(scope) => event
                .place
                .as_ref()
                .and_then(|place| self.projects.get(&place.root))
                .is_some_and(|project| *project == scope.name),
            PurgeSelection::Before(until) => event.at != Timestamp::ZERO && event.at < *until,
            PurgeSelection::Tombstones(marks) => {
                id.is_some_and(|id| marks.contains(&self.key.event(session, id)))
            }
            PurgeSelection::Session(_) | PurgeSelection::User(_) => false,
        }
    }

    /// Finds the observations that rest on purged events, in all scopes.
    async fn read_observations(&mut self, selection: &PurgeSelection) -> Result<(), StoreError> {
        let mut chosen: BTreeSet<(Scope, ObservationId)> =
            std::mem::take(&mut self.plan.intent.observations)
                .into_iter()
                .collect();
        for scope in known_scopes(self.worker).await? {
            let is_whole = self.plan.intent.scopes.contains(&scope);
            let held = ObservationStore::observations(&*self.worker.store, &scope).await?;
            for observation in held {
                let place = (scope.clone(), observation.id);
                let is_chosen =
                    chosen.contains(&place) || self.is_named_by(selection, &scope, &observation);
                let (gone, left) = self.evidence_of(&observation);
                if !is_chosen && !is_whole && gone == 0 {
                    continue;
                }
                if is_chosen && !is_whole {
                    self.marks
                        .insert(self.key.observation(&scope, observation.id));
                    chosen.insert(place);
                }
                self.note_observation(&scope, &observation, is_chosen || is_whole || left == 0);
            }
        }
        self.plan.intent.observations = chosen.into_iter().collect();
        Ok(())
    }

    /// Whether an observation goes by itself, whatever it rests on.
    fn is_named_by(
        &self,
        selection: &PurgeSelection,
        scope: &Scope,
        observation: &Observation,
    ) -> bool {
        match selection {
            PurgeSelection::User(_) => {
                let parts = [
                    Some(&observation.text),
                    observation.context.as_ref(),
                    observation.subject.as_ref(),
                ];
                let mut words = parts
                    .into_iter()
                    .flatten()
                    .map(|text| format!(" {} ", index_words(text)));
                let names = &self.plan.intent.names_of_people;
                words.any(|words| {
                    names
                        .iter()
                        .any(|name| words.contains(&format!(" {name} ")))
                })
            }
            PurgeSelection::Tombstones(marks) => {
                marks.contains(&self.key.observation(scope, observation.id))
            }
            PurgeSelection::Memories(_)
            | PurgeSelection::Session(_)
            | PurgeSelection::Project(_)
            | PurgeSelection::Before(_) => false,
        }
    }

    /// How many pieces of evidence rest on a purged event, and how many do not.
    fn evidence_of(&self, observation: &Observation) -> (usize, usize) {
        let is_purged = |evidence: &&daybook_domain::Evidence| {
            self.purged.get(&evidence.session).is_some_and(|purged| {
                purged.is_whole || evidence.events.iter().any(|seq| purged.has(*seq))
            })
        };
        let gone = observation.evidence.iter().filter(is_purged).count();
        (gone, observation.evidence.len() - gone)
    }

    fn note_observation(&mut self, scope: &Scope, observation: &Observation, is_gone: bool) {
        self.plan.scopes.insert(scope.clone());
        if !is_gone {
            self.plan.kept += 1;
            return;
        }
        *self
            .plan
            .observations
            .entry(observation.kind.as_str())
            .or_default() += 1;
        let parts = [
            Some(&observation.text),
            observation.context.as_ref(),
            observation.subject.as_ref(),
        ];
        for text in parts.into_iter().flatten() {
            self.statements.insert(index_words(text));
            self.words.extend(words_of(text));
        }
        self.plan.intent.gone.push(observation.id);
        self.plan.intent.names.push(observation.id.to_string());
    }

    fn finish(self) -> PurgePlan {
        let mut plan = self.plan;
        let mut statements = self.statements;
        statements.remove("");
        plan.intent.words = self.words.into_iter().collect();
        plan.intent.statements = statements.into_iter().collect();
        plan.intent.tombstones = self.marks.into_iter().collect();
        plan.transcripts.sort();
        plan.transcripts.dedup();
        plan
    }
}

impl PurgeSelection {
    /// Whether nothing is stored of a session that it takes as a whole, also what its host adds later.
    fn session_is_over(&self) -> bool {
        match self {
            Self::Session(_) | Self::User(_) | Self::Tombstones(_) => true,
            Self::Memories(_) | Self::Project(_) | Self::Before(_) => false,
        }
    }
}

/// The scopes of a tenant that the store or the disk knows.
pub(super) async fn known_scopes(worker: &WorkerContext) -> Result<BTreeSet<Scope>, StoreError> {
    let states = read_all(|page| worker.store.scopes(&worker.tenant, page)).await?;
    let mut scopes: BTreeSet<Scope> = states.into_iter().map(|state| state.scope).collect();
    scopes.extend(crate::files::audit::scopes_on_disk(
        &worker.root,
        &worker.tenant,
    ));
    if let Some(trees) = &worker.trees {
        let shared = trees.tree_heads(&worker.tenant).await?.into_iter();
        let there = shared.filter(|(_, head)| head.commit.is_some());
        scopes.extend(there.map(|(scope, _)| scope));
    }
    scopes.insert(Scope {
        tenant: worker.tenant.clone(),
        kind: ScopeKind::User,
        name: worker.person.clone(),
    });
    Ok(scopes)
}

fn words_of(text: &str) -> Vec<String> {
    let words = index_words(text);
    words
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The strings in a text of JSON; the text itself where it is none.
fn strings_of(text: &str) -> Vec<String> {
    fn collect(value: serde_json::Value, into: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => into.push(text),
            serde_json::Value::Array(values) => {
                values.into_iter().for_each(|one| collect(one, into))
            }
            serde_json::Value::Object(fields) => {
                fields.into_iter().for_each(|(_, one)| collect(one, into));
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            }
        }
    }
    let mut strings = Vec::new();
    match serde_json::from_str(text) {
        Ok(value) => collect(value, &mut strings),
        Err(_) => strings.push(text.to_owned()),
    }
    strings
}

/// Ascending positions as ranges.
fn ranges_of(seqs: &[EventSeq]) -> Vec<SeqRange> {
    let mut ranges: Vec<SeqRange> = Vec::new();
    for &seq in seqs {
        match ranges.last_mut() {
            Some((_, last)) if last.0 + 1 == seq.0 => *last = seq,
            _ => ranges.push((seq, seq)),
        }
    }
    ranges
}

fn line_ranges(lines: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted = lines.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.into_iter().map(|line| (line, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_become_ranges() {
        let seqs =
            |numbers: &[u64]| -> Vec<EventSeq> { numbers.iter().copied().map(EventSeq).collect() };
        let range = |from, to| (EventSeq(from), EventSeq(to));
        assert_eq!(
            ranges_of(&seqs(&[1, 2, 3, 7, 9, 10])),
            [range(1, 3), range(7, 7), range(9, 10)]
        );
        assert_eq!(ranges_of(&[]), []);
    }

    #[test]
    fn strings_are_found_in_json_and_other_text_counts_as_one() {
        assert_eq!(
            strings_of(r#"{"a":["one",{"b":"two"}],"c":3}"#),
            ["one", "two"]
        );
        assert_eq!(strings_of("plain"), ["plain"]);
    }
}
