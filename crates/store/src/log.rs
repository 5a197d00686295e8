//! What an append makes of its session, and when it makes its extraction due.

use daybook_domain::eligibility::eligible;
use daybook_domain::seams::Append;
use daybook_domain::{EventSeq, Mark, Session, SessionKind, SessionMeta, Timestamp};

/// A session that nothing is known of yet.
pub(crate) fn blank(meta: &SessionMeta, label: String) -> Session {
    Session {
        id: meta.id.clone(),
        label,
        kind: meta.kind,
        memory_off: false,
        forked_from: None,
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(0),
    }
}

/// Takes in what an append says about its session.
pub(crate) fn learn(session: &mut Session, meta: &SessionMeta) {
    session.kind = session.kind.joined(meta.kind);
    // A sub-agent's part says nothing of what its host was told about the whole.
    if meta.kind != SessionKind::SubAgent {
        session.memory_off = meta.memory_off;
    }
    if session.forked_from.is_none() {
        session.forked_from.clone_from(&meta.forked_from);
    }
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

/// The mark that makes a session due after an append. None when the append added nothing, or when
/// memory is not made from the session; one that has just become eligible is due for all it has.
pub(crate) fn mark(
    before: Option<&Session>,
    after: &Session,
    last_added_at: Option<Timestamp>,
    append: &Append,
) -> Option<Mark> {
    eligible(after).ok()?;
    let woken = after.events.0 > 0 && before.is_none_or(|before| eligible(before).is_err());
    if last_added_at.is_none() && !woken {
        return None;
    }
    let active = match last_added_at.unwrap_or(after.last_at) {
        Timestamp::ZERO => append.now,
        at => at,
    };
    Some(Mark::activity(after.events.0, active, append.patience))
}
