//! How an append changes its session's row and its extraction.

use daybook_domain::eligibility::{Ineligible, Switches, eligible};
use daybook_domain::seams::{Append, AppendOutcome};
use daybook_domain::trigger::DueLimits;
use daybook_domain::working::NewThread;
use daybook_domain::{
    DueMark, EventSeq, NewEvent, Origin, Pollution, PollutionRule, RulesRevision, Session,
    SessionKind, SessionMeta, StoreError, Timestamp,
};

/// A session's row: what callers see of it, and the store's own fields.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    pub(crate) no: i64,
    pub(crate) tenant: i64,
    pub(crate) session: Session,
    /// False while the session has only been cited.
    pub(crate) known: bool,
    pub(crate) last_line: u32,
    pub(crate) first_source: Option<String>,
    pub(crate) scan: ScanState,
}

/// By which rules for secrets a session was redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanState {
    /// The rules that redacted all that is stored of it.
    pub(crate) rules: RulesRevision,
    /// The rules that a rescan brings, while one is raised.
    pub(crate) rescan: Option<RulesRevision>,
}

impl ScanState {
    /// A session of which nothing is stored.
    pub(crate) const NEW: Self = Self {
        rules: RulesRevision::UNKNOWN,
        rescan: None,
    };

    /// Records an append by `rules`. What other rules redacted is not covered by a rescan that has begun.
    pub(crate) fn note_append(&mut self, is_first: bool, rules: RulesRevision) {
        self.rules = match is_first {
            true => rules,
            false => self.rules.joined(rules),
        };
        self.rescan = self.rescan.filter(|&rescan| rescan == rules);
    }

    /// Whether a rescan by `rules` has to be raised.
    pub(crate) fn lacks(self, rules: RulesRevision) -> bool {
        self.rules != rules && self.rescan != Some(rules)
    }

    /// Records that a rescan by `rules` is raised.
    pub(crate) fn raise(&mut self, rules: RulesRevision) {
        self.rescan = Some(rules);
    }

    /// Records that a rescan by `rules` has ended.
    pub(crate) fn finish(&mut self, rules: RulesRevision) {
        self.rules = match self.rescan == Some(rules) {
            true => rules,
            false => RulesRevision::UNKNOWN,
        };
        self.rescan = None;
    }
}

/// The positions that an append gave its events.
#[derive(Debug, Clone)]
pub(crate) struct AppendPositions {
    /// The session's last event before.
    pub(crate) before: EventSeq,
    /// Its last event now.
    pub(crate) last: EventSeq,
    /// The position of each event of the append, already known ones included.
    pub(crate) seqs: Vec<EventSeq>,
    /// Whether it polluted the session.
    pub(crate) polluted: bool,
}

impl AppendPositions {
    /// Of an append of which nothing is stored, because all of it was purged.
    pub(crate) fn of_purged(append: &Append, last: EventSeq) -> Self {
        Self {
            before: last,
            last,
            seqs: vec![EventSeq(0); append.events.len()],
            polluted: false,
        }
    }

    pub(crate) fn outcome(&self) -> AppendOutcome {
        let added = self.last.0 - self.before.0;
        AppendOutcome {
            added,
            known: self.seqs.len() as u64 - added,
            polluted: self.polluted,
            last: self.last,
        }
    }
}

/// An empty append that creates a thread's session.
pub(crate) fn empty_append(new: &NewThread) -> Append {
    Append {
        session: new.session.clone(),
        events: Vec::new(),
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: Switches::default(),
        rules: new.rules,
        now: new.now,
    }
}

/// A session without any events.
pub(crate) fn new_session(meta: &SessionMeta, label: String) -> Session {
    Session {
        id: meta.id.clone(),
        label,
        kind: meta.kind,
        memory_off: false,
        switched_off: false,
        kept_on: false,
        pollution: None,
        forked_from: None,
        user: None,
        surface: None,
        venue: meta.venue.clone(),
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(0),
        passed: Vec::new(),
    }
}

/// Refuses an append to a session that is held elsewhere: its words would become the memory of the wrong room.
pub(crate) fn check_venue(session: &Session, meta: &SessionMeta) -> Result<(), StoreError> {
    let is_begun = session.events.0 > 0 || !session.venue.is_empty();
    match is_begun {
        true => check_venue_named(session, meta),
        false => Ok(()),
    }
}

/// Refuses a thread of an existing session that is held elsewhere than the request names.
pub(crate) fn check_venue_named(session: &Session, meta: &SessionMeta) -> Result<(), StoreError> {
    if session.venue.admits(&meta.venue) {
        return Ok(());
    }
    Err(StoreError::Refused(format!(
        "session {} began in another room, thread, team or scope than this request names; use another session id",
        session.id
    )))
}

/// Merges an append's metadata into its session.
pub(crate) fn merge_meta(session: &mut Session, meta: &SessionMeta) {
    session.kind = session.kind.joined(meta.kind);
    // A sub-agent's part does not carry the host's setting for the whole session.
    if meta.kind != SessionKind::SubAgent {
        session.memory_off = meta.memory_off;
    }
    let keep = |known: &mut Option<String>, new: &Option<String>| {
        if known.is_none() {
            known.clone_from(new);
        }
    };
    keep(&mut session.forked_from, &meta.forked_from);
    keep(&mut session.user, &meta.user);
    keep(&mut session.surface, &meta.surface);
    if session.events.0 == 0 && session.venue.is_empty() {
        session.venue = meta.venue.clone();
    }
}

/// Extends a session by one event.
pub(crate) fn add_event(session: &mut Session, seq: EventSeq, at: Timestamp) {
    session.events = seq;
    if at == Timestamp::ZERO {
        return;
    }
    session.last_at = session.last_at.max(at);
    session.first_at = match session.first_at {
        Timestamp::ZERO => at,
        first => first.min(at),
    };
}

/// The events that an append added.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddedEvents {
    /// When the last of them happened.
    last_at: Option<Timestamp>,
    /// Turns that began with them.
    turns: u32,
    /// The first of them that pollutes the session.
    pub(crate) pollution: Option<Pollution>,
}

impl AddedEvents {
    pub(crate) fn note(
        &mut self,
        event: &NewEvent,
        (seq, line): (EventSeq, u32),
        rule: &PollutionRule,
    ) {
        self.last_at = Some(event.at);
        if self.pollution.is_none() {
            self.pollution = rule.cause(event).map(|cause| Pollution {
                cause,
                tool: event.tool.clone(),
                event: seq,
                line,
                at: event.at,
            });
        }
        if event.origin == Origin::Human && !event.sidechain {
            self.turns += 1;
        }
    }
}

/// How an append changes the extraction of its session.
pub(crate) enum ExtractionEffect {
    /// No change: it added no event, or the session may still become eligible, and then as a whole.
    None,
    /// The extraction becomes due. A session that has just become eligible is due for all its events.
    Mark(DueMark),
    /// Memory is switched off: the added events are passed over.
    Pass(u64),
}

pub(crate) fn extraction_effect(
    before: Option<&Session>,
    after: &Session,
    added: &AddedEvents,
    append: &Append,
) -> ExtractionEffect {
    let switches = &append.switches;
    match eligible(after, switches) {
        Err(Ineligible::SwitchedOff) if after.events.0 > 0 => {
            return ExtractionEffect::Pass(after.events.0);
        }
        Err(_) => return ExtractionEffect::None,
        Ok(()) => {}
    }
    let was_eligible = |before| eligible(before, switches).is_ok();
    let woken = after.events.0 > 0 && !before.is_some_and(was_eligible);
    if added.last_at.is_none() && !woken {
        return ExtractionEffect::None;
    }
    let active = match added.last_at.unwrap_or(after.last_at) {
        Timestamp::ZERO => append.now,
        at => at,
    };
    let upto = after.events.0;
    let mark = match append.urgent {
        Some(priority) => DueMark::at_once(upto, append.now, priority),
        None => DueMark::activity(upto, active, append.patience),
    };
    ExtractionEffect::Mark(mark.with_turns(added.turns))
}
