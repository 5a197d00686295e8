//! Sessions, their events, the files that they came from and the imports that added them.

use std::collections::BTreeSet;

use daybook_domain::eligibility::{Switches, eligible};
use daybook_domain::seams::Append;
use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource};
use daybook_domain::{
    DueMark, Event, EventSeq, JobKey, Origin, Pollution, Priority, Scope, Session, SessionId,
    Timestamp,
};

use super::{ExtractionPass, KnownSession, LoggedEvent, Spec, project_scope, view};

impl Spec {
    pub(super) fn known_session(&self, id: &SessionId) -> Option<&KnownSession> {
        self.sessions.iter().find(|known| &known.session.id == id)
    }

    pub(super) fn log_of<'a>(&'a self, id: &'a SessionId) -> impl Iterator<Item = &'a LoggedEvent> {
        self.log.iter().filter(move |logged| &logged.session == id)
    }

    /// A session's last event and its number in citations.
    pub(super) fn end_of(&self, id: &SessionId) -> (u64, u32) {
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

    pub(super) fn session(&self, id: &SessionId) -> Option<Session> {
        let mut session = self.known_session(id)?.session.clone();
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

    /// Appends events, and returns how many were new, and whether one of them polluted the session.
    pub fn append(&mut self, append: &Append) -> (u64, bool) {
        let id = &append.session.id;
        let before = self.session(id);
        let path = append.source.as_ref().map(|source| source.path.clone());
        if before.is_none() {
            let label = self.label(&id.host_id);
            self.sessions.push(KnownSession {
                session: Session {
                    id: id.clone(),
                    label,
                    kind: append.session.kind,
                    memory_off: false,
                    switched_off: false,
                    kept_on: false,
                    pollution: None,
                    forked_from: None,
                    user: None,
                    surface: None,
                    venue: daybook_domain::Venue::default(),
                    first_at: Timestamp::ZERO,
                    last_at: Timestamp::ZERO,
                    events: EventSeq(0),
                    passed: Vec::new(),
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
        let own_file = self
            .known_session(id)
            .is_some_and(|known| known.first_file == path);
        let end = self.end_of(id).0;
        let added = self.add_events(append, own_file);
        let polluted = self.pollute(append, end);
        if let Some(source) = &append.source {
            self.put_source(source, append.import.map(|import| import.0));
        }
        self.mark_after(append, before.as_ref(), &added);
        (added.len() as u64, polluted)
    }

    /// Marks a session that an event after `end` pollutes; true if it was clean before.
    fn pollute(&mut self, append: &Append, end: u64) -> bool {
        let id = &append.session.id;
        let rule = &append.switches.pollution;
        let new = self.log_of(id).filter(|logged| logged.event.seq.0 > end);
        let first = new
            .filter_map(|logged| Some((rule.cause(&logged.new)?, &logged.event)))
            .min_by_key(|(_, event)| event.seq);
        let pollution = first.map(|(cause, event)| Pollution {
            cause,
            tool: None,
            event: event.seq,
            line: event.line,
            at: event.at,
        });
        let is_it = |known: &&mut KnownSession| &known.session.id == id;
        let Some(known) = self.sessions.iter_mut().find(is_it) else {
            return false;
        };
        if pollution.is_none() || known.session.kept_on {
            return false;
        }
        let was_clean = known.session.pollution.is_none();
        if was_clean {
            known.session.pollution = pollution;
        }
        self.raise_learned(id, append.now);
        was_clean
    }

    /// Raises the scopes that show what was learned from a session.
    fn raise_learned(&mut self, id: &SessionId, now: Timestamp) {
        let pieces = self.pieces.iter();
        let own = pieces.filter(|piece| {
            piece.live && piece.generation.is_some() && &piece.evidence.session == id
        });
        let mut scopes: BTreeSet<Scope> =
            own.map(|piece| piece.observation.scope.clone()).collect();
        let has_digest = |pass: &ExtractionPass| {
            pass.live && &pass.record.session == id && pass.record.digest.is_some()
        };
        if scopes.is_empty() && !self.passes.iter().any(has_digest) {
            return;
        }
        let places = self.log_of(id).filter_map(|l| l.event.place.as_ref());
        let projects = places.filter_map(|place| self.roots.get(&place.root));
        let projects: Vec<Scope> = projects
            .map(|project| project_scope(&project.key))
            .collect();
        scopes.extend(projects);
        self.raise(scopes, now);
    }

    pub(super) fn add_events(&mut self, append: &Append, own_file: bool) -> Vec<Timestamp> {
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
            self.log.push(LoggedEvent {
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

    pub(super) fn mark_after(
        &mut self,
        append: &Append,
        before: Option<&Session>,
        added: &[Timestamp],
    ) {
        let Some(after) = self.session(&append.session.id) else {
            return;
        };
        let eligible = |session: &Session| eligible(session, &append.switches).is_ok();
        let key = JobKey::Extract(after.id.clone());
        if !eligible(&after) {
            if after.switched_off && after.events.0 > 0 {
                self.pass(&key, after.events.0);
            }
            return;
        }
        let woken = !before.is_some_and(eligible) && after.events.0 > 0;
        if added.is_empty() && !woken {
            return;
        }
        let last = added.last().copied().unwrap_or(after.last_at);
        let active = if last == Timestamp::ZERO {
            append.now
        } else {
            last
        };
        let mark = match append.urgent {
            Some(priority) => DueMark::at_once(after.events.0, append.now, priority),
            None => DueMark::activity(after.events.0, active, append.patience),
        };
        let newest = self.log.iter().rev().take(added.len());
        let turns = newest.filter(|logged| logged.event.origin == Origin::Human);
        let turns = u32::try_from(turns.count()).unwrap_or(u32::MAX);
        self.mark(&key, mark.with_turns(turns));
    }

    /// Switches memory on or off for a session. False when there is no such session.
    pub fn switch(
        &mut self,
        id: &SessionId,
        on: bool,
        (switches, now): (&Switches, Timestamp),
    ) -> bool {
        let of_id = |known: &&mut KnownSession| &known.session.id == id;
        let Some(known) = self.sessions.iter_mut().find(of_id) else {
            return false;
        };
        let was_polluted = known.session.pollution.is_some();
        let changed = known.session.switch(on);
        let upto = self.session(id).map_or(0, |session| session.events.0);
        if changed && upto > 0 {
            self.pass(&JobKey::Extract(id.clone()), upto);
        }
        if on && was_polluted {
            self.raise_learned(id, now);
            let session = self.session(id);
            if upto > 0 && session.is_some_and(|session| eligible(&session, switches).is_ok()) {
                let mark = DueMark::at_once(upto, now, Priority::Normal);
                self.mark(&JobKey::Extract(id.clone()), mark);
            }
        }
        true
    }

    pub(super) fn label(&self, host_id: &str) -> String {
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

    /// Replaces the record of a file.
    pub fn put_source(&mut self, source: &TranscriptSource, import: Option<i64>) {
        let states = self.files.entry(source.path.clone()).or_default();
        states.push((import, Some(source.clone())));
    }

    /// Begins an import, and returns its number.
    pub fn begin_import(&mut self, now: Timestamp) -> i64 {
        self.begun += 1;
        self.imports.push(ImportRun {
            no: ImportNo(self.begun),
            began_at: now,
            ended_at: None,
            what: "all".to_owned(),
            events: 0,
            files: 0,
        });
        self.begun
    }

    /// The numbers of all imports.
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

    /// Undoes an import: first each stretch of events that it added, then the files.
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

    pub(super) fn take_out(&mut self, id: &SessionId, gone: &BTreeSet<u64>, now: Timestamp) {
        let mut concerned = BTreeSet::new();
        let touches = |pass: &ExtractionPass| {
            let window = pass.record.from.0..=pass.record.to.0;
            &pass.record.session == id && gone.iter().any(|seq| window.contains(seq))
        };
        for pass in self.passes.iter().filter(|pass| touches(pass)) {
            concerned.extend(self.project_of_pass(pass));
        }
        self.passes.retain(|pass| !touches(pass));
        self.log
            .retain(|l| &l.session != id || !gone.contains(&l.event.seq.0));
        concerned.extend(self.remove_events(id, gone));
        let key = JobKey::Extract(id.clone());
        let (last, _) = self.end_of(id);
        let was_polluted = self.is_polluted(id);
        if last == 0 {
            self.sessions.retain(|known| &known.session.id != id);
            self.jobs.retain(|job| job.key != key);
            self.gaps.retain(|gap| gap.job != key);
        } else if let Some(known) = self.sessions.iter_mut().find(|k| &k.session.id == id) {
            known.session.shorten(EventSeq(last));
        }
        if was_polluted && !self.is_polluted(id) {
            self.raise_learned(id, now);
        }
        if let Some(job) = self.jobs.iter_mut().find(|job| job.key == key) {
            job.shorten(last, now);
            let job = job.clone();
            self.gaps.retain(|gap| gap.job != key);
            self.forget_overtaken(&job);
        }
        self.raise(concerned, now);
    }

    /// The tokens of a session's events.
    #[must_use]
    pub fn tokens(&self, id: &SessionId) -> Vec<(EventSeq, String)> {
        self.log_of(id)
            .map(|logged| (logged.event.seq, logged.new.tokens.clone()))
            .collect()
    }
}
