//! What an append makes of its session, and when it makes its extraction due.

use daybook_domain::eligibility::{Ineligible, Switches, eligible};
use daybook_domain::seams::{Append, Appended};
use daybook_domain::trigger::Patience;
use daybook_domain::working::NewThread;
use daybook_domain::{
    EventSeq, Mark, NewEvent, Origin, Session, SessionKind, SessionMeta, Timestamp,
};

/// Where an append put its events.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// The session's last event before.
    pub(crate) before: EventSeq,
    /// Its last event now.
    pub(crate) last: EventSeq,
    /// The place of each of the append's events, those known already among them.
    pub(crate) seqs: Vec<EventSeq>,
}

impl Placed {
    pub(crate) fn appended(&self) -> Appended {
        let added = self.last.0 - self.before.0;
        Appended {
            added,
            known: self.seqs.len() as u64 - added,
            last: self.last,
        }
    }
}

/// What an append of nothing says of a thread's session, to make it known.
pub(crate) fn first_of(new: &NewThread) -> Append {
    Append {
        session: new.session.clone(),
        events: Vec::new(),
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: Patience::default(),
        urgent: None,
        switches: Switches::default(),
        now: new.now,
    }
}

/// A session that nothing is known of yet.
pub(crate) fn blank(meta: &SessionMeta, label: String) -> Session {
    Session {
        id: meta.id.clone(),
        label,
        kind: meta.kind,
        memory_off: false,
        switched_off: false,
        forked_from: None,
        user: None,
        surface: None,
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(0),
        passed: Vec::new(),
    }
}

/// Takes in what an append says about its session.
pub(crate) fn learn(session: &mut Session, meta: &SessionMeta) {
    session.kind = session.kind.joined(meta.kind);
    // A sub-agent's part says nothing of what its host was told about the whole.
    if meta.kind != SessionKind::SubAgent {
        session.memory_off = meta.memory_off;
    }
    let keep = |known: &mut Option<String>, said: &Option<String>| {
        if known.is_none() {
            known.clone_from(said);
        }
    };
    keep(&mut session.forked_from, &meta.forked_from);
    keep(&mut session.user, &meta.user);
    keep(&mut session.surface, &meta.surface);
}

/// Takes in one more event.
pub(crate) fn extend(session: &mut Session, seq: EventSeq, at: Timestamp) {
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
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Added {
    /// When the last of them happened.
    last_at: Option<Timestamp>,
    /// Turns that began with them.
    turns: u32,
}

impl Added {
    pub(crate) fn note(&mut self, event: &NewEvent) {
        self.last_at = Some(event.at);
        if event.origin == Origin::Human && !event.sidechain {
            self.turns += 1;
        }
    }
}

/// What an append does to the extraction of its session.
pub(crate) enum Concern {
    /// Nothing: it added no event, or the session may become eligible as a whole.
    None,
    /// It makes it due. A session that has just become eligible is due for all it has.
    Mark(Mark),
    /// Memory is switched off: what it added is passed over.
    Pass(u64),
}

pub(crate) fn concern(
    before: Option<&Session>,
    after: &Session,
    added: Added,
    append: &Append,
) -> Concern {
    let switches = &append.switches;
    match eligible(after, switches) {
        Err(Ineligible::SwitchedOff) if after.events.0 > 0 => return Concern::Pass(after.events.0),
        Err(_) => return Concern::None,
        Ok(()) => {}
    }
    let was_eligible = |before| eligible(before, switches).is_ok();
    let woken = after.events.0 > 0 && !before.is_some_and(was_eligible);
    if added.last_at.is_none() && !woken {
        return Concern::None;
    }
    let active = match added.last_at.unwrap_or(after.last_at) {
        Timestamp::ZERO => append.now,
        at => at,
    };
    let upto = after.events.0;
    let mark = match append.urgent {
        Some(priority) => Mark::at_once(upto, append.now, priority),
        None => Mark::activity(upto, active, append.patience),
    };
    Concern::Mark(mark.with_turns(added.turns))
}
