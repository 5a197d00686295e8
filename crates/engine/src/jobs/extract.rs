//! Extracts one window of a session: read, extract, file, finish.

use std::collections::BTreeSet;
use std::mem;

use daybook_domain::eligibility::eligible;
use daybook_domain::page::read_all;
use daybook_domain::quarantine::{QuarantineReason, QuarantinedObservation};
use daybook_domain::{
    ClaimedJob, Event, EventSeq, Extraction, Failure, FailureClass, FinishOutcome, JobKey,
    Observation, ObservationKind, Origin, Provenance, RetryWait, ScopeKind, Session, SessionId,
    StoreError, Tenant, Timestamp, Yield,
};

use tracing::field::Empty;
use tracing::{Span, info_span};

use super::WorkerContext;
use super::agent_rules::{missing_rules, split_mixed};
use super::filing::{FolderProjects, file_draft};
use super::knowledge::Knowledge;
use super::quarantine::with_decisions;
use crate::extract::window::window_len;
use crate::extract::{DropCounts, ExtractorOutput, Window};
use crate::guard::{ItemFailure, run_isolated};
use crate::projects::assign::{AssignmentBasis, ProjectAssignment};
use crate::projects::settle::{apply, settle_new_roots};
use crate::stage::within;
use daybook_text::citation_block;

/// Most bytes of the events before a window that are read at once; an event is read whole.
const BEFORE_BYTES: usize = 2 * 1024 * 1024;

/// Counts of one extracted window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WindowCounts {
    /// Observations made; 0 means that the outcome is Nothing.
    pub(super) observations: usize,
    /// Suggestions that were dropped, by reason.
    pub(super) dropped: DropCounts,
    /// Events that did not fit.
    pub(super) left_out: u32,
}

/// Result of one extraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExtractOutcome {
    /// The window was read.
    Done(WindowCounts),
    /// It failed; the job stores when to retry.
    Failed(Failure),
    /// The lease was lost; another worker may have the job now.
    LeaseLost,
}

/// Extracts the claimed job's next window.
pub(super) async fn extract(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
) -> Result<ExtractOutcome, StoreError> {
    let JobKey::Extract(session) = claimed.token.job() else {
        return Ok(ExtractOutcome::LeaseLost);
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
        match run_isolated(read_and_finish(worker, claimed, session)).await {
            Ok(extracting) => Ok(extracting),
            Err(ItemFailure::Store(error)) => Err(error),
            // A defect in one session's rows, or one that they reveal in an extractor, stops no other
            // session.
            Err(ItemFailure::Item(message)) => {
                let class = FailureClass::Content;
                fail(
                    worker,
                    claimed,
                    Failure { class, message },
                    RetryWait::Unspecified,
                )
                .await
            }
        }
    };
    within(span, work, record_outcome).await
}

fn record_outcome(span: &Span, extracting: &ExtractOutcome) {
    let outcome = match extracting {
        ExtractOutcome::Done(read) => {
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
        ExtractOutcome::Failed(failure) => {
            span.record("class", failure.class.as_str());
            "failed"
        }
        ExtractOutcome::LeaseLost => "lost",
    };
    span.record("outcome", outcome);
}

async fn read_and_finish(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    id: &SessionId,
) -> Result<ExtractOutcome, StoreError> {
    let Some(session) = worker.store.session(id).await? else {
        return finish_empty(worker, claimed).await;
    };
    if eligible(&session, &worker.switches).is_err() {
        // Not done: should it become eligible, all of it is due again, and the observations of an earlier
        // generation stay until then.
        worker
            .store
            .set_aside(&claimed.token, Timestamp::MAX, worker.clock.now())
            .await?;
        return Ok(ExtractOutcome::Done(WindowCounts::default()));
    }
    if claimed.deadly {
        let message = "reading it has ended one worker after another".to_owned();
        let failure = Failure {
            class: FailureClass::Vanished,
            message,
        };
        return fail(worker, claimed, failure, RetryWait::Unspecified).await;
    }
    let read = read_window(worker, id, claimed.after, claimed.upto).await?;
    let Some(last) = read.last() else {
        return finish_empty(worker, claimed).await;
    };
    let to = last.seq;
    let retracted = retracted_seqs(worker, id, &read).await?;
    let projects = projects_of(worker, &id.tenant, &read).await?;
    let events = visible_events(worker, &session, &projects, read, &retracted);
    let before = read_before(worker, &session, &projects, &retracted, claimed.after).await?;
    let knowledge = match worker.extractor.wants_known() {
        true => Knowledge::gather(worker, claimed.into(), &session, &events, &projects).await?,
        false => Knowledge::default(),
    };
    let window = Window {
        session: &session,
        before: &before,
        events: &events,
        known: knowledge.known(),
        is_redone: claimed.is_redone,
    };
    let mut extracted = match worker.extractor.extract(window).await {
        Ok(extracted) => extracted,
        Err(error) => {
            let failure = Failure {
                class: error.class,
                message: error.message,
            };
            return fail(worker, claimed, failure, error.wait).await;
        }
    };
    let rules = missing_rules(&id.agent, &events, &extracted.drafts);
    extracted.drafts.extend(rules);
    extracted.drafts = split_mixed(&id.agent, mem::take(&mut extracted.drafts));
    let dropped = mem::take(&mut extracted.dropped);
    let left_out = extracted.left_out;
    let shown: Vec<Event> = before.into_iter().chain(events).collect();
    let (extraction, observations) =
        build_extraction(worker, &session, &shown, extracted, &projects);
    let quarantined = with_decisions(worker, &id.tenant, extraction.quarantined).await?;
    let extraction = Extraction {
        quarantined,
        from: EventSeq(claimed.after + 1),
        to,
        retracted: retracted.into_iter().collect(),
        ..extraction
    };
    let now = worker.clock.now();
    let finished = worker
        .store
        .finish_extraction(&claimed.token, &extraction, now)
        .await?;
    Ok(match finished {
        FinishOutcome::LeaseLost => ExtractOutcome::LeaseLost,
        FinishOutcome::Complete | FinishOutcome::StillDue => {
            refile_moved(worker, &id.tenant, &shown, &projects).await?;
            ExtractOutcome::Done(WindowCounts {
                observations,
                dropped,
                left_out,
            })
        }
    })
}

/// Refiles new observations whose folder was assigned to another project during the extraction.
async fn refile_moved(
    worker: &WorkerContext,
    tenant: &Tenant,
    events: &[Event],
    filed: &FolderProjects,
) -> Result<(), StoreError> {
    let places = events.iter().filter_map(|event| event.place.as_ref());
    let roots: BTreeSet<&str> = places.map(|place| place.root.as_str()).collect();
    let mut moved = BTreeSet::new();
    for root in roots {
        if worker.store.project_of_root(tenant, root).await? != filed.key(root) {
            moved.insert(root);
        }
    }
    if moved.is_empty() {
        return Ok(());
    }
    let records = worker.store.roots(tenant).await?;
    let known = read_all(|page| worker.store.projects(tenant, page)).await?;
    for record in records.iter().filter(|r| moved.contains(r.root.as_str())) {
        let project = known
            .iter()
            .find(|p| Some(&p.key) == record.project.as_ref());
        if let Some(project) = project.cloned() {
            let to = ProjectAssignment {
                project,
                derived: record.derived,
                basis: AssignmentBasis::Evidence,
            };
            apply(
                &*worker.store,
                tenant,
                &record.root,
                &to,
                worker.clock.now(),
            )
            .await?;
        }
    }
    Ok(())
}

/// Finishes a claim that has no events to read.
async fn finish_empty(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
) -> Result<ExtractOutcome, StoreError> {
    let now = worker.clock.now();
    match worker
        .store
        .finish(&claimed.token, claimed.upto, now)
        .await?
    {
        FinishOutcome::LeaseLost => Ok(ExtractOutcome::LeaseLost),
        FinishOutcome::Complete | FinishOutcome::StillDue => {
            Ok(ExtractOutcome::Done(WindowCounts::default()))
        }
    }
}

async fn fail(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    failure: Failure,
    wait: RetryWait,
) -> Result<ExtractOutcome, StoreError> {
    let _ = worker.fail(claimed, failure.clone(), wait).await?;
    Ok(ExtractOutcome::Failed(failure))
}

/// Loads the project of each folder, including the folders of these events.
///
/// The importer may not have assigned them yet, and observations filed under the person stay there.
async fn projects_of(
    worker: &WorkerContext,
    tenant: &Tenant,
    events: &[Event],
) -> Result<FolderProjects, StoreError> {
    let projects = FolderProjects::of(&*worker.store, tenant).await?;
    let mut places = events.iter().filter_map(|event| event.place.as_ref());
    if places.all(|place| projects.scope(tenant, &place.root).is_some()) {
        return Ok(projects);
    }
    settle_new_roots(&*worker.store, tenant, worker.clock.now()).await?;
    FolderProjects::of(&*worker.store, tenant).await
}

/// Reads the next window: whole turns where they fit. Always at least one event when there is one.
pub(super) async fn read_window(
    worker: &WorkerContext,
    id: &SessionId,
    after: u64,
    upto: u64,
) -> Result<Vec<Event>, StoreError> {
    let (after, upto) = (EventSeq(after), EventSeq(upto));
    // More than a window is requested, so that its end can be chosen.
    let limits = worker.limits.window;
    let (limit, bytes) = (limits.events + 1, 2 * limits.bytes);
    let mut events = worker.store.events(id, after, upto, limit, bytes).await?;
    let len = window_len(&events, limits);
    events.truncate(len);
    Ok(events)
}

/// The events of `read` that an extractor may see: neither retracted ones, nor those of places where memory
/// is switched off.
pub(super) fn visible_events(
    worker: &WorkerContext,
    session: &Session,
    projects: &FolderProjects,
    read: Vec<Event>,
    retracted: &BTreeSet<EventSeq>,
) -> Vec<Event> {
    let tenant = &session.id.tenant;
    let is_off = |event: &Event| {
        let place = event.place.as_ref();
        let scope = place.and_then(|place| projects.scope(tenant, &place.root));
        scope.is_some_and(|scope| worker.switches.is_off(scope.kind, &scope.name))
    };
    read.into_iter()
        .filter(|event| !retracted.contains(&event.seq) && !session.is_passed(event.seq))
        .filter(|event| !is_off(event))
        .map(|mut event| {
            citation_block::hide_in(&mut event);
            event
        })
        .collect()
}

/// Reads the events before event `after` that the extractor sees: as many as it looks back, without
/// retracted ones.
pub(super) async fn read_before(
    worker: &WorkerContext,
    session: &Session,
    projects: &FolderProjects,
    retracted: &BTreeSet<EventSeq>,
    after: u64,
) -> Result<Vec<Event>, StoreError> {
    let look_back = worker.extractor.look_back();
    let mut from = EventSeq(after.saturating_sub(look_back.events));
    let limit = usize::try_from(look_back.events).unwrap_or(usize::MAX);
    let mut read: Vec<Event> = Vec::new();
    while from.0 < after {
        let (id, upto) = (&session.id, EventSeq(after));
        let more = worker
            .store
            .events(id, from, upto, limit, BEFORE_BYTES)
            .await?;
        let Some(last) = more.last() else { break };
        from = last.seq;
        read.extend(more);
    }
    read.drain(..read.len() - look_back.newest_of(&read).len());
    let mut gone = retracted_seqs(worker, &session.id, &read).await?;
    gone.extend(retracted);
    Ok(visible_events(worker, session, projects, read, &gone))
}

/// Positions of the events, in any window, that these consecutive events of a session retract.
pub(super) async fn retracted_seqs(
    worker: &WorkerContext,
    id: &SessionId,
    events: &[Event],
) -> Result<BTreeSet<EventSeq>, StoreError> {
    let mut retractions = events.iter().filter(|e| e.origin == Origin::Retraction);
    // Most windows have none, which costs no call.
    let Some(first) = retractions.next() else {
        return Ok(BTreeSet::new());
    };
    let last = retractions.next_back().unwrap_or(first);
    let after = EventSeq(first.seq.0.saturating_sub(1));
    worker.store.retracted_seqs(id, after, last.seq).await
}

/// The events that nothing but the rules of an agent rests on: they are its own, and stand in no account of the person's.
fn events_for_agent_alone(observations: &[Observation]) -> BTreeSet<EventSeq> {
    let resting_on = |is_agents: bool| -> BTreeSet<EventSeq> {
        let filed = observations
            .iter()
            .filter(|one| (one.scope.kind == ScopeKind::Agent) == is_agents);
        let evidence = filed.flat_map(|one| &one.evidence);
        evidence
            .flat_map(|one| one.events.iter().copied())
            .collect()
    };
    &resting_on(true) - &resting_on(false)
}

/// Builds the extraction with its drafts filed; `events` are all that the extractor saw. The caller sets
/// the window's bounds.
fn build_extraction(
    worker: &WorkerContext,
    session: &Session,
    events: &[Event],
    mut extracted: ExtractorOutput,
    projects: &FolderProjects,
) -> (Extraction, usize) {
    let person = session.user.as_deref().unwrap_or(&worker.person);
    let own = || Provenance::of(worker.extractor.name_for(&session.id));
    let provenance = extracted.provenance.unwrap_or_else(own);
    let owner = (person, &worker.switches.pollution);
    let none = FolderProjects::default();
    let is_one_memory = worker.limits.consolidation.layout.is_one_for_person();
    let projects = if is_one_memory { &none } else { projects };
    let file = |draft| file_draft(draft, session, events, projects, owner);
    // Extractors keep to the rule themselves; it holds whichever of them drafted.
    let may_be_filed = |filed: &Observation| filed.kind.may_come_from(filed.origin, filed.stated);
    let filed = extracted.drafts.into_iter().map(file);
    let (observations, refused): (Vec<_>, Vec<_>) = filed.partition(may_be_filed);
    let reason = QuarantineReason::FromOutside;
    if let Some(digest) = &mut extracted.digest
        && session.filing_scope().is_none()
    {
        digest.leave_out(&events_for_agent_alone(&observations));
    }
    let refused = refused.into_iter().map(|filed| (filed, reason));
    let waiting = extracted.quarantined.into_iter();
    let waiting = waiting.map(|(draft, reason)| (file(draft), reason));
    let quarantined = waiting
        .chain(refused)
        .map(|(observation, reason)| QuarantinedObservation {
            observation,
            reason,
            decision: None,
        })
        .collect();
    let taught = observations.len();
    let mut concerns = Vec::new();
    let personal = |kind| {
        matches!(
            kind,
            ObservationKind::Preference | ObservationKind::Correction
        )
    };
    // What a room or a team shares is shown on none of a project's pages.
    let filed = session.filing_scope();
    let is_shared = filed.is_some_and(|scope| scope.kind != ScopeKind::Project);
    if (is_shared || is_one_memory)
        && let Some(digest) = &mut extracted.digest
    {
        digest.root = None;
    }
    let has_no_project = extracted
        .digest
        .as_ref()
        .is_some_and(|digest| digest.root.is_none());
    // A preference stated in a second project becomes the person's own, so their scope is consolidated
    // again.
    if has_no_project
        || !extracted.writes.is_empty()
        || observations
            .iter()
            .any(|observation| personal(observation.kind))
    {
        concerns.push(session.account_scope(&worker.person));
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
        quarantined,
        provenance,
    };
    (extraction, taught)
}
