//! What must hold after every step, whoever did what when.
//!
//! The rules are those of DESIGN.md that concern jobs. They are checked against what the calls did, not
//! against a second implementation of them: that is what [`crate::model`] does.
//!
//! The extractor of a simulation must yield one observation for each human event of its window, with that
//! event as its evidence, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use daybook_domain::claim::Lane;
use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::{
    Claimed, Event, EventSeq, Extraction, FailOutcome, FinishOutcome, Job, JobKey, JobKind,
    LeaseToken, ObservationId, Origin, SessionId, Tallied, Timestamp, Yield,
};

use super::deed::{Call, Deed};
use super::seen::Seen;

/// What a broken promise comes to: a sentence.
pub type Kept = Result<(), String>;

macro_rules! must {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// Checks one step after another.
#[derive(Debug, Default)]
pub(super) struct Promises {
    switches: Switches,
    before: Seen,
    counted: BTreeMap<(JobKind, Tallied), u64>,
    /// What was said while memory was off, or waited when it was switched off.
    passed: BTreeSet<(SessionId, u64)>,
    /// Which observation was made of an event.
    taught: BTreeMap<(SessionId, EventSeq), ObservationId>,
    /// What a person took back.
    retracted: BTreeSet<ObservationId>,
    /// Grants to others since a lane's work is due and was not taken.
    waits: BTreeMap<(JobKind, Lane), usize>,
}

impl Promises {
    pub(super) fn new(switches: Switches) -> Self {
        Self {
            switches,
            ..Self::default()
        }
    }

    /// What there was after the last step.
    pub(super) fn before(&self) -> &Seen {
        &self.before
    }

    /// What there is before the first step.
    pub(super) fn begin(&mut self, seen: Seen) {
        self.counted.clone_from(&seen.tallies);
        self.before = seen;
    }

    /// Checks what one call has done.
    pub(super) fn check(&mut self, call: &Call, after: Seen) -> Kept {
        self.logs(&call.deed, &after)?;
        self.tokens(&call.deed, &after)?;
        self.watermarks(&call.deed, &after)?;
        self.claims(&call.deed, &after)?;
        self.results(&after)?;
        self.tallies(&call.deed, &after)?;
        if let Deed::Refused(why) = &call.deed {
            return Err(format!("{} was refused: {why}", call.name));
        }
        self.note(&call.deed);
        self.before = after;
        Ok(())
    }

    fn note(&mut self, deed: &Deed) {
        if let Deed::Retracted { id, .. } = deed {
            self.retracted.insert(*id);
        }
        let Deed::Extracted { extraction, .. } = deed else {
            return;
        };
        let Yield::Something { observations, .. } = &extraction.yielded else {
            return;
        };
        for observation in observations {
            for seq in observation.evidence.iter().flat_map(|one| &one.events) {
                let event = (extraction.session.clone(), *seq);
                self.taught.insert(event, observation.id);
            }
        }
    }

    /// Promise 1: what was acknowledged is there, once, in order.
    fn logs(&self, deed: &Deed, after: &Seen) -> Kept {
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
        let Deed::Appended { append, appended } = deed else {
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
    fn tokens(&self, deed: &Deed, after: &Seen) -> Kept {
        let (token, now, lost) = match deed {
            Deed::Beat { token, now, held } | Deed::Released { token, now, held } => {
                (token, now, !held)
            }
            Deed::Finished {
                token,
                now,
                outcome,
                ..
            }
            | Deed::Extracted {
                token,
                now,
                outcome,
                ..
            } => (token, now, *outcome == FinishOutcome::LeaseLost),
            Deed::Failed {
                token,
                now,
                outcome,
                ..
            } => (token, now, *outcome == FailOutcome::LeaseLost),
            _ => return Ok(()),
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
            let unchanged = Seen {
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

    /// Promises 2 and 5: done follows input, input only rises, and each rise of done has its reason.
    fn watermarks(&mut self, deed: &Deed, after: &Seen) -> Kept {
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
                matches!(deed, Deed::Redone(of) if of.as_ref().is_none_or(|of| of == key));
            must!(
                job.done >= before.done || (begun_anew && job.done == 0),
                "{key}: done fell from {} to {}",
                before.done,
                job.done
            );
            if job.done > before.done {
                let (from, to) = (before.done + 1, job.done);
                let reason = self.reason(deed, key, (from, to), after);
                reason.map_err(|why| format!("{key}: done moved over {from}..={to}: {why}"))?;
                if let (JobKey::Extract(id), true) = (key, passes(deed)) {
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

    /// Why a job's done may have moved over a range.
    fn reason(&self, deed: &Deed, key: &JobKey, (from, to): (u64, u64), after: &Seen) -> Kept {
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
        match (deed, key) {
            (Deed::Extracted { extraction, .. }, JobKey::Extract(id)) => {
                must!(&extraction.session == id, "another session was extracted");
                must!(
                    (extraction.from.0, extraction.to.0) == (from, to),
                    "only {}..={} was read",
                    extraction.from.0,
                    extraction.to.0
                );
                self.extracted(extraction, after)
            }
            (Deed::Finished { token, .. }, JobKey::Consolidate(_)) => {
                let granted = self.before.jobs.get(key).and_then(|job| job.lease.as_ref());
                let upto = granted.map_or(0, |lease| lease.upto);
                must!(token.job() == key && to <= upto, "only {upto} was granted");
                Ok(())
            }
            (
                Deed::Failed {
                    outcome: FailOutcome::GaveUp(gap),
                    ..
                }
                | Deed::Cancelled { gap: Some(gap), .. },
                _,
            ) => given_up(gap),
            // Switching on passes over what was said meanwhile.
            (Deed::Switched { .. }, JobKey::Extract(_)) => Ok(()),
            (Deed::Appended { .. } | Deed::Finished { .. }, JobKey::Extract(id)) => {
                let session = &after.sessions[id];
                let off = eligible(session, &self.switches).is_err();
                must!(off, "memory is on, and nobody read it");
                Ok(())
            }
            _ => Err("nobody read it".to_owned()),
        }
    }

    /// Promises 2 and 6: an extraction reads its whole window, of a session that it may read.
    fn extracted(&self, extraction: &Extraction, after: &Seen) -> Kept {
        let id = &extraction.session;
        let session = &after.sessions[id];
        if let Err(why) = eligible(session, &self.switches) {
            return Err(format!("not to be extracted: {}", why.reason()));
        }
        let said: Vec<EventSeq> = after
            .log(id)
            .iter()
            .filter(|(_, event)| event.seq >= extraction.from && event.seq <= extraction.to)
            .filter(|(_, event)| teaches(event) && !session.is_passed(event.seq))
            .map(|(_, event)| event.seq)
            .collect();
        let observations = match &extraction.yielded {
            Yield::Nothing => &[][..],
            Yield::Something { observations, .. } => observations,
        };
        let mut taught: Vec<EventSeq> = observations
            .iter()
            .flat_map(|observation| &observation.evidence)
            .flat_map(|evidence| evidence.events.clone())
            .collect();
        taught.sort_unstable();
        must!(
            said == taught,
            "of what was said in it, only {taught:?} taught something"
        );
        Ok(())
    }

    /// Promises 3 and 9: no job is granted twice, and no lane waits for long.
    fn claims(&mut self, deed: &Deed, after: &Seen) -> Kept {
        let Deed::Claimed { kind, now, claimed } = deed else {
            return Ok(());
        };
        for one in claimed {
            self.granted(one, *now, after)?;
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

    fn granted(&self, one: &Claimed, now: Timestamp, after: &Seen) -> Kept {
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

    /// Promise 4: no window and no observation is there twice.
    fn results(&self, after: &Seen) -> Kept {
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
            self.stays(id, after)?;
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

    /// Promise 2: what memory was made from stays so, or becomes a gap that is shown.
    fn stays(&self, id: &SessionId, after: &Seen) -> Kept {
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

    /// Promise 10: what is counted is what happened.
    fn tallies(&mut self, deed: &Deed, after: &Seen) -> Kept {
        for (kind, what) in counted(deed) {
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

    /// Promises 2 and 8, when all is quiet: everything is extracted or in a gap that is shown, and what was
    /// extracted is known.
    pub(super) fn settled(&self, seen: &Seen) -> Kept {
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
            self.known(id)?;
        }
        Ok(())
    }

    /// What was said in live windows is observed, unless a person took it back.
    fn known(&self, id: &SessionId) -> Kept {
        let windows = self.before.windows_of(id);
        for (_, event) in self.before.log(id) {
            let seq = event.seq.0;
            let passed = self
                .before
                .sessions
                .get(id)
                .is_some_and(|s| s.is_passed(event.seq));
            if !teaches(event)
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
            let observation = self.taught.get(&(id.clone(), event.seq));
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
pub fn teaches(event: &Event) -> bool {
    event.origin == Origin::Human && !event.sidechain
}

/// Whether a deed moves done only over what nobody may learn.
fn passes(deed: &Deed) -> bool {
    matches!(
        deed,
        Deed::Switched { .. } | Deed::Appended { .. } | Deed::Finished { .. }
    )
}

/// How a deed is counted.
fn counted(deed: &Deed) -> Vec<(JobKind, Tallied)> {
    match deed {
        Deed::Claimed { kind, claimed, .. } => vec![(*kind, Tallied::Claimed); claimed.len()],
        Deed::Finished { token, outcome, .. } => {
            vec![(token.job().kind(), Tallied::finish(*outcome))]
        }
        Deed::Extracted {
            extraction,
            outcome,
            ..
        } => vec![(
            JobKind::Extract,
            Tallied::extraction(*outcome, &extraction.yielded),
        )],
        Deed::Failed {
            token,
            failed,
            outcome,
            ..
        } => Tallied::failure(failed.failure.class, outcome)
            .into_iter()
            .map(|what| (token.job().kind(), what))
            .collect(),
        Deed::Cancelled { key, gap: Some(_) } => vec![(key.kind(), Tallied::Cancelled)],
        _ => Vec::new(),
    }
}
