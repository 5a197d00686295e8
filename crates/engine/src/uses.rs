//! Resolves the citations in events, and records that the cited events were used.
//!
//! Uses are recorded before the events that cite them are appended: an import that is killed in between reads
//! these again and records the same uses, which changes nothing. The other way round they would be lost.
//!
//! Not here: finding citations (`mentions`), the weight of uses (`consolidate`).

use std::collections::HashMap;

use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::limits::USES_AT_ONCE;
use daybook_domain::seams::{SessionCatalog, SessionLog, UseStore};
use daybook_domain::{
    Citation, Event, EventId, EventSeq, Origin, Session, SessionId, SessionMeta, StoreError,
    Tenant, Timestamp, Use, UsedBy,
};

use daybook_text::mentions::Mention;
use daybook_text::raw::RawEvent;

/// Most stretches of lines of one citation that are looked up.
const STRETCHES: usize = 16;
/// Most events of one stretch, and of one session, that count as used.
const EVENTS: usize = 64;
/// Most events, and bytes of them, of a session in which its person's messages are looked for.
const SEARCHED: (usize, usize) = (1_024, 1024 * 1024);

/// A citation of a memory in an event.
#[derive(Debug, Clone)]
pub(crate) struct EventMention {
    event: EventId,
    at: Timestamp,
    mention: Mention,
}

impl EventMention {
    /// A citation in the event `event`.
    pub(crate) fn new(event: EventId, at: Timestamp, mention: Mention) -> Self {
        Self { event, at, mention }
    }

    /// Takes the citations out of an event.
    pub(crate) fn take_from(event: &mut RawEvent) -> impl Iterator<Item = Self> + use<> {
        let (id, at) = (event.id, event.at);
        let mentions = std::mem::take(&mut event.mentions).into_iter();
        mentions.map(move |mention| Self::new(id, at, mention))
    }

    /// The same citation, in another event.
    pub(crate) fn with_event(self, event: EventId) -> Self {
        Self { event, ..self }
    }
}

/// Records the uses that a session's citations stand for. Returns those whose events are not stored: they may
/// come later.
///
/// # Errors
/// The store's; recording the same again is safe.
pub(crate) async fn note_mentions(
    store: &(impl SessionLog + SessionCatalog + UseStore + ?Sized),
    session: &SessionMeta,
    switches: &Switches,
    mentioned: Vec<EventMention>,
    now: Timestamp,
) -> Result<Vec<EventMention>, StoreError> {
    if mentioned.is_empty() || !may_count(store, session, switches).await? {
        return Ok(Vec::new());
    }
    let tenant = &session.id.tenant;
    let mut known: HashMap<Citation, Vec<(SessionId, EventSeq)>> = HashMap::new();
    let (mut uses, mut missing) = (Vec::new(), Vec::new());
    for one in mentioned {
        let citation = &one.mention.citation;
        let events = match known.get(citation) {
            Some(events) => events,
            None => {
                let events = cited_events(store, tenant, citation).await?;
                known.entry(citation.clone()).or_insert(events)
            }
        };
        if events.is_empty() {
            missing.push(one);
            continue;
        }
        uses.extend(events.iter().map(|(used, event)| Use {
            session: used.clone(),
            event: *event,
            kind: one.mention.kind,
            by: UsedBy::Session {
                session: session.id.clone(),
                event: one.event,
            },
            at: match one.at {
                Timestamp::ZERO => now,
                at => at,
            },
        }));
    }
    for uses in uses.chunks(USES_AT_ONCE) {
        store.note_uses(tenant, uses, now).await?;
    }
    Ok(missing)
}

/// Whether memory is made from the session, so that its uses count.
async fn may_count(
    store: &(impl SessionCatalog + ?Sized),
    meta: &SessionMeta,
    switches: &Switches,
) -> Result<bool, StoreError> {
    let known = store.session(&meta.id).await?;
    let session = Session {
        id: meta.id.clone(),
        label: String::new(),
        kind: known
            .as_ref()
            .map_or(meta.kind, |it| it.kind.joined(meta.kind)),
        memory_off: meta.memory_off,
        switched_off: known.as_ref().is_some_and(|it| it.switched_off),
        kept_on: known.as_ref().is_some_and(|it| it.kept_on),
        pollution: known.as_ref().and_then(|it| it.pollution.clone()),
        forked_from: None,
        user: known.and_then(|it| it.user).or(meta.user.clone()),
        surface: None,
        venue: daybook_domain::Venue::default(),
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(0),
        passed: Vec::new(),
    };
    Ok(eligible(&session, switches).is_ok())
}

/// The events of a citation; none when no session, or more than one, has its label.
pub(crate) async fn cited_events(
    store: &(impl SessionLog + SessionCatalog + ?Sized),
    tenant: &Tenant,
    citation: &Citation,
) -> Result<Vec<(SessionId, EventSeq)>, StoreError> {
    let named = store.find_sessions(tenant, &citation.session).await?;
    let Ok([session]) = <[Session; 1]>::try_from(named) else {
        return Ok(Vec::new());
    };
    if citation.lines.is_empty() {
        return session_events(store, &session).await;
    }
    let mut cited = Vec::new();
    for &lines in citation.lines.iter().take(STRETCHES) {
        let events = store.events_at(&session.id, lines, EVENTS).await?;
        cited.extend(events.iter().map(|it| (session.id.clone(), it.seq)));
    }
    Ok(cited)
}

/// The events that a citation of a whole session means: its person's messages, on which most of what was learned from
/// it rests; in a session without any, its first event.
async fn session_events(
    store: &(impl SessionLog + ?Sized),
    session: &Session,
) -> Result<Vec<(SessionId, EventSeq)>, StoreError> {
    let (limit, bytes) = SEARCHED;
    let begin = EventSeq(0);
    let events = store.events(&session.id, begin, session.events, limit, bytes);
    let events = events.await?;
    let by_person = |event: &&Event| event.origin == Origin::Human && !event.sidechain;
    let mut cited: Vec<EventSeq> = events.iter().filter(by_person).map(|it| it.seq).collect();
    cited.truncate(EVENTS);
    if cited.is_empty() {
        cited.extend(events.first().map(|event| event.seq));
    }
    Ok(cited
        .into_iter()
        .map(|event| (session.id.clone(), event))
        .collect())
}
