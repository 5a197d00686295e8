//! Values that tests begin from. Each has sound defaults; a test names only what it is about.

use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::index::{Document, Filter, Step};
use daybook_domain::seams::{Append, Store};
use daybook_domain::source::{ImportNo, Source};
use daybook_domain::trigger::Patience;
use daybook_domain::{
    Claim, ClaimLimits, Digest, EventId, EventSeq, Evidence, Extraction, FailedTry, Failure,
    FailureClass, JobKind, NewEvent, Observation, ObservationId, ObservationKind, Origin, Place,
    Project, Retry, Scope, ScopeKind, SessionId, SessionKind, SessionMeta, StoreError, Tenant,
    Timestamp, Wait, Yield,
};

/// The time at which tests begin: 2026-11-01T00:00:00Z.
pub const DAWN: Timestamp = Timestamp(1_793_491_200_000);
/// The lease that tests ask for.
pub const LEASE: Duration = Duration::from_secs(60);

/// So many seconds after [`DAWN`].
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

/// What an append says of an ordinary session.
#[must_use]
pub fn meta(id: &SessionId) -> SessionMeta {
    SessionMeta {
        id: id.clone(),
        kind: SessionKind::Root,
        memory_off: false,
        forked_from: None,
        user: None,
        surface: None,
    }
}

/// A claim of so many due jobs by `worker`.
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
        wait: Wait::default(),
        retry: Retry::default(),
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

/// What a person said at [`DAWN`], in no file. Its identity is its text.
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
        place: None,
        tokens: tokens(text),
    }
}

/// Changes one thing about an event.
pub trait EventShape {
    /// Said at that time.
    #[must_use]
    fn said_at(self, at: Timestamp) -> Self;
    /// Said by that one.
    #[must_use]
    fn said_by(self, origin: Origin) -> Self;
    /// Read from that line.
    #[must_use]
    fn on_line(self, line: u32) -> Self;
    /// Said while working there.
    #[must_use]
    fn in_place(self, root: &str) -> Self;
}

impl EventShape for NewEvent {
    fn said_at(self, at: Timestamp) -> Self {
        Self { at, ..self }
    }

    fn said_by(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    fn on_line(self, line: u32) -> Self {
        Self { line, ..self }
    }

    fn in_place(self, root: &str) -> Self {
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

/// So many events, `word 1`, `word 2`, …, a second apart.
#[must_use]
pub fn events(word: &str, count: u64) -> Vec<NewEvent> {
    let numbered = (1..=count).map(|n| event(&format!("{word} {n}")).said_at(at(n)));
    numbered.collect()
}

/// An append that comes from no file.
#[must_use]
pub fn append(id: &SessionId, events: Vec<NewEvent>) -> Append {
    Append {
        session: meta(id),
        events,
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: Patience::default(),
        urgent: None,
        switches: Switches::default(),
        now: DAWN,
    }
}

/// An append that moves a file on, as part of an import.
#[must_use]
pub fn imported(id: &SessionId, events: Vec<NewEvent>, path: &str, import: ImportNo) -> Append {
    let source = source(path, id, events.len() as u64);
    Append {
        source: Some(source),
        import: Some(import),
        ..append(id, events)
    }
}

/// A file of which so many bytes have been taken in.
#[must_use]
pub fn source(path: &str, id: &SessionId, offset: u64) -> Source {
    Source {
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

/// Evidence from events of a session, said one second apart from the first one's number on.
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
        quoted: true,
        evidence,
        tokens: tokens(text),
    }
}

/// What a pass over a window yields.
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
        extractor: "test/1".to_owned(),
    }
}

/// A pass over a window that taught nothing.
#[must_use]
pub fn nothing(id: &SessionId, window: (u64, u64)) -> Extraction {
    Extraction {
        yielded: Yield::Nothing,
        ..extraction(id, window, Vec::new())
    }
}

/// The documents that steps lead to, whole.
///
/// # Errors
/// When the store fails.
pub async fn candidates(
    store: &dyn Store,
    tenant: &Tenant,
    steps: &[Step],
    filter: &Filter,
) -> Result<Vec<Document>, StoreError> {
    let docs = store.matches(tenant, steps, filter).await?;
    store.documents(tenant, &docs).await
}
