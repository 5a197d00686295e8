//! What a store should have become: lists that are searched from the front.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::eligibility::eligible;
use daybook_domain::index::{Document, FileEntry, Filter, Found};
use daybook_domain::seams::{Append, ScopeState};
use daybook_domain::source::{Import, Source};
use daybook_domain::{
    Event, EventSeq, Evidence, Extraction, ExtractionRecord, FinishOutcome, Gap, Job, JobKey,
    JobKind, LeaseToken, Mark, NewEvent, Observation, ObservationId, Place, Priority, Project,
    Scope, ScopeKind, Session, SessionId, Tenant, Timestamp, Yield,
};

use super::view::{self, View};

/// A store as it should be.
#[derive(Debug, Default)]
pub struct Spec {
    sessions: Vec<Known>,
    log: Vec<Logged>,
    /// What each file was known as over time, the present last, each with the import that said so.
    files: BTreeMap<String, Vec<FileState>>,
    imports: Vec<Import>,
    begun: i64,
    /// Sessions that an import brought in.
    born: Vec<(i64, SessionId)>,
    roots: BTreeMap<String, Project>,
    projects: BTreeMap<String, Project>,
    jobs: Vec<Job>,
    gaps: Vec<Gap>,
    revisions: BTreeMap<Scope, u64>,
    passes: Vec<Pass>,
    claims: Vec<Claim>,
    taken_back: Vec<TakenBack>,
    entries: Vec<(Scope, String, Timestamp, FileEntry)>,
}

/// What a file was known as, and the import that said so.
type FileState = (Option<i64>, Option<Source>);

#[derive(Debug)]
struct Known {
    session: Session,
    first_file: Option<String>,
}

#[derive(Debug)]
struct Logged {
    session: SessionId,
    event: Event,
    new: NewEvent,
    import: Option<i64>,
}

#[derive(Debug)]
struct Pass {
    record: ExtractionRecord,
    generation: u32,
    live: bool,
}

/// One piece of evidence, with the observation that it was brought for.
#[derive(Debug, Clone)]
struct Claim {
    observation: Observation,
    evidence: Evidence,
    generation: Option<u32>,
    live: bool,
}

#[derive(Debug, Clone)]
struct TakenBack {
    observation: Observation,
    session: SessionId,
    seq: EventSeq,
    root: Option<String>,
}

fn project_scope(name: &str) -> Scope {
    crate::fixtures::project_scope(name)
}

impl Spec {
    fn known(&self, id: &SessionId) -> Option<&Known> {
        self.sessions.iter().find(|known| &known.session.id == id)
    }

    fn log_of<'a>(&'a self, id: &'a SessionId) -> impl Iterator<Item = &'a Logged> {
        self.log.iter().filter(move |logged| &logged.session == id)
    }

    /// A session's last event and its number in citations.
    fn end_of(&self, id: &SessionId) -> (u64, u32) {
        let last = self
            .log_of(id)
            .map(|logged| &logged.event)
            .max_by_key(|event| event.seq);
        last.map_or((0, 0), |event| (event.seq.0, event.line))
    }

    /// The session's last event.
    #[must_use]
    pub fn last_of(&self, id: &SessionId) -> u64 {
        self.end_of(id).0
    }

    fn session(&self, id: &SessionId) -> Option<Session> {
        let mut session = self.known(id)?.session.clone();
        let dated = || {
            self.log_of(id)
                .map(|l| l.event.at)
                .filter(|&at| at != Timestamp::ZERO)
        };
        session.events = EventSeq(self.end_of(id).0);
        session.first_at = dated().min().unwrap_or(Timestamp::ZERO);
        session.last_at = dated().max().unwrap_or(Timestamp::ZERO);
        Some(session)
    }

    /// Appends, and says how many events were added.
    pub fn append(&mut self, append: &Append) -> u64 {
        let id = &append.session.id;
        let before = self.session(id);
        let path = append.source.as_ref().map(|source| source.path.clone());
        if before.is_none() {
            let label = self.label(&id.host_id);
            self.sessions.push(Known {
                session: Session {
                    id: id.clone(),
                    label,
                    kind: append.session.kind,
                    memory_off: false,
                    forked_from: None,
                    first_at: Timestamp::ZERO,
                    last_at: Timestamp::ZERO,
                    events: EventSeq(0),
                },
                first_file: path.clone(),
            });
            self.born
                .extend(append.import.map(|import| (import.0, id.clone())));
        }
        if let Some(known) = self
            .sessions
            .iter_mut()
            .find(|known| &known.session.id == id)
        {
            known.session.memory_off = append.session.memory_off;
        }
        let own_file = self.known(id).is_some_and(|known| known.first_file == path);
        let added = self.add_events(append, own_file);
        if let Some(source) = &append.source {
            self.put_source(source, append.import.map(|import| import.0));
        }
        self.mark_after(append, before.as_ref(), &added);
        added.len() as u64
    }

    fn add_events(&mut self, append: &Append, own_file: bool) -> Vec<Timestamp> {
        let id = &append.session.id;
        let mut added = Vec::new();
        let mut shift = 0;
        for new in &append.events {
            if self.log_of(id).any(|logged| logged.new.id == new.id) {
                continue;
            }
            let (last, last_line) = self.end_of(id);
            let shares = own_file || !added.is_empty();
            let moved = new.line + shift;
            let line = if new.line > 0 && (moved > last_line || (moved == last_line && shares)) {
                moved
            } else {
                shift = if new.line > 0 {
                    last_line + 1 - new.line
                } else {
                    shift
                };
                last_line + 1
            };
            added.push(new.at);
            let event = Event {
                seq: EventSeq(last + 1),
                line,
                origin: new.origin,
                at: new.at,
                text: new.text.clone(),
                tool: None,
                call: None,
                status: None,
                sidechain: false,
                place: new.place.clone(),
            };
            self.log.push(Logged {
                session: id.clone(),
                event,
                new: new.clone(),
                import: append.import.map(|import| import.0),
            });
            for import in self
                .imports
                .iter_mut()
                .filter(|i| Some(i.no) == append.import)
            {
                import.events += 1;
            }
        }
        added
    }

    fn mark_after(&mut self, append: &Append, before: Option<&Session>, added: &[Timestamp]) {
        let Some(after) = self.session(&append.session.id) else {
            return;
        };
        let was_eligible = before.is_some_and(|before| eligible(before).is_ok());
        let woken = !was_eligible && after.events.0 > 0;
        if eligible(&after).is_err() || (added.is_empty() && !woken) {
            return;
        }
        let last = added.last().copied().unwrap_or(after.last_at);
        let active = if last == Timestamp::ZERO {
            append.now
        } else {
            last
        };
        let mark = Mark::activity(after.events.0, active, append.patience);
        self.mark(&JobKey::Extract(after.id), mark);
    }

    fn label(&self, host_id: &str) -> String {
        let others = || {
            self.sessions
                .iter()
                .map(|known| known.session.id.host_id.as_str())
        };
        let prefixes = (4..=host_id.len()).map(|length| &host_id[..length]);
        let free = prefixes
            .clone()
            .find(|p| !others().any(|other| other.starts_with(p)));
        free.unwrap_or(host_id).to_owned()
    }

    /// Replaces what is known of a file.
    pub fn put_source(&mut self, source: &Source, import: Option<i64>) {
        let states = self.files.entry(source.path.clone()).or_default();
        states.push((import, Some(source.clone())));
    }

    /// Begins an import, and says its number.
    pub fn begin_import(&mut self, now: Timestamp) -> i64 {
        self.begun += 1;
        self.imports.push(Import {
            no: daybook_domain::source::ImportNo(self.begun),
            began_at: now,
            ended_at: None,
            what: "all".to_owned(),
            events: 0,
            files: 0,
        });
        self.begun
    }

    /// The imports that there are.
    #[must_use]
    pub fn imports(&self) -> Vec<i64> {
        self.imports.iter().map(|import| import.no.0).collect()
    }

    /// Ends an import.
    pub fn end_import(&mut self, no: i64, now: Timestamp) {
        for import in self.imports.iter_mut().filter(|import| import.no.0 == no) {
            import.ended_at = Some(now);
        }
    }

    /// Undoes an import: each stretch of events that it added, then the files.
    pub fn undo_import(&mut self, no: i64, now: Timestamp) {
        for id in view::sessions() {
            let own = self.log_of(&id).filter(|logged| logged.import == Some(no));
            let own: BTreeSet<u64> = own.map(|logged| logged.event.seq.0).collect();
            let mut stretches: Vec<BTreeSet<u64>> = Vec::new();
            for seq in own {
                match stretches.last_mut() {
                    Some(stretch) if stretch.contains(&(seq - 1)) => {
                        stretch.insert(seq);
                    }
                    _ => stretches.push(BTreeSet::from([seq])),
                }
            }
            let bore = self.born.contains(&(no, id.clone()));
            if bore
                && !stretches
                    .first()
                    .is_some_and(|stretch| stretch.contains(&1))
            {
                stretches.insert(0, BTreeSet::new());
            }
            for stretch in stretches.into_iter().rev() {
                self.take_out(&id, &stretch, now);
            }
        }
        self.born.retain(|(import, _)| *import != no);
        for states in self.files.values_mut() {
            let Some(first) = states.iter().position(|(import, _)| *import == Some(no)) else {
                continue;
            };
            let before = first.checked_sub(1).and_then(|at| states[at].1.clone());
            for (_, state) in &mut states[first..] {
                state.clone_from(&before);
            }
            states.retain(|(import, _)| *import != Some(no));
        }
        self.imports.retain(|import| import.no.0 != no);
    }

    fn take_out(&mut self, id: &SessionId, gone: &BTreeSet<u64>, now: Timestamp) {
        let mut concerned = BTreeSet::new();
        let touches = |pass: &Pass| {
            let window = pass.record.from.0..=pass.record.to.0;
            &pass.record.session == id && gone.iter().any(|seq| window.contains(seq))
        };
        for pass in self.passes.iter().filter(|pass| touches(pass)) {
            concerned.extend(self.project_of_pass(pass));
        }
        self.passes.retain(|pass| !touches(pass));
        self.log
            .retain(|l| &l.session != id || !gone.contains(&l.event.seq.0));
        concerned.extend(self.cut(id, gone));
        let key = JobKey::Extract(id.clone());
        let (last, _) = self.end_of(id);
        if last == 0 {
            self.sessions.retain(|known| &known.session.id != id);
            self.jobs.retain(|job| job.key != key);
            self.gaps.retain(|gap| gap.job != key);
        } else if let Some(job) = self.jobs.iter_mut().find(|job| job.key == key) {
            job.shorten(last, now);
            let job = job.clone();
            self.gaps.retain(|gap| gap.job != key);
            self.forget_overtaken(&job);
        }
        self.raise(concerned, now);
    }

    /// Takes events out of evidence, and returns the scopes of what was seen to change.
    fn cut(&mut self, id: &SessionId, gone: &BTreeSet<u64>) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        let is_hit = |claim: &Claim| {
            let evidence = &claim.evidence;
            &evidence.session == id && evidence.events.iter().any(|seq| gone.contains(&seq.0))
        };
        let (hit, kept) = std::mem::take(&mut self.claims)
            .into_iter()
            .partition(is_hit);
        self.claims = kept;
        let hit: Vec<Claim> = hit;
        for mut claim in hit {
            if claim.live {
                concerned.insert(claim.observation.scope.clone());
            }
            let first = claim.evidence.events[0];
            let pairs = claim.evidence.events.iter().zip(&claim.evidence.lines);
            let left: Vec<(EventSeq, u32)> = pairs
                .map(|(&seq, &line)| (seq, line))
                .filter(|(seq, _)| !gone.contains(&seq.0))
                .collect();
            let Some(&(begins, _)) = left.first() else {
                continue;
            };
            let said = self
                .log_of(id)
                .find(|l| l.event.seq == begins)
                .map(|l| l.event.at);
            if begins != first && said.is_some_and(|at| at != Timestamp::ZERO) {
                claim.evidence.at = said.unwrap_or_default();
            }
            (claim.evidence.events, claim.evidence.lines) = left.into_iter().unzip();
            self.add(claim);
        }
        concerned
    }

    /// Adds a piece of evidence, unless it is known or taken back; true when it was added.
    fn add(&mut self, claim: Claim) -> bool {
        let same = |other: &Claim| {
            other.observation.scope == claim.observation.scope
                && other.observation.id == claim.observation.id
                && other.evidence.session == claim.evidence.session
                && other.evidence.events == claim.evidence.events
                && other.generation == claim.generation
        };
        let is_new = !self.claims.iter().any(same) && !self.is_taken_back(&claim);
        if is_new {
            self.claims.push(claim);
        }
        is_new
    }

    fn is_taken_back(&self, claim: &Claim) -> bool {
        let positions = positions(&claim.evidence);
        positions.iter().all(|seq| {
            self.taken_back.iter().any(|back| {
                back.observation.scope == claim.observation.scope
                    && back.observation.id == claim.observation.id
                    && back.session == claim.evidence.session
                    && back.seq == *seq
            })
        })
    }

    fn raise(&mut self, scopes: BTreeSet<Scope>, now: Timestamp) {
        for scope in scopes {
            let revision = self.revisions.entry(scope.clone()).or_default();
            *revision += 1;
            let mark = Mark::at_once(*revision, now, Priority::Normal);
            self.mark(&JobKey::Consolidate(scope), mark);
        }
    }

    /// Raises one scope.
    pub fn touch(&mut self, scope: &Scope, now: Timestamp) {
        self.raise(BTreeSet::from([scope.clone()]), now);
    }

    /// Raises a job's input.
    pub fn mark(&mut self, key: &JobKey, mark: Mark) {
        if self.job(key).is_none() {
            self.jobs.push(Job::new(key.clone()));
        }
        self.job_mut(key, |job| job.mark(mark));
    }

    /// The job with this key.
    #[must_use]
    pub fn job(&self, key: &JobKey) -> Option<&Job> {
        self.jobs.iter().find(|job| &job.key == key)
    }

    /// Changes the job with this key, if there is one.
    pub fn job_mut<T>(&mut self, key: &JobKey, change: impl FnOnce(&mut Job) -> T) -> Option<T> {
        self.jobs.iter_mut().find(|job| &job.key == key).map(change)
    }

    /// The jobs of a kind that are due, in the order in which they are granted.
    #[must_use]
    pub fn due(&self, kind: JobKind, now: Timestamp) -> Vec<JobKey> {
        let due = |job: &&Job| job.key.kind() == kind && job.due_at().is_some_and(|at| at <= now);
        let mut jobs: Vec<&Job> = self.jobs.iter().filter(due).collect();
        jobs.sort_by_key(|job| {
            let (tenant, owner, name) = job.key.parts();
            (-job.priority.rank(), job.due_at(), tenant, owner, name)
        });
        jobs.into_iter().map(|job| job.key.clone()).collect()
    }

    /// Frees the jobs of a holder, and says how many.
    pub fn abandon(&mut self, holder: &str) -> usize {
        self.jobs
            .iter_mut()
            .filter_map(|job| job.abandon(holder).then_some(()))
            .count()
    }

    /// Keeps a gap, in place of one that begins at the same position.
    pub fn keep_gap(&mut self, gap: Gap) {
        self.gaps
            .retain(|old| old.job != gap.job || old.from != gap.from);
        self.gaps.push(gap);
    }

    /// Begins a new generation of a job.
    pub fn redo(&mut self, key: &JobKey, now: Timestamp) {
        self.gaps.retain(|gap| &gap.job != key);
        self.job_mut(key, |job| job.begin_redo(now));
        if let Some(job) = self.job(key).cloned() {
            self.forget_overtaken(&job);
        }
    }

    /// Redoes the jobs with gaps that are meant, and says how many gaps went.
    pub fn revive(&mut self, key: Option<&JobKey>, engine: &str, now: Timestamp) -> usize {
        let meant = |gap: &&Gap| key.map_or(gap.engine != engine, |key| &gap.job == key);
        let keys: BTreeSet<JobKey> = self
            .gaps
            .iter()
            .filter(meant)
            .map(|gap| gap.job.clone())
            .collect();
        let before = self.gaps.len();
        for key in keys {
            self.redo(&key, now);
        }
        before - self.gaps.len()
    }

    fn forget_overtaken(&mut self, job: &Job) {
        let JobKey::Extract(id) = &job.key else {
            return;
        };
        self.passes
            .retain(|p| &p.record.session != id || p.live || p.generation >= job.redo);
        self.claims.retain(|claim| {
            &claim.evidence.session != id
                || claim.live
                || claim
                    .generation
                    .is_none_or(|generation| generation >= job.redo)
        });
    }

    /// Shows what a redo yielded, when it has caught up; returns the scopes that this concerns.
    fn swap(&mut self, key: &JobKey) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        let caught_up = self.job_mut(key, Job::take_caught_up).unwrap_or(false);
        let JobKey::Extract(id) = key else {
            return concerned;
        };
        if !caught_up {
            return concerned;
        }
        let redo = self.job(key).map_or(0, |job| job.redo);
        for pass in self.passes.iter().filter(|pass| &pass.record.session == id) {
            concerned.extend(self.project_of_pass(pass));
        }
        self.passes
            .retain(|pass| &pass.record.session != id || pass.generation == redo);
        for pass in self
            .passes
            .iter_mut()
            .filter(|pass| &pass.record.session == id)
        {
            pass.live = true;
        }
        self.claims.retain(|claim| {
            let old = &claim.evidence.session == id && claim.generation.is_some_and(|g| g < redo);
            if old && claim.live {
                concerned.insert(claim.observation.scope.clone());
            }
            !old
        });
        for claim in &mut self.claims {
            if &claim.evidence.session == id && !claim.live {
                claim.live = true;
                concerned.insert(claim.observation.scope.clone());
            }
        }
        concerned
    }

    /// After a claim ended without results: what its redo yielded may show now.
    pub fn settle(&mut self, key: &JobKey, now: Timestamp) {
        let concerned = self.swap(key);
        self.raise(concerned, now);
    }

    fn project_of_pass(&self, pass: &Pass) -> Option<Scope> {
        let root = pass.record.digest.as_ref()?.root.as_ref()?;
        self.roots
            .get(root)
            .map(|project| project_scope(&project.key))
    }

    /// Ends an extraction.
    pub fn finish_extraction(
        &mut self,
        token: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> FinishOutcome {
        let key = token.job();
        let Some(before) = self.job(key).cloned() else {
            return FinishOutcome::LeaseLost;
        };
        let ended = self.job_mut(key, |job| job.finish(token, extraction.to.0, now));
        let ended = ended.unwrap_or(FinishOutcome::LeaseLost);
        if ended == FinishOutcome::LeaseLost {
            return ended;
        }
        let id = &extraction.session;
        let (generation, live) = (before.redo, before.redo_until.is_none());
        let mut concerned: BTreeSet<Scope> = extraction.concerns.iter().cloned().collect();
        concerned.extend(self.replace_window(extraction, generation));
        let mut digest = None;
        if let Yield::Something {
            observations,
            digest: own,
        } = &extraction.yielded
        {
            concerned.extend(self.bring(observations, Some(generation), live));
            digest = Some(own.as_ref().clone());
        }
        let pass = Pass {
            record: ExtractionRecord {
                session: id.clone(),
                label: String::new(),
                from: extraction.from,
                to: extraction.to,
                digest,
                extractor: extraction.extractor.clone(),
                at: now,
            },
            generation,
            live,
        };
        concerned.extend(self.project_of_pass(&pass));
        self.passes.push(pass);
        let retracted = extraction.retracted.iter().map(|seq| seq.0).collect();
        concerned.extend(self.cut(id, &retracted));
        concerned.extend(self.swap(key));
        self.raise(concerned, now);
        ended
    }

    fn replace_window(&mut self, extraction: &Extraction, generation: u32) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        let id = &extraction.session;
        let inside = |from, to| from >= extraction.from && to <= extraction.to;
        self.passes.retain(|pass| {
            let same = &pass.record.session == id && pass.generation == generation;
            !(same && inside(pass.record.from, pass.record.to))
        });
        self.claims.retain(|claim| {
            let positions = positions(&claim.evidence);
            let same = &claim.evidence.session == id && claim.generation == Some(generation);
            let replaced = same && inside(positions[0], positions[positions.len() - 1]);
            if replaced && claim.live {
                concerned.insert(claim.observation.scope.clone());
            }
            !replaced
        });
        concerned
    }

    fn bring(
        &mut self,
        observations: &[Observation],
        generation: Option<u32>,
        live: bool,
    ) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        for observation in observations {
            for evidence in &observation.evidence {
                let added = self.add(Claim {
                    observation: observation.clone(),
                    evidence: evidence.clone(),
                    generation,
                    live,
                });
                if added && live {
                    concerned.insert(observation.scope.clone());
                }
            }
        }
        concerned
    }

    /// Stores what a person asked to remember.
    pub fn observe(&mut self, observations: &[Observation], now: Timestamp) {
        let concerned = self.bring(observations, None, true);
        self.raise(concerned, now);
    }

    /// Takes an observation back; false when it does not hold.
    pub fn retract(&mut self, scope: &Scope, id: ObservationId, now: Timestamp) -> bool {
        let is_meant = |c: &Claim| &c.observation.scope == scope && c.observation.id == id;
        if !self
            .claims
            .iter()
            .any(|claim| is_meant(claim) && claim.live)
        {
            return false;
        }
        let (meant, kept) = std::mem::take(&mut self.claims)
            .into_iter()
            .partition(is_meant);
        self.claims = kept;
        let meant: Vec<Claim> = meant;
        for claim in meant {
            for seq in positions(&claim.evidence) {
                let session = claim.evidence.session.clone();
                let root = claim.evidence.root.clone();
                self.taken_back.retain(|back| {
                    back.observation.scope != *scope
                        || back.observation.id != id
                        || back.session != session
                        || back.seq != seq
                });
                self.taken_back.push(TakenBack {
                    observation: claim.observation.clone(),
                    session,
                    seq,
                    root,
                });
            }
        }
        self.touch(scope, now);
        true
    }

    /// Says which project a root belongs to, and moves what was observed there.
    pub fn assign(&mut self, root: &str, project: &Project, now: Timestamp) {
        let before = self.roots.insert(root.to_owned(), project.clone());
        self.projects.insert(project.key.clone(), project.clone());
        let here = |place: &Option<Place>| place.as_ref().is_some_and(|place| place.root == root);
        let mut concerned = BTreeSet::new();
        let changed = before
            .as_ref()
            .is_none_or(|before| before.key != project.key);
        if changed && self.log.iter().any(|logged| here(&logged.event.place)) {
            concerned.insert(project_scope(&project.key));
            concerned.extend(before.map(|before| project_scope(&before.key)));
        }
        let elsewhere =
            |scope: &Scope| scope.kind == ScopeKind::Project && scope.name != project.key;
        let to = project_scope(&project.key);
        let moved = |observation: &Observation| Observation {
            id: ObservationId::of(&to, observation.kind, &observation.text),
            scope: to.clone(),
            ..observation.clone()
        };
        for back in &mut self.taken_back {
            if back.root.as_deref() == Some(root) && elsewhere(&back.observation.scope) {
                back.observation = moved(&back.observation);
            }
        }
        let misplaced = |claim: &Claim| {
            claim.evidence.root.as_deref() == Some(root) && elsewhere(&claim.observation.scope)
        };
        let (misplaced, kept) = std::mem::take(&mut self.claims)
            .into_iter()
            .partition(misplaced);
        self.claims = kept;
        let misplaced: Vec<Claim> = misplaced;
        for claim in misplaced {
            let from = claim.observation.scope.clone();
            let observation = moved(&claim.observation);
            let live = claim.live;
            let added = self.add(Claim {
                observation,
                ..claim
            });
            concerned.extend(live.then_some(from));
            concerned.extend((live && added).then(|| to.clone()));
        }
        self.raise(concerned, now);
    }

    /// Replaces what is known of a memory file.
    pub fn put_file(&mut self, scope: &Scope, file: &str, entries: &[FileEntry], now: Timestamp) {
        self.entries.retain(|(s, f, ..)| s != scope || f != file);
        for entry in entries {
            self.entries
                .push((scope.clone(), file.to_owned(), now, entry.clone()));
        }
    }

    /// The memory files that there are, each with when it was indexed and what is in it.
    #[must_use]
    pub fn memory_files(&self) -> Vec<(Scope, String, Timestamp, Vec<FileEntry>)> {
        let mut files: Vec<(Scope, String, Timestamp, Vec<FileEntry>)> = Vec::new();
        for (scope, file, at, entry) in &self.entries {
            match files.iter_mut().find(|(s, f, ..)| s == scope && f == file) {
                Some((.., entries)) => entries.push(entry.clone()),
                None => files.push((scope.clone(), file.clone(), *at, vec![entry.clone()])),
            }
        }
        files
    }

    /// The tokens of a session's events.
    #[must_use]
    pub fn tokens(&self, id: &SessionId) -> Vec<(EventSeq, String)> {
        self.log_of(id)
            .map(|logged| (logged.event.seq, logged.new.tokens.clone()))
            .collect()
    }

    fn observations(&self, scope: &Scope) -> Vec<Observation> {
        let live = self
            .claims
            .iter()
            .filter(|c| c.live && &c.observation.scope == scope);
        let mut by_id: BTreeMap<ObservationId, Vec<&Claim>> = BTreeMap::new();
        for claim in live {
            by_id.entry(claim.observation.id).or_default().push(claim);
        }
        let mut observations: Vec<Observation> = by_id.into_values().map(merged).collect();
        observations.sort_by_key(|observation| (observation.first_at(), observation.id));
        observations
    }

    fn documents(&self) -> Vec<(String, Document)> {
        let mut documents = Vec::new();
        for logged in &self.log {
            let event = &logged.event;
            let project = event
                .place
                .as_ref()
                .and_then(|place| self.roots.get(&place.root));
            let label = self.known(&logged.session).map(|k| k.session.label.clone());
            let document = Document {
                what: Found::Event {
                    origin: event.origin,
                },
                scope: project.map(|project| project_scope(&project.key)),
                text: event.text.clone(),
                context: None,
                at: event.at,
                session: Some((logged.session.clone(), label.unwrap_or_default())),
                events: vec![event.seq],
                lines: vec![event.line],
            };
            documents.push((logged.new.tokens.clone(), document));
        }
        for observation in view::scopes()
            .iter()
            .flat_map(|scope| self.observations(scope))
        {
            let shown = observation.evidence[0].clone();
            let document = Document {
                what: Found::Observation {
                    id: observation.id,
                    kind: observation.kind,
                },
                scope: Some(observation.scope),
                text: observation.text,
                context: observation.context,
                at: shown.at,
                session: Some((shown.session, shown.label)),
                events: shown.events,
                lines: shown.lines,
            };
            documents.push((observation.tokens, document));
        }
        for (scope, file, at, entry) in &self.entries {
            let document = Document {
                what: Found::Entry {
                    file: file.clone(),
                    line: entry.line,
                    observation: entry.observation,
                    citation: entry.citation.clone(),
                },
                scope: Some(scope.clone()),
                text: entry.text.clone(),
                context: Some(entry.heading.clone()),
                at: *at,
                session: None,
                events: Vec::new(),
                lines: Vec::new(),
            };
            documents.push((entry.tokens.clone(), document));
        }
        documents
    }

    /// All that should be seen.
    #[must_use]
    pub fn view(&self) -> View {
        let documents = self.documents();
        let holds = |tokens: &str, word: &String| tokens.split(' ').any(|token| token == word);
        let frequency = |word: &String| {
            documents
                .iter()
                .filter(|(tokens, _)| holds(tokens, word))
                .count() as u64
        };
        let search = |(words, filter): (Vec<String>, Filter)| {
            let found = documents.iter().filter(|(tokens, document)| {
                words.iter().all(|word| holds(tokens, word)) && admits(&filter, document)
            });
            let found: Vec<Document> = found.map(|(_, document)| document.clone()).collect();
            view::described(&found)
        };
        let scopes = view::scopes();
        View {
            sessions: self.listed_sessions(),
            logs: view::sessions()
                .iter()
                .map(|id| self.sorted_log(id))
                .collect(),
            sources: self
                .files
                .values()
                .filter_map(|s| s.last()?.1.clone())
                .collect(),
            imports: self
                .imports
                .iter()
                .rev()
                .map(|import| self.counted(import))
                .collect(),
            places: self.places(),
            projects: self.projects.values().cloned().collect(),
            jobs: self.sorted_jobs(),
            due: JobKind::ALL.map(|kind| self.next_due(kind)).to_vec(),
            holders: self.holders(),
            gaps: self.sorted_gaps(),
            scopes: self.scope_states(),
            observations: scopes
                .iter()
                .map(|scope| self.observations(scope))
                .collect(),
            extractions: self.records(|_| true),
            of_project: self.records(|id| self.worked_in(id, "left")),
            stamps: scopes.iter().map(|scope| self.stamps(scope)).collect(),
            documents: documents.len() as u64,
            frequencies: view::vocabulary().iter().map(frequency).collect(),
            found: view::searches().into_iter().map(search).collect(),
        }
    }

    fn listed_sessions(&self) -> Vec<Session> {
        let ids = self.sessions.iter().map(|known| &known.session.id);
        let mut sessions: Vec<Session> = ids.filter_map(|id| self.session(id)).collect();
        sessions.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.id.cmp(&b.id)));
        sessions
    }

    fn sorted_log(&self, id: &SessionId) -> Vec<Event> {
        let mut events: Vec<Event> = self.log_of(id).map(|l| l.event.clone()).collect();
        events.sort_by_key(|event| event.seq);
        events
    }

    fn counted(&self, import: &Import) -> Import {
        let touched =
            |states: &&Vec<FileState>| states.iter().any(|(by, _)| *by == Some(import.no.0));
        Import {
            files: self.files.values().filter(touched).count() as u64,
            ..import.clone()
        }
    }

    fn places(&self) -> Vec<(Place, Option<String>)> {
        let places: BTreeSet<&Place> = self
            .log
            .iter()
            .filter_map(|logged| logged.event.place.as_ref())
            .collect();
        let key = |place: &Place| {
            self.roots
                .get(&place.root)
                .map(|project| project.key.clone())
        };
        places
            .into_iter()
            .map(|place| (place.clone(), key(place)))
            .collect()
    }

    fn sorted_jobs(&self) -> Vec<Job> {
        let mut jobs = self.jobs.clone();
        let order = |job: &Job| (job.key.kind(), format!("{:?}", job.key.parts()));
        jobs.sort_by_key(order);
        jobs
    }

    /// When the next job of a kind falls due.
    #[must_use]
    pub fn next_due(&self, kind: JobKind) -> Option<Timestamp> {
        self.jobs
            .iter()
            .filter(|job| job.key.kind() == kind)
            .filter_map(Job::due_at)
            .min()
    }

    fn holders(&self) -> Vec<String> {
        let leases = self.jobs.iter().filter_map(|job| job.lease.as_ref());
        let holders: BTreeSet<String> = leases.map(|lease| lease.holder.clone()).collect();
        holders.into_iter().collect()
    }

    fn sorted_gaps(&self) -> Vec<Gap> {
        let mut gaps = self.gaps.clone();
        gaps.sort_by_key(|gap| (gap.job.kind(), format!("{:?}", gap.job.parts()), gap.from));
        gaps
    }

    fn scope_states(&self) -> Vec<ScopeState> {
        let state = |(scope, &revision): (&Scope, &u64)| ScopeState {
            scope: scope.clone(),
            revision,
            observations: self.observations(scope).len() as u64,
        };
        self.revisions.iter().map(state).collect()
    }

    fn records(&self, wanted: impl Fn(&SessionId) -> bool) -> Vec<ExtractionRecord> {
        let live = self
            .passes
            .iter()
            .filter(|p| p.live && wanted(&p.record.session));
        let labelled = |pass: &Pass| ExtractionRecord {
            label: self
                .known(&pass.record.session)
                .map_or(String::new(), |k| k.session.label.clone()),
            ..pass.record.clone()
        };
        let mut records: Vec<ExtractionRecord> = live.map(labelled).collect();
        records.sort_by(|a, b| (&a.session, a.from, a.to).cmp(&(&b.session, b.from, b.to)));
        records
    }

    fn worked_in(&self, id: &SessionId, key: &str) -> bool {
        let mut places = self
            .log_of(id)
            .filter_map(|logged| logged.event.place.as_ref());
        places.any(|place| {
            self.roots
                .get(&place.root)
                .is_some_and(|project| project.key == key)
        })
    }

    fn stamps(&self, scope: &Scope) -> Vec<(String, String)> {
        let own = self.entries.iter().filter(|(s, ..)| s == scope);
        let files: BTreeSet<String> = own.map(|(_, file, ..)| file.clone()).collect();
        files
            .into_iter()
            .map(|file| (file, "stamp".to_owned()))
            .collect()
    }
}

/// Events of a piece of evidence; position 0 stands for none.
fn positions(evidence: &Evidence) -> Vec<EventSeq> {
    match evidence.events.as_slice() {
        [] => vec![EventSeq(0)],
        events => events.to_vec(),
    }
}

/// The observation that pieces of evidence make: the earliest lends its words.
fn merged(mut claims: Vec<&Claim>) -> Observation {
    claims.sort_by_key(|claim| {
        let evidence = &claim.evidence;
        (
            evidence.at,
            &evidence.session,
            &evidence.events,
            claim.generation,
        )
    });
    let mut evidence: Vec<Evidence> = Vec::new();
    for claim in &claims {
        let own = &claim.evidence;
        if !evidence
            .iter()
            .any(|e| e.session == own.session && e.events == own.events)
        {
            evidence.push(own.clone());
        }
    }
    Observation {
        stated: claims.iter().any(|claim| claim.observation.stated),
        evidence,
        ..claims[0].observation.clone()
    }
}

fn admits(filter: &Filter, document: &Document) -> bool {
    let scope = filter.scopes.as_ref().is_none_or(|scopes| {
        document
            .scope
            .as_ref()
            .is_some_and(|scope| scopes.contains(scope))
    });
    let origin = match &document.what {
        Found::Event { origin } => filter.origins.is_empty() || filter.origins.contains(origin),
        Found::Entry { .. } | Found::Observation { .. } => true,
    };
    scope
        && origin
        && document
            .scope
            .as_ref()
            .is_none_or(|s| s.tenant == Tenant::local())
}
