//! Stores a note in a person's own words: as an event like any other, and at once as an observation, so
//! that it is found before any job runs.

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Append, SessionCatalog, SessionLog, Store};
use daybook_domain::time::Clock;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    EventId, Evidence, NewEvent, Observation, ObservationId, ObservationKind, ObservationOrigin,
    Origin, Place, Scope, ScopeKind, SessionId, SessionKind, SessionMeta, StoreError, Tenant,
    Venue,
};

use tracing::field::Empty;
use tracing::info_span;

use super::WorkerContext;
use crate::stage::within;
use daybook_text::names::redact_place;
use daybook_text::redact::Redactor;
use daybook_text::tokens::outlined_text;

/// The agent of the session of notes.
const AGENT: &str = "daybook";
/// Longest note, in bytes.
const NOTE: usize = 16 * 1024;

/// Where a note is stored. Storing one takes no lease and calls no model, so it needs no worker.
pub struct NoteTarget<'a> {
    /// The store of sessions and observations.
    pub store: &'a dyn Store,
    /// The present time.
    pub clock: &'a dyn Clock,
    /// The tenant.
    pub tenant: &'a Tenant,
    /// Where memory is switched off.
    pub switches: &'a Switches,
}

impl<'a> From<&'a WorkerContext> for NoteTarget<'a> {
    fn from(worker: &'a WorkerContext) -> Self {
        Self {
            store: &*worker.store,
            clock: &*worker.clock,
            tenant: &worker.tenant,
            switches: &worker.switches,
        }
    }
}

/// Stores `words` of `by` in `scope`, and returns the observation and the number of secrets redacted.
///
/// # Errors
/// [`StoreError::Refused`] for words that are blank or longer than 16 KiB; otherwise the store's.
pub async fn remember<'a>(
    target: impl Into<NoteTarget<'a>>,
    redactor: &Redactor,
    words: &str,
    scope: Scope,
    place: Option<Place>,
    by: Origin,
) -> Result<(Observation, usize), StoreError> {
    let origin = by.as_str();
    let span = info_span!("remember", %scope, origin, secrets = Empty, outcome = Empty);
    let work = store_note(target.into(), redactor, words, scope, place, by);
    within(span, work, |span, (_, secrets)| {
        span.record("secrets", secrets);
        span.record("outcome", "kept");
    })
    .await
}

async fn store_note(
    target: NoteTarget<'_>,
    redactor: &Redactor,
    words: &str,
    scope: Scope,
    place: Option<Place>,
    by: Origin,
) -> Result<(Observation, usize), StoreError> {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return Err(StoreError::Refused(
            "there is nothing to remember".to_owned(),
        ));
    }
    if words.len() > NOTE {
        return Err(StoreError::Refused(format!(
            "a note holds at most {NOTE} bytes"
        )));
    }
    let place = place.map(|place| redact_place(redactor, place));
    let redacted = redactor.redact(&words);
    let secrets = redacted.findings.len();
    let text = redacted.text.into_owned();
    let (session, venue, user) = session_of_notes(&scope, target.switches);
    let now = target.clock.now();
    let event = NewEvent {
        id: EventId::of(&[
            scope.to_string().as_bytes(),
            text.as_bytes(),
            &now.0.to_le_bytes(),
        ]),
        line: 0,
        origin: by,
        at: now,
        text: text.clone(),
        tool: None,
        call: None,
        status: None,
        sidechain: false,
        reports_external: false,
        place: place.clone(),
        tokens: outlined_text(&text),
        retracts: Vec::new(),
    };
    let append = Append {
        session: SessionMeta {
            id: session.clone(),
            // Notes become observations as they are written; extracting them again would double them.
            kind: SessionKind::MemoryAgent,
            memory_off: false,
            forked_from: None,
            user,
            surface: None,
            venue,
        },
        events: vec![event],
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: target.switches.clone(),
        rules: redactor.revision(),
        now,
    };
    let appended = target.store.append(&append).await?;
    let events = SessionLog::events(
        target.store,
        &session,
        before(appended.last),
        appended.last,
        1,
        1,
    )
    .await?;
    let label = SessionCatalog::session(target.store, &session)
        .await?
        .map(|session| session.label);
    let by_person = by == Origin::Human;
    let observation = Observation {
        id: ObservationId::of(&scope, ObservationKind::Note, &text),
        scope,
        kind: ObservationKind::Note,
        tokens: outlined_text(&text),
        text,
        // Agents read the web and other people's text: their notes must not pass for a person's word.
        context: (!by_person).then(|| "noted by an agent".to_owned()),
        subject: None,
        stated: by_person,
        origin: match by_person {
            true => ObservationOrigin::Typed,
            false => ObservationOrigin::Concluded,
        },
        quoted: true,
        evidence: vec![Evidence {
            session,
            label: label.unwrap_or_default(),
            events: vec![appended.last],
            lines: events.iter().map(|event| event.line).collect(),
            at: now,
            branch: place.as_ref().and_then(|place| place.branch.clone()),
            root: place.map(|place| place.root),
        }],
    };
    target
        .store
        .observe(std::slice::from_ref(&observation), now)
        .await?;
    Ok((observation, secrets))
}

fn before(seq: daybook_domain::EventSeq) -> daybook_domain::EventSeq {
    daybook_domain::EventSeq(seq.0.saturating_sub(1))
}

/// The session that holds a scope's notes, with its venue and its user. Notes of one room, team, agent or person lie in a
/// session of their own, because a search finds their words there, too.
fn session_of_notes(scope: &Scope, switches: &Switches) -> (SessionId, Venue, Option<String>) {
    let common = notes_session(&scope.tenant);
    let own = SessionId {
        host_id: format!("{} of {scope}", common.host_id),
        ..common.clone()
    };
    let filed = Venue {
        filed_in: Some(scope.to_string()),
        ..Venue::default()
    };
    match scope.kind {
        ScopeKind::Project => (common, Venue::default(), None),
        ScopeKind::User if scope.name == switches.person => (common, Venue::default(), None),
        ScopeKind::User => (own, filed, Some(scope.name.clone())),
        ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => (own, filed, None),
    }
}

/// The session of notes.
#[must_use]
pub fn notes_session(tenant: &Tenant) -> SessionId {
    SessionId {
        tenant: tenant.clone(),
        agent: AGENT.to_owned(),
        host_id: "notes".to_owned(),
    }
}
