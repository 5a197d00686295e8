//! Which observations no longer hold.

use daybook_domain::{SupersededObservation, Supersession, SupersessionReason};

use super::*;

fn replaced(earlier: &Observation, later: &Observation, until: u64) -> Supersession {
    Supersession {
        earlier: earlier.id,
        later: later.id,
        reason: SupersessionReason::Replaced,
        until: at(until),
    }
}

async fn superseded(store: &dyn Store, id: &SessionId, event: u64) -> Vec<SupersededObservation> {
    let events = [(id.clone(), EventSeq(event))];
    store
        .superseded_by_event(&id.tenant, &events)
        .await
        .unwrap()
}

pub async fn what_no_longer_holds_is_found_by_the_events_that_it_rests_on(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let tabs = observation(&scope, "Use tabs.", vec![evidence(&id, &[2, 5])]);
    let spaces = observation(&scope, "Use spaces.", vec![evidence(&id, &[7])]);
    let both = vec![tabs.clone(), spaces.clone()];
    let ended = extract(store, &id, (1, 10), both.clone()).await;
    assert_eq!(ended, FinishOutcome::Complete);
    let revision = state(store, &scope).await;
    let change = replaced(&tabs, &spaces, 7);
    store.set_supersessions(&scope, &[change]).await.unwrap();
    assert_eq!(state(store, &scope).await, revision);
    assert_eq!(observations_in(store, &scope).await, both);
    let found = |event| SupersededObservation {
        event: (id.clone(), EventSeq(event)),
        scope: scope.clone(),
        supersession: change,
    };
    assert_eq!(superseded(store, &id, 5).await, [found(5)]);
    assert_eq!(superseded(store, &id, 3).await, []);
    assert_eq!(superseded(store, &id, 7).await, []);
    let wanted = [spaces.id, ObservationId(1), tabs.id].map(|id| (scope.clone(), id));
    let known = store
        .known_observations(&scope.tenant, &wanted)
        .await
        .unwrap();
    let known: Vec<_> = known.iter().map(Option::as_deref).collect();
    let (later, earlier) = ((spaces, None), (tabs, Some(change)));
    assert_eq!(known, [Some(&later), None, Some(&earlier)]);
    let none = store.known_observations(&scope.tenant, &[]).await.unwrap();
    assert_eq!(none, []);
}

pub async fn what_is_noted_of_a_scope_replaces_what_was_noted_before(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let (scope, other) = (user_scope("ada"), project_scope("ledger"));
    let of =
        |scope: &Scope, text: &str, event| observation(scope, text, vec![evidence(&id, &[event])]);
    let all = vec![
        of(&scope, "Use tabs.", 2),
        of(&scope, "Use spaces.", 4),
        of(&scope, "Use two spaces.", 6),
        of(&other, "Round down.", 3),
        of(&other, "Round up.", 8),
    ];
    let ended = extract(store, &id, (1, 10), all.clone()).await;
    assert_eq!(ended, FinishOutcome::Complete);
    let first = [replaced(&all[0], &all[1], 4)];
    let second = [replaced(&all[1], &all[2], 6)];
    let elsewhere = [replaced(&all[3], &all[4], 8)];
    store.set_supersessions(&scope, &first).await.unwrap();
    store.set_supersessions(&other, &elsewhere).await.unwrap();
    store.set_supersessions(&scope, &second).await.unwrap();
    let ended = async |event| {
        let found = superseded(store, &id, event).await;
        found.iter().map(|one| one.supersession).collect::<Vec<_>>()
    };
    assert_eq!(ended(2).await, []);
    assert_eq!(ended(4).await, second);
    assert_eq!(ended(3).await, elsewhere);
    store.set_supersessions(&scope, &[]).await.unwrap();
    assert_eq!(ended(4).await, []);
    assert_eq!(ended(3).await, elsewhere);
}

pub async fn words_that_a_person_took_back_are_found_by_their_events(store: &dyn Store) {
    let scope = user_scope("ada");
    let id = ten_events(store, "7f78aa01").await;
    let tabs = observation(&scope, "Use tabs.", vec![evidence(&id, &[2, 5])]);
    let ended = extract(store, &id, (1, 10), vec![tabs.clone()]).await;
    assert_eq!(ended, FinishOutcome::Complete);
    let other = ten_events(store, "7f78aa02").await;
    let spaces = observation(&scope, "Use spaces.", vec![evidence(&other, &[7])]);
    let ended = extract(store, &other, (1, 10), vec![spaces.clone()]).await;
    assert_eq!(ended, FinishOutcome::Complete);
    let both = [id.clone(), other.clone()];
    let forgotten = async |sessions: &[SessionId]| {
        let found = store.retracted_texts(&id.tenant, sessions).await.unwrap();
        found
            .into_iter()
            .map(|one| (one.session, one.seq.0, one.text))
            .collect::<Vec<_>>()
    };
    assert_eq!(forgotten(&both).await, []);
    for taken_back in [&tabs, &spaces] {
        store.retract(&scope, taken_back.id, at(20)).await.unwrap();
    }
    let words = "Use tabs.".to_owned();
    let of_id = [(id.clone(), 2, words.clone()), (id.clone(), 5, words)];
    assert_eq!(forgotten(std::slice::from_ref(&id)).await, of_id);
    assert_eq!(forgotten(&both).await.len(), 3);
    assert_eq!(forgotten(&[session("unknown")]).await, []);
    store.reinstate(&tabs, at(30)).await.unwrap();
    assert_eq!(forgotten(std::slice::from_ref(&id)).await, []);
}
