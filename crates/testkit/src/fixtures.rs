//! Values that tests begin from. Each has valid defaults; a test sets only what it is about.

use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::index::{CandidateQuery, IndexedDocument, SearchFilter};
use daybook_domain::page::read_all;
use daybook_domain::seams::{Append, Store};
use daybook_domain::source::{ImportNo, TranscriptSource};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    Claim, ClaimLimits, Digest, EventId, EventSeq, Evidence, Extraction, ExtractionRecord,
    FailedTry, Failure, FailureClass, JobKind, NewEvent, Observation, ObservationId,
    ObservationKind, Origin, Place, Project, Provenance, RetryPolicy, RetryWait, RulesRevision,
    Scope, ScopeKind, SessionId, SessionKind, SessionMeta, StoreError, Tenant, Timestamp, Yield,
};
use proptest::prelude::*;

/// The time at which tests begin: 2026-11-01T00:00:00Z.
pub const DAWN: Timestamp = Timestamp(1_793_491_200_000);
/// How long the leases last that tests claim.
pub const LEASE: Duration = Duration::from_secs(60);

/// The time `seconds` after [`DAWN`].
#[must_use]
pub fn at(seconds: u64) -> Timestamp {
    DAWN.plus(Duration::from_secs(seconds))
}

/// A session of the local tenant.
#[must_use]
pub fn session(host_id: &str) -> SessionId {
    SessionId {
        tenant: Tenant::local(),
        agent: "claude-code".to_owned(),
        host_id: host_id.to_owned(),
    }
}

/// The properties that an append reports of an ordinary session.
#[must_use]
pub fn meta(id: &SessionId) -> SessionMeta {
    SessionMeta {
        id: id.clone(),
        kind: SessionKind::Root,
        memory_off: false,
        forked_from: None,
        user: None,
        surface: None,
        venue: daybook_domain::Venue::default(),
    }
}

/// A claim of up to `jobs` due jobs by the holder `worker`.
#[must_use]
pub fn claim_of(kind: JobKind, now: Timestamp, jobs: usize) -> Claim<'static> {
    Claim {
        kind,
        holder: "worker",
        now,
        lease: LEASE,
        limits: ClaimLimits::jobs(jobs),
    }
}

/// A try that failed, as engine `1` reports it, with the longest wait.
#[must_use]
pub fn failed(class: FailureClass) -> FailedTry {
    FailedTry {
        failure: Failure {
            class,
            message: "no usable answer".to_owned(),
        },
        wait: RetryWait::default(),
        retry: RetryPolicy::default(),
        jitter: 1.0,
        engine: "1".to_owned(),
    }
}

/// The words of a text as tokens: lower case, joined by blanks.
#[must_use]
pub fn tokens(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// A person's message at [`DAWN`], from no file. Its identity is its text.
#[must_use]
pub fn event(text: &str) -> NewEvent {
    NewEvent {
        id: EventId::of(&[text.as_bytes()]),
        line: 0,
        origin: Origin::Human,
        at: DAWN,
        text: text.to_owned(),
        tool: None,
        call: None,
        status: None,
        sidechain: false,
        reports_external: false,
        place: None,
        tokens: tokens(text),
        retracts: Vec::new(),
    }
}

/// The append where settings have it pollute its session: its last event brings text from outside.
#[must_use]
pub fn polluting(mut append: Append) -> Append {
    append.switches.pollution.is_on = true;
    if let Some(event) = append.events.last_mut() {
        event.reports_external = true;
    }
    append
}

/// An event that retracts those at these positions of its session.
#[must_use]
pub fn retraction(text: &str, seqs: &[u64]) -> NewEvent {
    NewEvent {
        origin: Origin::Retraction,
        tokens: String::new(),
        retracts: seqs.iter().copied().map(EventSeq).collect(),
        ..event(text)
    }
}

/// Changes one property of an event.
pub trait EventFixture {
    /// Sets the event's time.
    #[must_use]
    fn with_time(self, at: Timestamp) -> Self;
    /// Sets the event's origin.
    #[must_use]
    fn with_origin(self, origin: Origin) -> Self;
    /// Sets the line that the event was read from.
    #[must_use]
    fn with_line(self, line: u32) -> Self;
    /// Sets the event's place to the branch `main` of `root`.
    #[must_use]
    fn with_place(self, root: &str) -> Self;
}

impl EventFixture for NewEvent {
    fn with_time(self, at: Timestamp) -> Self {
        Self { at, ..self }
    }

    fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    fn with_line(self, line: u32) -> Self {
        Self { line, ..self }
    }

    fn with_place(self, root: &str) -> Self {
        let place = Some(place(root));
        Self { place, ..self }
    }
}

/// A place on branch `main`.
#[must_use]
pub fn place(root: &str) -> Place {
    Place {
        root: root.to_owned(),
        branch: Some("main".to_owned()),
    }
}

/// `count` events, `word 1`, `word 2`, …, one second apart.
#[must_use]
pub fn events(word: &str, count: u64) -> Vec<NewEvent> {
    let numbered = (1..=count).map(|n| event(&format!("{word} {n}")).with_time(at(n)));
    numbered.collect()
}

/// The rules for secrets by which fixtures count as redacted.
pub const RULES: RulesRevision = RulesRevision(7);

/// An append that comes from no file.
#[must_use]
pub fn append(id: &SessionId, events: Vec<NewEvent>) -> Append {
    Append {
        session: meta(id),
        events,
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: Switches::default(),
        rules: RULES,
        now: DAWN,
    }
}

/// An append that advances a file's progress, as part of an import.
#[must_use]
pub fn imported(id: &SessionId, events: Vec<NewEvent>, path: &str, import: ImportNo) -> Append {
    let source = source(path, id, events.len() as u64);
    Append {
        source: Some(source),
        import: Some(import),
        ..append(id, events)
    }
}

/// A file of which `offset` bytes have been imported.
#[must_use]
pub fn source(path: &str, id: &SessionId, offset: u64) -> TranscriptSource {
    TranscriptSource {
        path: path.to_owned(),
        format: "claude-code".to_owned(),
        session: Some(id.clone()),
        size: offset,
        modified: 0,
        offset,
        lines: u32::try_from(offset).unwrap_or(u32::MAX),
        fingerprint: (offset, u64::MAX - offset),
        bad_lines: 1,
        first_bad: Some((1, "not JSON".to_owned())),
        secrets: 0,
        state: "{}".to_owned(),
        failure: None,
        reading: 0,
        claimed_id: None,
    }
}

/// The scope of a project of the local tenant.
#[must_use]
pub fn project_scope(key: &str) -> Scope {
    Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::Project,
        name: key.to_owned(),
    }
}

/// The scope of a person of the local tenant.
#[must_use]
pub fn user_scope(name: &str) -> Scope {
    Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::User,
        name: name.to_owned(),
    }
}

/// A project that is known by its remote.
#[must_use]
pub fn project(key: &str) -> Project {
    Project {
        key: key.to_owned(),
        identity: format!("example.org/ada/{key}"),
        guessed: false,
    }
}

/// Evidence from events of a session: the first is as many seconds after [`DAWN`] as its number, the others follow.
#[must_use]
pub fn evidence(id: &SessionId, events: &[u64]) -> Evidence {
    Evidence {
        session: id.clone(),
        label: id.host_id.chars().take(4).collect(),
        events: events.iter().map(|&seq| EventSeq(seq)).collect(),
        lines: events
            .iter()
            .map(|&seq| u32::try_from(seq).unwrap_or(u32::MAX))
            .collect(),
        at: at(events.first().copied().unwrap_or_default()),
        branch: Some("main".to_owned()),
        root: None,
    }
}

/// Something that a person stated.
#[must_use]
pub fn observation(scope: &Scope, text: &str, evidence: Vec<Evidence>) -> Observation {
    let kind = ObservationKind::Preference;
    Observation {
        id: ObservationId::of(scope, kind, text),
        scope: scope.clone(),
        kind,
        text: text.to_owned(),
        context: Some(format!("context of {text}")),
        subject: None,
        stated: true,
        origin: daybook_domain::ObservationOrigin::Typed,
        quoted: true,
        evidence,
        tokens: tokens(text),
    }
}

/// The result of one pass over a window.
#[must_use]
pub fn extraction(
    id: &SessionId,
    (from, to): (u64, u64),
    observations: Vec<Observation>,
) -> Extraction {
    Extraction {
        session: id.clone(),
        from: EventSeq(from),
        to: EventSeq(to),
        yielded: Yield::Something {
            observations,
            digest: Box::new(Digest::default()),
        },
        retracted: Vec::new(),
        concerns: Vec::new(),
        writes: Vec::new(),
        quarantined: Vec::new(),
        provenance: Provenance::of("test/1"),
    }
}

/// Live extractions of all sessions of a tenant, by session and window.
///
/// # Errors
/// What the store answers.
pub async fn extractions_of_all(
    store: &dyn Store,
    tenant: &Tenant,
) -> Result<Vec<ExtractionRecord>, StoreError> {
    let mut all = Vec::new();
    for session in read_all(|page| store.sessions(tenant, page)).await? {
        all.extend(store.extractions_of(&session.id).await?);
    }
    all.sort_by(|a, b| (&a.session, a.from, a.to).cmp(&(&b.session, b.from, b.to)));
    Ok(all)
}

/// A pass over a window that yielded no observation.
#[must_use]
pub fn nothing(id: &SessionId, window: (u64, u64)) -> Extraction {
    Extraction {
        yielded: Yield::Nothing,
        ..extraction(id, window, Vec::new())
    }
}

/// The whole documents that candidate queries find.
///
/// # Errors
/// When the store fails.
pub async fn candidates(
    store: &dyn Store,
    tenant: &Tenant,
    steps: &[CandidateQuery],
    filter: &SearchFilter,
) -> Result<Vec<IndexedDocument>, StoreError> {
    let docs = store.matches(tenant, steps, filter).await?;
    store.documents(tenant, &docs).await
}

/// Strings in which joints, marks, cases and scripts meet more often than in any real text.
pub fn unruly_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-cA-C0-2sS_./:\\\\@'’\"“” +=-]{0,120}",
        "[aÉßİςжЁ\u{300}\u{301}\u{338}\u{5b0}\u{64b}\u{94d}\u{200c}\u{fe0f}हि猫がデーกที่가나다ﬁＡ＂．\" -]{0,60}",
        "[A-Za-z0-9+/]{60,200}",
    ]
}
