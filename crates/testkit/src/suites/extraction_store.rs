//! What a store of extraction results promises.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::seams::{ScopeState, Store};
use daybook_domain::{
    Claimed, Digest, EntityChange, EntityWrite, EventSeq, Extraction, FinishOutcome, JobKey,
    JobKind, Observation, Scope, SessionId, Staged, StoreError, Tenant, Timestamp, Yield,
};

use crate::fixtures::*;

/// When these tests work: after everything has rested.
const LATER: Timestamp = Timestamp(DAWN.0 + 9_000_000);

/// A session of ten events, said a second apart.
async fn ten_events(store: &dyn Store, host_id: &str) -> SessionId {
    let id = session(host_id);
    store
        .append(&append(&id, events("word", 10)))
        .await
        .unwrap();
    id
}

async fn claim(store: &dyn Store, id: &SessionId) -> Claimed {
    let claims = store
        .claim(claim_of(JobKind::Extract, LATER, 10))
        .await
        .unwrap();
    let wanted = JobKey::Extract(id.clone());
    let found = claims
        .into_iter()
        .find(|claim| claim.token.job() == &wanted);
    found.expect("the session is due")
}

async fn finish(store: &dyn Store, claimed: &Claimed, extraction: &Extraction) -> FinishOutcome {
    let ended = store
        .finish_extraction(&claimed.token, extraction, LATER)
        .await;
    ended.expect("a sound extraction can be stored")
}

/// Claims a session and stores one window.
async fn extract(
    store: &dyn Store,
    id: &SessionId,
    window: (u64, u64),
    observations: Vec<Observation>,
) -> FinishOutcome {
    let claimed = claim(store, id).await;
    finish(store, &claimed, &extraction(id, window, observations)).await
}

async fn held(store: &dyn Store, scope: &Scope) -> Vec<Observation> {
    store.observations(scope).await.unwrap()
}

async fn state(store: &dyn Store, scope: &Scope) -> (u64, u64) {
    let states = store.scopes(&scope.tenant).await.unwrap();
    let found = states
        .into_iter()
        .find(|state: &ScopeState| &state.scope == scope);
    found.map_or((0, 0), |state| (state.revision, state.observations))
}

async fn windows(store: &dyn Store, project: Option<&str>) -> Vec<(String, u64, u64)> {
    let records = store.extractions(&Tenant::local(), project).await.unwrap();
    let window =
        |r: &daybook_domain::ExtractionRecord| (r.session.host_id.clone(), r.from.0, r.to.0);
    records.iter().map(window).collect()
}

pub async fn what_was_extracted_holds_and_raises_its_scope(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let mut said = observation(&scope, "Use tabs.", vec![evidence(&id, &[2, 5])]);
    said.subject = Some("indentation".to_owned());
    let ended = extract(store, &id, (1, 6), vec![said.clone()]).await;
    assert_eq!(ended, FinishOutcome::StillDue);
    assert_eq!(held(store, &scope).await, [said]);
    assert_eq!(state(store, &scope).await, (1, 1));
    let job = store
        .job(&JobKey::Consolidate(scope))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((job.input, job.due_at()), (1, Some(LATER)));
    let job = store
        .job(&JobKey::Extract(id.clone()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((job.input, job.done), (10, 6));
    assert_eq!(
        extract(store, &id, (7, 10), Vec::new()).await,
        FinishOutcome::Complete
    );
    assert_eq!(windows(store, None).await.len(), 2);
}

pub async fn a_lost_lease_stores_nothing(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let stale = claim(store, &id).await;
    store.abandon("worker").await.unwrap();
    let fresh = claim(store, &id).await;
    let said = observation(&user_scope("ada"), "use tabs", vec![evidence(&id, &[2])]);
    let whole = extraction(&id, (1, 10), vec![said.clone()]);
    assert_eq!(
        finish(store, &stale, &whole).await,
        FinishOutcome::LeaseLost
    );
    assert!(held(store, &said.scope).await.is_empty());
    assert!(windows(store, None).await.is_empty());
    assert_eq!(finish(store, &fresh, &whole).await, FinishOutcome::Complete);
    assert_eq!(
        finish(store, &fresh, &whole).await,
        FinishOutcome::LeaseLost
    );
    assert_eq!(held(store, &said.scope).await.len(), 1);
}

pub async fn a_lease_for_another_session_is_refused(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let other = ten_events(store, "8000").await;
    let claimed = claim(store, &id).await;
    let theirs = extraction(&other, (1, 10), Vec::new());
    let refused = store
        .finish_extraction(&claimed.token, &theirs, LATER)
        .await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let foreign = observation(&user_scope("ada"), "use tabs", vec![evidence(&other, &[2])]);
    let mixed = extraction(&id, (1, 10), vec![foreign]);
    let refused = store.finish_extraction(&claimed.token, &mixed, LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
}

pub async fn a_window_that_ends_before_it_begins_is_refused(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let claimed = claim(store, &id).await;
    let empty = extraction(&id, (1, 0), Vec::new());
    let refused = store.finish_extraction(&claimed.token, &empty, LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
}

pub async fn an_observation_without_evidence_is_refused(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let claimed = claim(store, &id).await;
    let bare = observation(&user_scope("ada"), "use tabs", Vec::new());
    let refused = store.observe(std::slice::from_ref(&bare), LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let whole = extraction(&id, (1, 10), vec![bare]);
    let refused = store.finish_extraction(&claimed.token, &whole, LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let job = store.job(&JobKey::Extract(id)).await.unwrap().unwrap();
    assert!(job.is_held_by(&claimed.token, LATER));
}

pub async fn nothing_is_recorded_as_nothing(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let said = observation(&user_scope("ada"), "use tabs", vec![evidence(&id, &[2])]);
    let _ = extract(store, &id, (1, 5), vec![said.clone()]).await;
    let claimed = claim(store, &id).await;
    let ended = finish(store, &claimed, &nothing(&id, (6, 10))).await;
    assert_eq!(ended, FinishOutcome::Complete);
    let records = store.extractions(&Tenant::local(), None).await.unwrap();
    let digests: Vec<bool> = records
        .iter()
        .map(|record| record.digest.is_some())
        .collect();
    assert_eq!(digests, [true, false]);
    assert_eq!(
        (records[1].from, records[1].to),
        (EventSeq(6), EventSeq(10))
    );
    assert_eq!((records[1].label.as_str(), records[1].at), ("7f78", LATER));
    assert_eq!(records[1].extractor, "test/1");
    assert_eq!(held(store, &said.scope).await, [said]);
}

pub async fn the_same_thing_learned_twice_is_one_observation(store: &dyn Store) {
    let scope = user_scope("ada");
    let a = ten_events(store, "7f78aa01").await;
    let b = ten_events(store, "8000").await;
    let first = observation(&scope, "use tabs", vec![evidence(&a, &[2])]);
    let again = observation(&scope, "Use tabs!", vec![evidence(&b, &[4])]);
    let _ = extract(store, &a, (1, 10), vec![first]).await;
    store.abandon("worker").await.unwrap();
    let _ = extract(store, &b, (1, 10), vec![again]).await;
    let both = observation(
        &scope,
        "use tabs",
        vec![evidence(&a, &[2]), evidence(&b, &[4])],
    );
    assert_eq!(held(store, &scope).await, [both]);
    assert_eq!(state(store, &scope).await, (2, 1));
}

pub async fn the_earliest_evidence_lends_its_words_whatever_came_first(store: &dyn Store) {
    let scope = user_scope("ada");
    let id = ten_events(store, "7f78aa01").await;
    let mut late = observation(&scope, "Use TABS", vec![evidence(&id, &[9])]);
    late.stated = false;
    late.subject = Some("late".to_owned());
    let early = observation(&scope, "use tabs", vec![evidence(&id, &[3])]);
    store.observe(&[late.clone()], LATER).await.unwrap();
    store
        .observe(std::slice::from_ref(&early), LATER)
        .await
        .unwrap();
    let mut both = early.clone();
    both.evidence.extend(late.evidence.clone());
    assert_eq!(held(store, &scope).await, [both.clone()]);
    let other = user_scope("bob");
    let file = |from: &Observation| Observation {
        id: daybook_domain::ObservationId::of(&other, from.kind, &from.text),
        scope: other.clone(),
        ..from.clone()
    };
    store
        .observe(&[file(&early), file(&late)], LATER)
        .await
        .unwrap();
    assert_eq!(held(store, &other).await, [file(&both)]);
}

pub async fn a_window_stored_twice_counts_once(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let said = |text: &str, seq| observation(&scope, text, vec![evidence(&id, &[seq])]);
    let _ = extract(
        store,
        &id,
        (1, 5),
        vec![said("use tabs", 2), said("be brief", 4)],
    )
    .await;
    // The same generation reads the window again, and more: what it finds now is what holds.
    let _ = extract(
        store,
        &id,
        (1, 10),
        vec![said("use tabs", 2), said("be kind", 9)],
    )
    .await;
    let texts: Vec<String> = held(store, &scope)
        .await
        .into_iter()
        .map(|o| o.text)
        .collect();
    assert_eq!(texts, ["use tabs", "be kind"]);
    assert_eq!(windows(store, None).await, [("7f78aa01".to_owned(), 1, 10)]);
}

pub async fn of_pieces_on_the_same_events_the_first_one_stays(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let texts = ["use tabs", "be brief", "be kind", "ask first", "say why"];
    let roots = ["/home/ada/a", "/home/ada/b", "/home/ada/c"];
    let said = |(text, root): (&str, &str)| {
        let mut piece = evidence(&id, &[2]);
        piece.root = Some(root.to_owned());
        observation(&scope, text, vec![piece])
    };
    let all = texts
        .iter()
        .flat_map(|text| roots.map(|root| (*text, root)));
    let _ = extract(store, &id, (1, 10), all.map(said).collect()).await;
    let held = held(store, &scope).await;
    let pieces = held.iter().flat_map(|observation| &observation.evidence);
    let found: Vec<Option<&str>> = pieces.map(|piece| piece.root.as_deref()).collect();
    assert_eq!(found, [Some("/home/ada/a"); 5]);
}

pub async fn a_redo_shows_nothing_until_it_has_caught_up(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let old = observation(&scope, "use tabs", vec![evidence(&id, &[2])]);
    let both = observation(&scope, "be brief", vec![evidence(&id, &[3])]);
    let new = observation(&scope, "be kind", vec![evidence(&id, &[4])]);
    let _ = extract(store, &id, (1, 10), vec![old.clone(), both.clone()]).await;
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let before = (held(store, &scope).await, windows(store, None).await);
    let _ = extract(store, &id, (1, 5), vec![both.clone(), new.clone()]).await;
    assert_eq!(
        (held(store, &scope).await, windows(store, None).await),
        before
    );
    assert_eq!(state(store, &scope).await, (1, 2));
    let ended = extract(store, &id, (6, 10), Vec::new()).await;
    assert_eq!(ended, FinishOutcome::Complete);
    assert_eq!(held(store, &scope).await, [both, new]);
    assert_eq!(windows(store, None).await.len(), 2);
    assert_eq!(state(store, &scope).await, (2, 2));
}

pub async fn a_redo_that_ends_without_results_still_replaces_the_old(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let old = observation(&scope, "use tabs", vec![evidence(&id, &[2])]);
    let _ = extract(store, &id, (1, 10), vec![old]).await;
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let claimed = claim(store, &id).await;
    let ended = store.finish(&claimed.token, 10, LATER).await.unwrap();
    assert_eq!(ended, FinishOutcome::Complete);
    assert!(held(store, &scope).await.is_empty());
    assert!(windows(store, None).await.is_empty());
    assert_eq!(state(store, &scope).await, (2, 0));
}

pub async fn a_redo_that_is_overtaken_leaves_nothing_behind(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let said = |text: &str| observation(&scope, text, vec![evidence(&id, &[2])]);
    let _ = extract(store, &id, (1, 10), vec![said("first")]).await;
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let _ = extract(store, &id, (1, 5), vec![said("second")]).await;
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    assert_eq!(held(store, &scope).await, [said("first")]);
    let _ = extract(store, &id, (1, 10), vec![said("third")]).await;
    assert_eq!(held(store, &scope).await, [said("third")]);
}

pub async fn a_retracted_event_takes_its_observations_along(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let only = observation(&scope, "use tabs", vec![evidence(&id, &[2])]);
    let both = observation(&scope, "be brief", vec![evidence(&id, &[2, 4])]);
    let _ = extract(store, &id, (1, 5), vec![only, both]).await;
    let claimed = claim(store, &id).await;
    let mut taken_back = nothing(&id, (6, 10));
    taken_back.retracted = vec![EventSeq(2)];
    let _ = finish(store, &claimed, &taken_back).await;
    let left = Observation {
        evidence: vec![evidence(&id, &[4])],
        ..observation(&scope, "be brief", Vec::new())
    };
    assert_eq!(held(store, &scope).await, [left]);
    assert_eq!(state(store, &scope).await, (2, 1));
}

pub async fn evidence_that_loses_its_first_event_is_as_old_as_the_next(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let early = observation(&scope, "Use tabs", vec![evidence(&id, &[2, 8])]);
    let late = observation(&scope, "use tabs!", vec![evidence(&id, &[5])]);
    let _ = extract(store, &id, (1, 9), vec![early, late]).await;
    let claimed = claim(store, &id).await;
    let mut taken_back = nothing(&id, (10, 10));
    taken_back.retracted = vec![EventSeq(2)];
    let _ = finish(store, &claimed, &taken_back).await;
    let left = observation(
        &scope,
        "use tabs!",
        vec![evidence(&id, &[5]), evidence(&id, &[8])],
    );
    let left = Observation {
        context: Some("context of use tabs!".to_owned()),
        ..left
    };
    assert_eq!(held(store, &scope).await, [left]);
}

pub async fn what_a_person_took_back_stays_away_until_new_evidence_comes(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let said = |events: &[u64]| observation(&scope, "use tabs", vec![evidence(&id, events)]);
    assert!(!store.retract(&scope, said(&[2]).id, LATER).await.unwrap());
    let _ = extract(store, &id, (1, 10), vec![said(&[2, 4])]).await;
    assert!(store.retract(&scope, said(&[2]).id, LATER).await.unwrap());
    assert!(!store.retract(&scope, said(&[2]).id, LATER).await.unwrap());
    assert!(held(store, &scope).await.is_empty());
    assert_eq!(state(store, &scope).await, (2, 0));
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let _ = extract(store, &id, (1, 10), vec![said(&[2])]).await;
    store.observe(&[said(&[2, 4])], LATER).await.unwrap();
    assert!(held(store, &scope).await.is_empty());
    store.observe(&[said(&[4, 7])], LATER).await.unwrap();
    assert_eq!(held(store, &scope).await, [said(&[4, 7])]);
}

pub async fn what_a_person_asked_to_remember_survives_a_redo(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let note = observation(&scope, "use tabs", vec![evidence(&id, &[2])]);
    store
        .observe(std::slice::from_ref(&note), LATER)
        .await
        .unwrap();
    let _ = extract(store, &id, (1, 10), vec![note.clone()]).await;
    assert_eq!(held(store, &scope).await, std::slice::from_ref(&note));
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let _ = extract(store, &id, (1, 10), Vec::new()).await;
    assert_eq!(held(store, &scope).await, [note]);
}

pub async fn concerned_scopes_are_raised_once(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let (ada, bob) = (user_scope("ada"), user_scope("bob"));
    let claimed = claim(store, &id).await;
    let said = |text: &str| observation(&ada, text, vec![evidence(&id, &[2])]);
    let mut whole = extraction(&id, (1, 10), vec![said("use tabs"), said("be brief")]);
    whole.concerns = vec![ada.clone(), bob.clone(), bob.clone()];
    let _ = finish(store, &claimed, &whole).await;
    assert_eq!(state(store, &ada).await, (1, 2));
    assert_eq!(state(store, &bob).await, (1, 0));
}

/// An extraction whose digest ends at `root`.
fn digested(id: &SessionId, window: (u64, u64), root: &str) -> Extraction {
    let digest = Digest {
        root: Some(root.to_owned()),
        commits: 2,
        ..Digest::default()
    };
    Extraction {
        yielded: Yield::Something {
            observations: Vec::new(),
            digest: Box::new(digest),
        },
        ..extraction(id, window, Vec::new())
    }
}

pub async fn a_digest_raises_the_project_of_its_root(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            LATER,
        )
        .await
        .unwrap();
    let scope = project_scope("engine");
    assert_eq!(state(store, &scope).await, (0, 0));
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &digested(&id, (1, 5), "/home/ada/engine")).await;
    assert_eq!(state(store, &scope).await, (1, 0));
    let claimed = claim(store, &id).await;
    let _ = finish(
        store,
        &claimed,
        &digested(&id, (6, 10), "/home/ada/nowhere"),
    )
    .await;
    assert_eq!(state(store, &scope).await, (1, 0));
    let records = store.extractions(&Tenant::local(), None).await.unwrap();
    let commits: Vec<u32> = records
        .iter()
        .flat_map(|r| &r.digest)
        .map(|d| d.commits)
        .collect();
    assert_eq!(commits, [2, 2]);
}

pub async fn touching_a_scope_makes_it_due(store: &dyn Store) {
    let scope = user_scope("ada");
    assert_eq!(store.touch_scope(&scope, at(1)).await.unwrap(), 1);
    assert_eq!(store.touch_scope(&scope, at(2)).await.unwrap(), 2);
    let job = store
        .job(&JobKey::Consolidate(scope.clone()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((job.input, job.due_at()), (2, Some(at(1))));
    assert_eq!(state(store, &scope).await, (2, 0));
}

pub async fn extractions_are_listed_by_project(store: &dyn Store) {
    let (a, b) = (session("a000"), session("b000"));
    let there = vec![event("here").in_place("/home/ada/engine")];
    store.append(&append(&b, there)).await.unwrap();
    store
        .append(&append(&a, vec![event("nowhere")]))
        .await
        .unwrap();
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            LATER,
        )
        .await
        .unwrap();
    for id in [&b, &a] {
        let _ = extract(store, id, (1, 1), Vec::new()).await;
        store.abandon("worker").await.unwrap();
    }
    let all = [("a000".to_owned(), 1, 1), ("b000".to_owned(), 1, 1)];
    assert_eq!(windows(store, None).await, all);
    assert_eq!(windows(store, Some("engine")).await, all[1..]);
    assert!(windows(store, Some("other")).await.is_empty());
}

pub async fn who_extracted_a_session_is_said_once(store: &dyn Store) {
    let (a, b) = (
        ten_events(store, "a000").await,
        ten_events(store, "b000").await,
    );
    for (id, window, extractor) in [
        (&b, (1, 4), "test/2"),
        (&b, (5, 7), "test/1"),
        (&b, (8, 10), "test/2"),
        (&a, (1, 10), "test/1"),
    ] {
        let claimed = claim(store, id).await;
        let by = Extraction {
            extractor: extractor.to_owned(),
            ..extraction(id, window, Vec::new())
        };
        let _ = finish(store, &claimed, &by).await;
        store.abandon("worker").await.unwrap();
    }
    store
        .redo(&JobKey::Extract(a.clone()), LATER)
        .await
        .unwrap();
    let claimed = claim(store, &a).await;
    let unseen = Extraction {
        extractor: "test/3".to_owned(),
        ..extraction(&a, (1, 5), Vec::new())
    };
    let _ = finish(store, &claimed, &unseen).await;
    let pairs = [(&a, "test/1"), (&b, "test/1"), (&b, "test/2")];
    let pairs = pairs.map(|(id, extractor)| (id.clone(), extractor.to_owned()));
    assert_eq!(store.extractors(&Tenant::local()).await.unwrap(), pairs);
    let elsewhere = Tenant("elsewhere".to_owned());
    assert_eq!(store.extractors(&elsewhere).await.unwrap(), []);
}

/// An extraction that sums its window up.
fn summed_up(id: &SessionId, window: (u64, u64), summary: &str) -> Extraction {
    let digest = Digest {
        summary: Some(summary.to_owned()),
        ..Digest::default()
    };
    Extraction {
        yielded: Yield::Something {
            observations: Vec::new(),
            digest: Box::new(digest),
        },
        ..extraction(id, window, Vec::new())
    }
}

pub async fn the_account_before_a_window_is_of_its_own_generation(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let before = async |redo, seq| {
        let digest = store.digest_before(&id, redo, EventSeq(seq)).await.unwrap();
        digest.and_then(|digest| digest.summary)
    };
    for pass in [
        summed_up(&id, (1, 3), "first"),
        summed_up(&id, (4, 6), "second"),
        nothing(&id, (7, 10)),
    ] {
        let claimed = claim(store, &id).await;
        let _ = finish(store, &claimed, &pass).await;
    }
    let some = |summary: &str| Some(summary.to_owned());
    assert_eq!(before(0, 1).await, None);
    assert_eq!(before(0, 4).await, some("first"));
    assert_eq!(before(0, 6).await, some("first"));
    assert_eq!(before(0, 11).await, some("second"));
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &summed_up(&id, (1, 5), "anew")).await;
    assert_eq!(before(claimed.redo, 6).await, some("anew"));
    let unknown = store.digest_before(&session("b000"), 0, EventSeq(9)).await;
    assert_eq!(unknown.unwrap(), None);
}

pub async fn evidence_may_cite_a_session_that_is_not_here(store: &dyn Store) {
    let lost = session("7f78aa01");
    let scope = user_scope("ada");
    let said = observation(&scope, "use tabs", vec![evidence(&lost, &[700])]);
    store
        .observe(std::slice::from_ref(&said), LATER)
        .await
        .unwrap();
    assert_eq!(held(store, &scope).await, std::slice::from_ref(&said));
    assert!(store.session(&lost).await.unwrap().is_none());
    assert!(
        store
            .sessions(&Tenant::local(), 10)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        store
            .find_sessions(&Tenant::local(), "7f")
            .await
            .unwrap()
            .is_empty()
    );
    store
        .append(&append(&lost, events("word", 1)))
        .await
        .unwrap();
    assert_eq!(store.session(&lost).await.unwrap().unwrap().label, "7f78");
    assert_eq!(held(store, &scope).await, [said]);
}

/// A pass that taught nothing and whose tools wrote this record.
fn staging(id: &SessionId, window: (u64, u64), content: &str) -> Extraction {
    Extraction {
        writes: vec![EntityWrite {
            entity: "tide".to_owned(),
            change: EntityChange::Record {
                record: "Source".to_owned(),
                content: content.to_owned(),
            },
            over: Some(u64::MAX),
        }],
        concerns: vec![user_scope("ada")],
        ..nothing(id, window)
    }
}

async fn staged(store: &dyn Store) -> Vec<Staged> {
    store.staged(&Tenant::local()).await.unwrap()
}

/// What is staged: window, and the record.
async fn shown(store: &dyn Store) -> Vec<(u64, u64, String)> {
    let content = |staged: &Staged| match &staged.writes[0].change {
        EntityChange::Record { content, .. } => content.clone(),
        EntityChange::Card { name, .. } => name.clone(),
    };
    let staged = staged(store).await;
    let shown = |s: &Staged| (s.from.0, s.to.0, content(s));
    staged.iter().map(shown).collect()
}

pub async fn staged_writes_land_with_the_finish_and_stay_until_they_are_taken_out(
    store: &dyn Store,
) {
    let id = ten_events(store, "7f78aa01").await;
    let stale = claim(store, &id).await;
    store.abandon("worker").await.unwrap();
    let claimed = claim(store, &id).await;
    let lost = finish(store, &stale, &staging(&id, (1, 5), "lost")).await;
    assert_eq!(
        (lost, staged(store).await),
        (FinishOutcome::LeaseLost, Vec::new())
    );
    let first = staging(&id, (1, 5), "the \"harbour\"\n\0");
    let _ = finish(store, &claimed, &first).await;
    let expected = Staged {
        session: id.clone(),
        label: "7f78".to_owned(),
        from: EventSeq(1),
        to: EventSeq(5),
        at: LATER,
        writes: first.writes.clone(),
    };
    assert_eq!(staged(store).await, std::slice::from_ref(&expected));
    assert_eq!(state(store, &user_scope("ada")).await, (1, 0));
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &staging(&id, (6, 10), "the pier")).await;
    for _ in 0..2 {
        store
            .unstage(std::slice::from_ref(&expected))
            .await
            .unwrap();
        assert_eq!(shown(store).await, [(6, 10, "the pier".to_owned())]);
    }
    assert_eq!(state(store, &user_scope("ada")).await, (2, 0));
    let elsewhere = Tenant("other".to_owned());
    assert_eq!(store.staged(&elsewhere).await.unwrap(), []);
}

pub async fn staged_writes_go_with_their_window(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    for window in [(1, 3), (4, 6), (7, 8)] {
        let claimed = claim(store, &id).await;
        let _ = finish(store, &claimed, &staging(&id, window, "old")).await;
    }
    let before = staged(store).await;
    let claimed = claim(store, &id).await;
    let taking_back = Extraction {
        retracted: vec![EventSeq(5), EventSeq(9)],
        ..staging(&id, (9, 10), "old")
    };
    let _ = finish(store, &claimed, &taking_back).await;
    let old = |from, to| (from, to, "old".to_owned());
    assert_eq!(shown(store).await, [old(1, 3), old(7, 8), old(9, 10)]);

    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &staging(&id, (1, 3), "new")).await;
    assert!(shown(store).await.contains(&(1, 3, "new".to_owned())));
    // What was staged anew for a window is not what was read before.
    store.unstage(&before).await.unwrap();
    assert_eq!(shown(store).await, [(1, 3, "new".to_owned()), old(9, 10)]);
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &nothing(&id, (4, 10))).await;
    assert_eq!(shown(store).await, [(1, 3, "new".to_owned())]);
}
