//! One extraction: read a window, extract, file, finish.

use std::collections::BTreeSet;
use std::mem;

use daybook_domain::eligibility::eligible;
use daybook_domain::{
    Claimed, Event, EventSeq, Extraction, Failure, FailureClass, FinishOutcome, JobKey,
    ObservationKind, Origin, Session, SessionId, StoreError, Tenant, Wait, Yield,
};

use tracing::field::Empty;
use tracing::{Span, info_span};

use super::Workshop;
use super::filing::{Projects, file, person_scope};
use super::known::Knowledge;
use crate::extract::window::window_len;
use crate::extract::{Dropped, Extracted, Window};
use crate::guard::{Broken, guarded};
use crate::ingest::projects::Assigned;
use crate::ingest::settle::{apply, settle_new_roots};
use crate::stage::within;

/// Most bytes of the events before a window that are read at once; an event is read whole.
const BEFORE_BYTES: usize = 2 * 1024 * 1024;

/// What reading a window came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// Observations made; without any the outcome is Nothing.
    pub(super) observations: usize,
    /// What was told and not believed.
    pub(super) dropped: Dropped,
    /// Events that there was no room for.
    pub(super) left_out: u32,
}

/// How one extraction went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Extracting {
    /// It was done.
    Read(Read),
    /// It failed; the job knows when to try again.
    Failed(Failure),
    /// Another worker has the job now.
    Lost,
}

/// Does the claimed job's next window.
pub(super) async fn extract(shop: &Workshop, claimed: &Claimed) -> Result<Extracting, StoreError> {
    let JobKey::Extract(session) = claimed.token.job() else {
        return Ok(Extracting::Lost);
    };
    let span = info_span!(
        "extract",
        %session,
        after = claimed.after,
        upto = claimed.upto,
        observations = Empty,
        dropped = Empty,
        left_out = Empty,
        class = Empty,
        outcome = Empty,
    );
    let work = async {
        match guarded(read_and_finish(shop, claimed, session)).await {
            Ok(extracting) => Ok(extracting),
            Err(Broken::Store(error)) => Err(error),
            // One session's rows, or what they bring to light in an extractor, stop no other session.
            Err(Broken::Alone(message)) => {
                let class = FailureClass::Content;
                fail(shop, claimed, Failure { class, message }, Wait::Unsaid).await
            }
        }
    };
    within(span, work, note).await
}

fn note(span: &Span, extracting: &Extracting) {
    let outcome = match extracting {
        Extracting::Read(read) => {
            span.record("dropped", read.dropped.total());
            span.record("left_out", read.left_out);
            match read.observations {
                0 => "nothing",
                observations => {
                    span.record("observations", observations);
                    "taught"
                }
            }
        }
        Extracting::Failed(failure) => {
            span.record("class", failure.class.word());
            "failed"
        }
        Extracting::Lost => "lost",
    };
    span.record("outcome", outcome);
}

async fn read_and_finish(
    shop: &Workshop,
    claimed: &Claimed,
    id: &SessionId,
) -> Result<Extracting, StoreError> {
    let Some(session) = shop.store.session(id).await? else {
        return give_up(shop, claimed).await;
    };
    if eligible(&session, &shop.switches).is_err() {
        // Not done: should it become eligible, all of it is due again, and what an earlier generation
        // taught stays until then.
        shop.store
            .set_aside(&claimed.token, shop.clock.now())
            .await?;
        return Ok(Extracting::Read(Read::default()));
    }
    if claimed.deadly {
        let message = "reading it has ended one worker after another".to_owned();
        let failure = Failure {
            class: FailureClass::Vanished,
            message,
        };
        return fail(shop, claimed, failure, Wait::Unsaid).await;
    }
    let read = read_window(shop, id, claimed.after, claimed.upto).await?;
    let Some(last) = read.last() else {
        return give_up(shop, claimed).await;
    };
    let to = last.seq;
    let taken_back = retracted(&read);
    let projects = projects_of(shop, &id.tenant, &read).await?;
    let events = kept(shop, &session, &projects, read, &taken_back);
    let before = read_before(shop, &session, &projects, &taken_back, claimed.after).await?;
    let knowledge = match shop.extractor.wants_known() {
        true => Knowledge::gather(shop, claimed.into(), &session, &events, &projects).await?,
        false => Knowledge::default(),
    };
    let window = Window {
        session: &session,
        before: &before,
        events: &events,
        known: knowledge.known(),
        is_redone: claimed.is_redone,
    };
    let mut extracted = match shop.extractor.extract(window).await {
        Ok(extracted) => extracted,
        Err(error) => {
            let failure = Failure {
                class: error.class,
                message: error.message,
            };
            return fail(shop, claimed, failure, error.wait).await;
        }
    };
    let dropped = mem::take(&mut extracted.dropped);
    let left_out = extracted.left_out;
    let shown: Vec<Event> = before.into_iter().chain(events).collect();
    let (extraction, observations) = settle(shop, &session, &shown, extracted, &projects);
    let extraction = Extraction {
        from: EventSeq(claimed.after + 1),
        to,
        retracted: taken_back.into_iter().collect(),
        ..extraction
    };
    let now = shop.clock.now();
    let finished = shop
        .store
        .finish_extraction(&claimed.token, &extraction, now)
        .await?;
    Ok(match finished {
        FinishOutcome::LeaseLost => Extracting::Lost,
        FinishOutcome::Complete | FinishOutcome::StillDue => {
            follow_moved(shop, &id.tenant, &shown, &projects).await?;
            Extracting::Read(Read {
                observations,
                dropped,
                left_out,
            })
        }
    })
}

/// Moves what was just filed, where its folder went to another project while it was read.
async fn follow_moved(
    shop: &Workshop,
    tenant: &Tenant,
    events: &[Event],
    filed: &Projects,
) -> Result<(), StoreError> {
    let now = Projects::of(&*shop.store, tenant).await?;
    let places = events.iter().filter_map(|event| event.place.as_ref());
    let roots: BTreeSet<&str> = places.map(|place| place.root.as_str()).collect();
    let has_moved = |root: &&str| now.scope(tenant, root) != filed.scope(tenant, root);
    let moved: BTreeSet<&str> = roots.into_iter().filter(has_moved).collect();
    if moved.is_empty() {
        return Ok(());
    }
    let records = shop.store.roots(tenant).await?;
    let known = shop.store.projects(tenant).await?;
    for record in records.iter().filter(|r| moved.contains(r.root.as_str())) {
        let project = known
            .iter()
            .find(|p| Some(&p.key) == record.project.as_ref());
        if let Some(project) = project.cloned() {
            let to = Assigned {
                project,
                derived: record.derived,
            };
            apply(&*shop.store, tenant, &record.root, &to, shop.clock.now()).await?;
        }
    }
    Ok(())
}

/// Ends a claim that there is nothing to read for.
async fn give_up(shop: &Workshop, claimed: &Claimed) -> Result<Extracting, StoreError> {
    let now = shop.clock.now();
    match shop.store.finish(&claimed.token, claimed.upto, now).await? {
        FinishOutcome::LeaseLost => Ok(Extracting::Lost),
        FinishOutcome::Complete | FinishOutcome::StillDue => Ok(Extracting::Read(Read::default())),
    }
}

async fn fail(
    shop: &Workshop,
    claimed: &Claimed,
    failure: Failure,
    wait: Wait,
) -> Result<Extracting, StoreError> {
    let _ = shop.fail(claimed, failure.clone(), wait).await?;
    Ok(Extracting::Failed(failure))
}

/// Which project each folder belongs to, those of these events included: whoever took them in may not
/// have come to say so yet, and what is filed under the person stays there.
async fn projects_of(
    shop: &Workshop,
    tenant: &Tenant,
    events: &[Event],
) -> Result<Projects, StoreError> {
    let projects = Projects::of(&*shop.store, tenant).await?;
    let mut places = events.iter().filter_map(|event| event.place.as_ref());
    if places.all(|place| projects.scope(tenant, &place.root).is_some()) {
        return Ok(projects);
    }
    settle_new_roots(&*shop.store, tenant, shop.clock.now()).await?;
    Projects::of(&*shop.store, tenant).await
}

/// The next window: whole turns where they fit. Always at least one event when there is one.
pub(super) async fn read_window(
    shop: &Workshop,
    id: &SessionId,
    after: u64,
    upto: u64,
) -> Result<Vec<Event>, StoreError> {
    let (after, upto) = (EventSeq(after), EventSeq(upto));
    // More than a window is asked for, so that its end can be chosen.
    let limits = shop.limits.window;
    let (limit, bytes) = (limits.events + 1, 2 * limits.bytes);
    let mut events = shop.store.events(id, after, upto, limit, bytes).await?;
    let len = window_len(&events, limits);
    events.truncate(len);
    Ok(events)
}

/// What an extractor is shown of what was `read`: not what was taken back, nor what was said where memory
/// is switched off.
pub(super) fn kept(
    shop: &Workshop,
    session: &Session,
    projects: &Projects,
    read: Vec<Event>,
    retracted: &BTreeSet<EventSeq>,
) -> Vec<Event> {
    let tenant = &session.id.tenant;
    let is_off = |event: &Event| {
        let place = event.place.as_ref();
        let scope = place.and_then(|place| projects.scope(tenant, &place.root));
        scope.is_some_and(|scope| shop.switches.is_off(scope.kind, &scope.name))
    };
    read.into_iter()
        .filter(|event| !retracted.contains(&event.seq) && !session.is_passed(event.seq))
        .filter(|event| !is_off(event))
        .collect()
}

/// What the extractor is shown of the session before event `after`: as much as it looks back, without what
/// was taken back there or by the window.
pub(super) async fn read_before(
    shop: &Workshop,
    session: &Session,
    projects: &Projects,
    taken_back: &BTreeSet<EventSeq>,
    after: u64,
) -> Result<Vec<Event>, StoreError> {
    let look_back = shop.extractor.look_back();
    let mut from = EventSeq(after.saturating_sub(look_back.events));
    let limit = usize::try_from(look_back.events).unwrap_or(usize::MAX);
    let mut read: Vec<Event> = Vec::new();
    while from.0 < after {
        let (id, upto) = (&session.id, EventSeq(after));
        let more = shop
            .store
            .events(id, from, upto, limit, BEFORE_BYTES)
            .await?;
        let Some(last) = more.last() else { break };
        from = last.seq;
        read.extend(more);
    }
    read.drain(..read.len() - look_back.of(&read).len());
    let mut gone = retracted(&read);
    gone.extend(taken_back);
    Ok(kept(shop, session, projects, read, &gone))
}

/// Events of any window that the window's retractions take back.
pub(super) fn retracted(events: &[Event]) -> BTreeSet<EventSeq> {
    events
        .iter()
        .filter(|event| event.origin == Origin::Retraction)
        .flat_map(|event| event.text.split_whitespace())
        .filter_map(|seq| seq.parse().ok().map(EventSeq))
        .collect()
}

/// What was extracted, filed; `events` are all that the extractor was shown. The window's bounds are the
/// caller's to say.
fn settle(
    shop: &Workshop,
    session: &Session,
    events: &[Event],
    extracted: Extracted,
    projects: &Projects,
) -> (Extraction, usize) {
    let person = session.user.as_deref().unwrap_or(&shop.person);
    let asked = || shop.extractor.name().to_owned();
    let made_by = extracted.made_by.unwrap_or_else(asked);
    let observations: Vec<_> = extracted
        .drafts
        .into_iter()
        .map(|draft| file(draft, session, events, projects, person))
        .collect();
    let taught = observations.len();
    let mut concerns = Vec::new();
    let personal = |kind| {
        matches!(
            kind,
            ObservationKind::Preference | ObservationKind::Correction
        )
    };
    let homeless = extracted
        .digest
        .as_ref()
        .is_some_and(|digest| digest.root.is_none());
    // A preference said in a second project becomes the person's own, so their scope looks again.
    if homeless
        || !extracted.writes.is_empty()
        || observations
            .iter()
            .any(|observation| personal(observation.kind))
    {
        concerns.push(person_scope(&session.id.tenant, person));
    }
    let yielded = match extracted.digest {
        None if observations.is_empty() => Yield::Nothing,
        digest => Yield::Something {
            observations,
            digest: Box::new(digest.unwrap_or_default()),
        },
    };
    let extraction = Extraction {
        session: session.id.clone(),
        from: EventSeq(0),
        to: EventSeq(0),
        yielded,
        retracted: Vec::new(),
        concerns,
        writes: extracted.writes,
        extractor: made_by,
    };
    (extraction, taught)
}
