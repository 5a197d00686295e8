//! The promises that must hold after every step of a simulation.
//!
//! They are the rules of DESIGN.md that concern jobs. They are checked against the effects of the calls, not
//! against a second implementation: that is what [`crate::model`] does.
//!
//! The extractor of a simulation must yield one observation for each human event of its window, with that
//! event as its evidence, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use daybook_domain::claim::Lane;
use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::{
    ClaimedJob, Event, EventSeq, Extraction, FailOutcome, FinishOutcome, Job, JobKey, JobKind,
    LeaseToken, ObservationId, Origin, SessionId, TallyKind, Timestamp, Yield,
};

use super::effect::{Effect, RecordedCall};
use super::store_snapshot::StoreSnapshot;

/// The result of a check: the error is a sentence about the broken promise.
pub type CheckResult = Result<(), String>;

macro_rules! must {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// Checks the promises after each step, against the state before it.
#[derive(Debug, Default)]
pub(super) struct JobPromises {
    switches: Switches,
    before: StoreSnapshot,
    counted: BTreeMap<(JobKind, TallyKind), u64>,
    /// Events that arrived while memory was off, or waited when it was switched off.
    passed: BTreeSet<(SessionId, u64)>,
    /// The observation that was made of each event.
    observed: BTreeMap<(SessionId, EventSeq), ObservationId>,
    /// Observations that a person retracted.
    retracted: BTreeSet<ObservationId>,
    /// For each lane with due work: grants to other lanes since then.
    waits: BTreeMap<(JobKind, Lane), usize>,
}

impl JobPromises {
    pub(super) fn new(switches: Switches) -> Self {
        Self {
            switches,
            ..Self::default()
        }
    }

    /// The state after the last step.
    pub(super) fn before(&self) -> &StoreSnapshot {
        &self.before
    }

    /// Sets the state before the first step.
    pub(super) fn begin(&mut self, seen: StoreSnapshot) {
        self.counted.clone_from(&seen.tallies);
        self.before = seen;
    }

    /// Checks the promises after one call.
    pub(super) fn check(&mut self, call: &RecordedCall, after: StoreSnapshot) -> CheckResult {
        self.check_logs(&call.effect, &after)?;
        self.check_tokens(&call.effect, &after)?;
        self.check_watermarks(&call.effect, &after)?;
        self.check_claims(&call.effect, &after)?;
        self.check_results(&after)?;
        self.check_tallies(&call.effect, &after)?;
        if let Effect::Refused(why) = &call.effect {
            return Err(format!("{} was refused: {why}", call.name));
        }
        self.note(&call.effect);
        self.before = after;
        Ok(())
    }

    fn note(&mut self, effect: &Effect) {
        if let Effect::Retracted { id, .. } = effect {
            self.retracted.insert(*id);
        }
        let Effect::Extracted { extraction, .. } = effect else {
            return;
        };
        let Yield::Something { observations, .. } = &extraction.yielded else {
            return;
        };
        for observation in observations {
            for seq in observation.evidence.iter().flat_map(|one| &one.events) {
                let event = (extraction.session.clone(), *seq);
                self.observed.insert(event, observation.id);
            }
        }
    }

    /// Promise 1: acknowledged events are in the log, once, in order.
    fn check_logs(&self, effect: &Effect, after: &StoreSnapshot) -> CheckResult {
        for (id, log) in &after.logs {
            let known = self.before.logs.get(id);
            if known.is_some_and(|known| Arc::ptr_eq(known, log)) {
                continue;
            }
            must!(
                log.starts_with(self.before.log(id)),
                "{id}: events of its log were changed"
            );
            let ids: BTreeSet<_> = log.iter().map(|(event, _)| event).collect();
            must!(ids.len() == log.len(), "{id}: an event is there twice");
            let in_order = log.iter().zip(1..).all(|((_, event), n)| event.seq.0 == n);
            must!(in_order, "{id}: its sequence numbers have holes");
        }
        for id in self.before.logs.keys() {
            must!(after.logs.contains_key(id), "{id} has vanished");
        }
        let Effect::Appended { append, appended } = effect else {
            return Ok(());
        };
        let id = &append.session.id;
        let log = after.log(id);
        must!(
            appended.last.0 == log.len() as u64,
            "{id}: the append names another last event than the log"
        );
        for event in &append.events {
            must!(
                log.iter().any(|(known, _)| known == &event.id),
                "{id}: {:?} was acknowledged and is not there",
                event.text
            );
        }
        Ok(())
    }

    /// Promise 3: a token that does not hold its job changes nothing.
    fn check_tokens(&self, effect: &Effect, after: &StoreSnapshot) -> CheckResult {
        let (token, now, lost) = match effect {
            Effect::Heartbeat { token, now, held } | Effect::Released { token, now, held } => {
                (token, now, !held)
            }
            Effect::Finished {
                token,
                now,
                outcome,
                ..
            }
            | Effect::Extracted {
                token,
                now,
                outcome,
                ..
            } => (token, now, *outcome == FinishOutcome::LeaseLost),
            Effect::Failed {
                token,
                now,
                outcome,
                ..
            } => (token, now, *outcome == FailOutcome::LeaseLost),
            Effect::NoEffect
            | Effect::Changed
            | Effect::Refused(_)
            | Effect::Appended { .. }
            | Effect::Switched { .. }
            | Effect::Claimed { .. }
            | Effect::Cancelled { .. }
            | Effect::JobsChanged
            | Effect::Redone(_)
            | Effect::Retracted { .. } => return Ok(()),
        };
        let held = self.holds(token, *now);
        let name = format!("{}#{}", token.job(), token.generation());
        must!(
            !(held && lost),
            "{name}: its lease is alive and was called lost"
        );
        must!(
            held || lost,
            "{name}: its lease was lost and it changed something"
        );
        if !held {
            let unchanged = StoreSnapshot {
                tallies: after.tallies.clone(),
                ..self.before.clone()
            };
            must!(
                &unchanged == after,
                "{name}: its lease was lost, and the store is not as before"
            );
        }
        Ok(())
    }

    fn holds(&self, token: &LeaseToken, now: Timestamp) -> bool {
        let job = self.before.jobs.get(token.job());
        job.is_some_and(|job| job.is_held_by(token, now))
    }

    /// Promises 2 and 5: done never passes input, input only rises, and each rise of done has a reason.
    fn check_watermarks(&mut self, effect: &Effect, after: &StoreSnapshot) -> CheckResult {
        for (key, job) in &after.jobs {
            must!(job.done <= job.input, "{key}: done is ahead of input");
            let new = Job::new(key.clone());
            let before = self.before.jobs.get(key).unwrap_or(&new);
            must!(job.input >= before.input, "{key}: its input fell");
            must!(
                job.redo >= before.redo && job.claims >= before.claims,
                "{key}: its generation fell"
            );
            let begun_anew =
                matches!(effect, Effect::Redone(of) if of.as_ref().is_none_or(|of| of == key));
            must!(
                job.done >= before.done || (begun_anew && job.done == 0),
                "{key}: done fell from {} to {}",
                before.done,
                job.done
            );
            if job.done > before.done {
                let (from, to) = (before.done + 1, job.done);
                let reason = self.check_reason(effect, key, (from, to), after);
                reason.map_err(|why| format!("{key}: done moved over {from}..={to}: {why}"))?;
                if let (JobKey::Extract(id), true) = (key, may_pass(effect)) {
                    let passed = (from..=to).map(|seq| (id.clone(), seq));
                    self.passed.extend(passed);
                }
            }
        }
        for (id, session) in &after.sessions {
            let job = after.jobs.get(&JobKey::Extract(id.clone()));
            let input = job.map_or(0, |job| job.input);
            let last = session.events.0;
            if session.switched_off {
                let before = self
                    .before
                    .sessions
                    .get(id)
                    .map_or(0, |before| before.events.0);
                let kept_out = (before + 1..=last).all(|seq| session.is_passed(EventSeq(seq)));
                must!(
                    kept_out,
                    "{id}: what is said while memory is off may be learned later"
                );
            }
            must!(
                input <= last,
                "{id}: marked to {input}, and the log ends at {last}"
            );
            must!(
                input == last || eligible(session, &self.switches).is_err(),
                "{id}: marked only to {input} of {last}: the rest is forgotten"
            );
        }
        Ok(())
    }

    /// Checks that the call justifies how a job's done moved over a range.
    fn check_reason(
        &self,
        effect: &Effect,
        key: &JobKey,
        (from, to): (u64, u64),
        after: &StoreSnapshot,
    ) -> CheckResult {
        let given_up = |gap: &daybook_domain::Gap| {
            must!(
                &gap.job == key && (gap.from, gap.to) == (from, to),
                "another range was called given up"
            );
            must!(
                after.gaps.contains(gap),
                "it was given up, and no gap shows it"
            );
            Ok(())
        };
        match (effect, key) {
            (Effect::Extracted { extraction, .. }, JobKey::Extract(id)) => {
                must!(&extraction.session == id, "another session was extracted");
                must!(
                    (extraction.from.0, extraction.to.0) == (from, to),
                    "only {}..={} was read",
                    extraction.from.0,
                    extraction.to.0
                );
                self.check_extraction(extraction, after)
            }
            (Effect::Finished { token, .. }, JobKey::Consolidate(_) | JobKey::Redact(_)) => {
                let granted = self.before.jobs.get(key).and_then(|job| job.lease.as_ref());
                let upto = granted.map_or(0, |lease| lease.upto);
                must!(token.job() == key && to <= upto, "only {upto} was granted");
                Ok(())
            }
            (
                Effect::Failed {
                    outcome: FailOutcome::GaveUp(gap),
                    ..
                }
                | Effect::Cancelled { gap: Some(gap), .. },
                _,
            ) => given_up(gap),
            // Switching memory on passes over the events that arrived while it was off.
            (Effect::Switched { .. }, JobKey::Extract(_)) => Ok(()),
            (Effect::Appended { .. } | Effect::Finished { .. }, JobKey::Extract(id)) => {
                let session = &after.sessions[id];
                let off = eligible(session, &self.switches).is_err();
                must!(off, "memory is on, and nobody read it");
                Ok(())
            }
            (
                Effect::NoEffect
                | Effect::Changed
                | Effect::Refused(_)
                | Effect::Claimed { .. }
                | Effect::Heartbeat { .. }
                | Effect::Released { .. }
                | Effect::Failed { .. }
                | Effect::Cancelled { .. }
                | Effect::JobsChanged
                | Effect::Redone(_)
                | Effect::Retracted { .. },
                _,
            )
            | (
                Effect::Extracted { .. } | Effect::Switched { .. } | Effect::Appended { .. },
                JobKey::Consolidate(_) | JobKey::Redact(_),
            ) => Err("nobody read it".to_owned()),
        }
    }

    /// Promises 2 and 6: an extraction reads its whole window, of a session that it may read.
    fn check_extraction(&self, extraction: &Extraction, after: &StoreSnapshot) -> CheckResult {
        let id = &extraction.session;
        let session = &after.sessions[id];
        if let Err(why) = eligible(session, &self.switches) {
            return Err(format!("not to be extracted: {}", why.reason()));
        }
        let said: Vec<EventSeq> = after
            .log(id)
            .iter()
            .filter(|(_, event)| event.seq >= extraction.from && event.seq <= extraction.to)
            .filter(|(_, event)| yields_observation(event) && !session.is_passed(event.seq))
            .map(|(_, event)| event.seq)
            .collect();
        let observations = match &extraction.yielded {
            Yield::Nothing => &[][..],
            Yield::Something { observations, .. } => observations,
        };
        let mut observed: Vec<EventSeq> = observations
            .iter()
            .flat_map(|observation| &observation.evidence)
            .flat_map(|evidence| evidence.events.clone())
            .collect();
        observed.sort_unstable();
        must!(
            said == observed,
            "of what was said in it, only {observed:?} taught something"
        );
        Ok(())
    }

    /// Promises 3 and 9: no job is granted twice, and no lane waits for too many grants.
    fn check_claims(&mut self, effect: &Effect, after: &StoreSnapshot) -> CheckResult {
        let Effect::Claimed { kind, now, claimed } = effect else {
            return Ok(());
        };
        for one in claimed {
            self.check_grant(one, *now, after)?;
        }
        let jobs = || {
            self.before
                .jobs
                .values()
                .filter(|job| job.key.kind() == *kind)
        };
        let served: BTreeSet<Lane> = claimed
            .iter()
            .filter_map(|one| self.before.jobs.get(one.token.job()))
            .map(Lane::of)
            .collect();
        let due = jobs().filter(|job| job.due_at().is_some_and(|due| due <= *now));
        let waiting: BTreeSet<Lane> = due.map(Lane::of).collect();
        let lanes: BTreeSet<Lane> = jobs().map(Lane::of).collect();
        let users: BTreeSet<_> = lanes.iter().map(|lane| &lane.user).collect();
        let agents: BTreeSet<_> = lanes.iter().map(|lane| &lane.agent).collect();
        let most = users.len() * agents.len();
        let left = |lane: &Lane| waiting.contains(lane) && !served.contains(lane);
        self.waits.retain(|(of, lane), _| of != kind || left(lane));
        for lane in waiting.iter().filter(|lane| left(lane)) {
            let key = (*kind, lane.clone());
            let waits = self.waits.entry(key).or_default();
            *waits += claimed.len();
            must!(
                *waits <= most,
                "{lane:?}: {waits} claims went to others while its work was due"
            );
        }
        Ok(())
    }

    fn check_grant(&self, one: &ClaimedJob, now: Timestamp, after: &StoreSnapshot) -> CheckResult {
        let key = one.token.job();
        let before = self.before.jobs.get(key);
        must!(
            before.is_some_and(|job| !job.is_leased(now)),
            "{key}: granted, and somebody holds it"
        );
        must!(
            before.is_some_and(|job| job.due_at().is_some_and(|due| due <= now)),
            "{key}: granted, and it is not due"
        );
        let held = after
            .jobs
            .get(key)
            .is_some_and(|job| job.is_held_by(&one.token, now) && one.after == job.done);
        must!(held, "{key}: granted, and not held");
        Ok(())
    }

    /// Promise 4: no window and no observation exists twice.
    fn check_results(&self, after: &StoreSnapshot) -> CheckResult {
        for id in after.sessions.keys() {
            let windows = after.windows_of(id);
            for pair in windows.windows(2) {
                must!(
                    pair[0].1 < pair[1].0,
                    "{id}: the windows {:?} and {:?} overlap",
                    pair[0],
                    pair[1]
                );
            }
            self.check_stays_extracted(id, after)?;
        }
        let mut carried = BTreeSet::new();
        for (scope, observations) in &after.observations {
            for observation in observations {
                for evidence in &observation.evidence {
                    for seq in &evidence.events {
                        must!(
                            carried.insert((evidence.session.clone(), *seq)),
                            "{scope}: event {} of {} is observed twice",
                            seq.0,
                            evidence.session
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Promise 2: extracted windows stay extracted, or become a gap that is shown.
    fn check_stays_extracted(&self, id: &SessionId, after: &StoreSnapshot) -> CheckResult {
        let covered: Vec<(u64, u64)> = after
            .windows_of(id)
            .into_iter()
            .chain(after.gaps_of(id))
            .collect();
        let before = self.before.windows_of(id).into_iter();
        let lost = before
            .flat_map(|(from, to)| from..=to)
            .find(|seq| !covered.iter().any(|(from, to)| (*from..=*to).contains(seq)));
        match lost {
            Some(seq) => Err(format!("{id}: what event {seq} taught is forgotten")),
            None => Ok(()),
        }
    }

    /// Promise 10: the tallies agree with the outcomes of the calls.
    fn check_tallies(&mut self, effect: &Effect, after: &StoreSnapshot) -> CheckResult {
        for (kind, what) in raised_tallies(effect) {
            *self.counted.entry((kind, what)).or_default() += 1;
        }
        must!(
            self.counted == after.tallies,
            "counted {:?}, and {:?} happened",
            after.tallies,
            self.counted
        );
        Ok(())
    }

    /// Promises 2 and 8, when no work is left: every event is extracted or in a gap that is shown, and every
    /// extracted event has its observation.
    pub(super) fn check_settled(&self, seen: &StoreSnapshot) -> CheckResult {
        must!(
            seen == &self.before,
            "something changed that nobody has done"
        );
        for (id, session) in &seen.sessions {
            if eligible(session, &self.switches).is_err() {
                continue;
            }
            let covered: Vec<(u64, u64)> = seen
                .windows_of(id)
                .into_iter()
                .chain(seen.gaps_of(id))
                .collect();
            for (_, event) in seen.log(id) {
                let seq = event.seq.0;
                let within = covered
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(&seq));
                let passed = self.passed.contains(&(id.clone(), seq));
                must!(
                    within || passed,
                    "{id}: event {seq} is neither extracted nor in a gap"
                );
            }
            self.check_observed(id)?;
        }
        Ok(())
    }

    /// Human events in live windows have an observation, unless a person retracted it.
    fn check_observed(&self, id: &SessionId) -> CheckResult {
        let windows = self.before.windows_of(id);
        for (_, event) in self.before.log(id) {
            let seq = event.seq.0;
            let passed = self
                .before
                .sessions
                .get(id)
                .is_some_and(|s| s.is_passed(event.seq));
            if !yields_observation(event)
                || passed
                || !windows
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(&seq))
            {
                continue;
            }
            let is_about = |observation: &daybook_domain::Observation| {
                let evidence = observation.evidence.iter();
                evidence
                    .filter(|evidence| &evidence.session == id)
                    .any(|evidence| evidence.events.contains(&event.seq))
            };
            let held = self.before.observations.values().flatten().any(is_about);
            let observation = self.observed.get(&(id.clone(), event.seq));
            let retracted = observation.is_some_and(|one| self.retracted.contains(one));
            must!(
                held || retracted,
                "{id}: event {seq} was extracted, and nothing is known of it"
            );
        }
        Ok(())
    }
}

/// Whether an event is one that the extractor of a simulation makes an observation of.
#[must_use]
pub fn yields_observation(event: &Event) -> bool {
    event.origin == Origin::Human && !event.sidechain
}

/// Whether a call may move done over events that were passed or yielded nothing.
fn may_pass(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Switched { .. } | Effect::Appended { .. } | Effect::Finished { .. }
    )
}

/// The tallies that a call raises.
fn raised_tallies(effect: &Effect) -> Vec<(JobKind, TallyKind)> {
    match effect {
        Effect::Claimed { kind, claimed, .. } => vec![(*kind, TallyKind::Claimed); claimed.len()],
        Effect::Finished { token, outcome, .. } => {
            vec![(token.job().kind(), TallyKind::finish(*outcome))]
        }
        Effect::Extracted {
            extraction,
            outcome,
            ..
        } => vec![(
            JobKind::Extract,
            TallyKind::extraction(*outcome, &extraction.yielded),
        )],
        Effect::Failed {
            token,
            failed,
            outcome,
            ..
        } => TallyKind::failure(failed.failure.class, outcome)
            .into_iter()
            .map(|what| (token.job().kind(), what))
            .collect(),
        Effect::Cancelled { key, gap: Some(_) } => vec![(key.kind(), TallyKind::Cancelled)],
        Effect::NoEffect
        | Effect::Changed
        | Effect::Refused(_)
        | Effect::Appended { .. }
        | Effect::Switched { .. }
        | Effect::Heartbeat { .. }
        | Effect::Released { .. }
        | Effect::Cancelled { gap: None, .. }
        | Effect::JobsChanged
        | Effect::Redone(_)
        | Effect::Retracted { .. } => Vec::new(),
    }
}
