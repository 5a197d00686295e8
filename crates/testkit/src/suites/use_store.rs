//! The promises of a store of uses.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::limits::{USES, USES_AT_ONCE};
use daybook_domain::seams::{Append, Store};
use daybook_domain::{
    EventId, EventSeq, FinishOutcome, JobKey, JobKind, PageRequest, Scope, SessionId, StoreError,
    Tenant, Use, UseKind, UsedBy,
};

use super::extract;
use crate::fixtures::*;

use UseKind::{Cited, Shown};

/// A session of `count` human events.
async fn talk(store: &dyn Store, host_id: &str, count: u64) -> SessionId {
    let id = session(host_id);
    let told = append(&id, events(host_id, count));
    store.append(&told).await.unwrap();
    id
}

/// The identity of an event of [`talk`].
fn event_id(id: &SessionId, n: u64) -> EventId {
    event(&format!("{} {n}", id.host_id)).id
}

/// A use by the `n`th event of a session, at that event's time.
fn by_session((id, n): (&SessionId, u64), kind: UseKind, of: &SessionId, event: u64) -> Use {
    Use {
        session: of.clone(),
        event: EventSeq(event),
        kind,
        by: UsedBy::Session {
            session: id.clone(),
            event: event_id(id, n),
        },
        at: at(n),
    }
}

fn by_interface(interface: &str, kind: UseKind, of: &SessionId, event: u64) -> Use {
    Use {
        session: of.clone(),
        event: EventSeq(event),
        kind,
        by: UsedBy::Interface(interface.to_owned()),
        at: at(1),
    }
}

async fn note(store: &dyn Store, uses: &[Use]) -> u64 {
    let noted = store.note_uses(&Tenant::local(), uses, at(20)).await;
    noted.expect("uses can be noted")
}

async fn uses_of(store: &dyn Store, sessions: &[&SessionId]) -> Vec<Use> {
    let sessions: Vec<SessionId> = sessions.iter().copied().cloned().collect();
    store.uses(&Tenant::local(), &sessions).await.unwrap()
}

async fn revision(store: &dyn Store, scope: &Scope) -> u64 {
    let scopes = store
        .scopes(&Tenant::local(), PageRequest::first(100))
        .await
        .unwrap()
        .items;
    let found = scopes.into_iter().find(|state| state.scope == *scope);
    found.map_or(0, |state| state.revision)
}

pub async fn a_use_noted_again_is_one_use_with_the_later_time(store: &dyn Store) {
    let (old, new) = (talk(store, "aaaa", 3).await, talk(store, "bbbb", 3).await);
    let first = by_session((&new, 2), Cited, &old, 1);
    assert_eq!(note(store, std::slice::from_ref(&first)).await, 1);
    assert_eq!(note(store, std::slice::from_ref(&first)).await, 0);
    let earlier = by_session((&new, 1), Cited, &old, 1);
    let later = by_session((&new, 3), Cited, &old, 1);
    assert_eq!(note(store, &[later, earlier.clone()]).await, 0);
    assert_eq!(note(store, &[earlier]).await, 0);
    let kept = Use { at: at(3), ..first };
    assert_eq!(uses_of(store, &[&old]).await, [kept]);
    let twice = by_session((&new, 1), Cited, &old, 2);
    assert_eq!(note(store, &[twice.clone(), twice]).await, 1);
}

pub async fn uses_come_back_in_order_and_of_the_sessions_asked_for(store: &dyn Store) {
    let (a, b) = (talk(store, "aaaa", 3).await, talk(store, "bbbb", 3).await);
    let c = talk(store, "cccc", 3).await;
    let mut all = [
        by_session((&c, 1), Cited, &a, 2),
        by_session((&b, 1), Cited, &a, 2),
        by_session((&c, 2), Shown, &a, 2),
        by_interface("cli/2026-11-22", Shown, &a, 2),
        by_interface("cli/2026-11-23", Shown, &a, 2),
        by_session((&c, 3), Shown, &a, 1),
        by_session((&c, 1), Cited, &b, 3),
    ];
    assert_eq!(note(store, &all).await, 7);
    all.sort();
    assert_eq!(uses_of(store, &[&b, &a, &a]).await, all);
    assert_eq!(uses_of(store, &[&a]).await, all[..6]);
    assert_eq!(uses_of(store, &[&c, &session("unknown")]).await, []);
    assert_eq!(uses_of(store, &[]).await, []);
}

pub async fn what_is_no_use_of_another_sessions_event_is_passed_over(store: &dyn Store) {
    let (old, new) = (talk(store, "aaaa", 3).await, talk(store, "bbbb", 3).await);
    let nothing = [
        by_session((&new, 1), Cited, &old, 4),
        by_session((&new, 1), Cited, &old, 0),
        by_session((&new, 1), Cited, &session("unknown"), 1),
        by_session((&new, 2), Cited, &new, 1),
        by_interface("cli/2026-11-22", Shown, &old, 9),
    ];
    assert_eq!(note(store, &nothing).await, 0);
    assert_eq!(uses_of(store, &[&old, &new]).await, []);
    assert_eq!(note(store, &[]).await, 0);
}

pub async fn a_session_may_use_something_before_it_is_there(store: &dyn Store) {
    let (old, new) = (talk(store, "aaaa", 3).await, session("bbbb"));
    let cited = by_session((&new, 1), Cited, &old, 1);
    assert_eq!(note(store, std::slice::from_ref(&cited)).await, 1);
    assert!(store.session(&new).await.unwrap().is_none());
    talk(store, "bbbb", 1).await;
    assert_eq!(note(store, std::slice::from_ref(&cited)).await, 0);
    assert_eq!(uses_of(store, &[&old]).await, [cited]);
}

pub async fn a_new_citation_raises_what_rests_on_its_event_once(store: &dyn Store) {
    let (old, new) = (talk(store, "aaaa", 9).await, talk(store, "bbbb", 3).await);
    let (ada, left, right) = (
        user_scope("ada"),
        project_scope("left"),
        project_scope("right"),
    );
    let seen = vec![
        observation(&ada, "be brief", vec![evidence(&old, &[2, 5])]),
        observation(&ada, "use tabs", vec![evidence(&old, &[2])]),
        observation(&left, "be brief", vec![evidence(&old, &[5])]),
        observation(&right, "be brief", vec![evidence(&old, &[3, 7])]),
    ];
    extract(store, &old, seen).await;
    let revisions = async || {
        (
            revision(store, &ada).await,
            revision(store, &left).await,
            revision(store, &right).await,
        )
    };
    let (in_ada, in_left, in_right) = revisions().await;
    let shown = [
        by_session((&new, 1), Shown, &old, 2),
        by_interface("cli/2026-11-22", Shown, &old, 5),
    ];
    assert_eq!(note(store, &shown).await, 2);
    assert_eq!(revisions().await, (in_ada, in_left, in_right));
    let cited = [
        by_session((&new, 1), Cited, &old, 2),
        by_session((&new, 1), Cited, &old, 5),
        by_session((&new, 1), Cited, &old, 6),
    ];
    assert_eq!(note(store, &cited).await, 3);
    assert_eq!(revisions().await, (in_ada + 1, in_left + 1, in_right));
    assert_eq!(note(store, &cited).await, 0);
    assert_eq!(revisions().await, (in_ada + 1, in_left + 1, in_right));
    let key = JobKey::Consolidate(left);
    let job = store.job(&key).await.unwrap().expect("it was raised");
    assert_eq!(job.input, in_left + 1);
}

pub async fn what_does_not_hold_is_not_raised(store: &dyn Store) {
    let (old, new) = (talk(store, "aaaa", 9).await, talk(store, "bbbb", 3).await);
    let (gone, kept) = (user_scope("ada"), user_scope("bob"));
    let gone = observation(&gone, "be brief", vec![evidence(&old, &[2])]);
    let kept = observation(&kept, "be brief", vec![evidence(&old, &[2])]);
    extract(store, &old, vec![gone.clone(), kept.clone()]).await;
    let retracted = store.retract(&gone.scope, gone.id, at(9_600)).await;
    assert!(retracted.unwrap());
    // A redo that has not caught up yet: its results are not live so far.
    let waiting = observation(&user_scope("eve"), "be brief", vec![evidence(&old, &[2])]);
    let key = JobKey::Extract(old.clone());
    store.redo(&key, at(9_600)).await.unwrap();
    let claim = claim_of(JobKind::Extract, at(9_600), 10);
    let claimed = store.claim(claim).await.unwrap();
    let claimed = claimed.iter().find(|one| one.token.job() == &key);
    let part = extraction(&old, (1, 5), vec![waiting.clone()]);
    let token = &claimed.expect("the redo is due").token;
    let ended = store.finish_extraction(token, &part, at(9_600)).await;
    assert_eq!(ended.unwrap(), FinishOutcome::StillDue);
    let revisions = async || {
        (
            revision(store, &gone.scope).await,
            revision(store, &waiting.scope).await,
        )
    };
    let (before, held) = (revisions().await, revision(store, &kept.scope).await);
    let cited = by_session((&new, 1), Cited, &old, 2);
    assert_eq!(note(store, &[cited]).await, 1);
    assert_eq!(revisions().await, before);
    assert_eq!(revision(store, &kept.scope).await, held + 1);
}

pub async fn uses_are_bounded_for_each_kind_of_each_user(store: &dyn Store) {
    let limit = USES as u64;
    let old = session("aaaa");
    for part in events("aaaa", limit + 1).chunks(USES_AT_ONCE) {
        store.append(&append(&old, part.to_vec())).await.unwrap();
    }
    let new = talk(store, "bbbb", 1).await;
    let many: Vec<Use> = (1..=limit + 1)
        .map(|n| by_session((&new, 1), Shown, &old, n))
        .collect();
    let mut noted = 0;
    for part in many.chunks(USES_AT_ONCE) {
        noted += note(store, part).await;
    }
    assert_eq!(noted, limit);
    let too_many = &many[..=USES_AT_ONCE];
    let refused = store.note_uses(&Tenant::local(), too_many, DAWN).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let others = [
        by_session((&new, 1), Cited, &old, limit + 1),
        by_interface("cli/2026-11-22", Shown, &old, limit + 1),
    ];
    assert_eq!(note(store, &others).await, 2);
    assert_eq!(uses_of(store, &[&old]).await.len() as u64, limit + 2);
}

pub async fn no_use_reaches_behind_another_wall(store: &dyn Store) {
    let (old, new) = (talk(store, "aaaa", 3).await, talk(store, "bbbb", 3).await);
    let other = Tenant("other".to_owned());
    let theirs = |id: &SessionId| SessionId {
        tenant: other.clone(),
        ..id.clone()
    };
    let told = append(&theirs(&old), events("aaaa", 3));
    store.append(&told).await.unwrap();
    for joined in [
        by_session((&new, 1), Cited, &theirs(&old), 1),
        by_session((&theirs(&new), 1), Cited, &old, 1),
        by_interface("cli/2026-11-22", Shown, &theirs(&old), 1),
    ] {
        let refused = store.note_uses(&Tenant::local(), &[joined], DAWN).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))));
    }
    let ours = by_interface("cli/2026-11-22", Shown, &old, 1);
    let same = by_interface("cli/2026-11-22", Shown, &theirs(&old), 1);
    assert_eq!(note(store, std::slice::from_ref(&ours)).await, 1);
    let noted = store.note_uses(&other, std::slice::from_ref(&same), DAWN);
    assert_eq!(noted.await.unwrap(), 1);
    assert_eq!(uses_of(store, &[&old]).await, [ours]);
    let seen = store.uses(&other, &[theirs(&old)]).await;
    assert_eq!(seen.unwrap(), [same]);
}

pub async fn an_undone_import_takes_uses_of_its_events_along(store: &dyn Store) {
    let (old, new) = (session("aaaa"), talk(store, "bbbb", 1).await);
    talk(store, "aaaa", 2).await;
    let no = begin_import(store).await;
    let further = imported(&old, events("aaaa", 4), "/logs/a", no);
    store.append(&further).await.unwrap();
    let uses = [2, 3].map(|event| by_session((&new, 1), Cited, &old, event));
    assert_eq!(note(store, &uses).await, 2);
    undo(store, no).await;
    assert_eq!(uses_of(store, &[&old]).await, uses[..1]);
    // The same events, appended again, have no uses.
    talk(store, "aaaa", 4).await;
    assert_eq!(uses_of(store, &[&old]).await, uses[..1]);
}

pub async fn an_undone_import_takes_uses_by_its_events_along(store: &dyn Store) {
    let (old, new) = (talk(store, "aaaa", 3).await, session("bbbb"));
    let seen = observation(&user_scope("ada"), "be brief", vec![evidence(&old, &[2])]);
    extract(store, &old, vec![seen.clone()]).await;
    talk(store, "bbbb", 1).await;
    let no = begin_import(store).await;
    let (further, whole) = (events("bbbb", 2), session("cccc"));
    for told in [
        imported(&new, further, "/logs/b", no),
        imported(&whole, events("cccc", 1), "/logs/c", no),
    ] {
        let told: Append = told;
        store.append(&told).await.unwrap();
    }
    let uses = [
        by_session((&new, 1), Cited, &old, 1),
        by_session((&new, 2), Cited, &old, 2),
        by_session((&whole, 1), Shown, &old, 3),
        // By an event that never came.
        by_session((&whole, 9), Shown, &old, 2),
    ];
    assert_eq!(note(store, &uses).await, 4);
    let before = revision(store, &seen.scope).await;
    undo(store, no).await;
    assert_eq!(uses_of(store, &[&old]).await, uses[..1]);
    assert_eq!(revision(store, &seen.scope).await, before + 1);
}

async fn begin_import(store: &dyn Store) -> daybook_domain::source::ImportNo {
    let begun = store.begin_import(&Tenant::local(), "all", DAWN).await;
    begun.unwrap()
}

async fn undo(store: &dyn Store, no: daybook_domain::source::ImportNo) {
    let undone = store.undo_import(&Tenant::local(), no, at(9_700)).await;
    undone.expect("the import can be undone");
}
