//! The evidence of observations, and how its loss withdraws them.

use std::time::Duration;

use super::*;

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
    assert_eq!(observations_in(store, &scope).await, [both]);
    assert_eq!(state(store, &scope).await, (2, 1));
}

pub async fn observations_of_some_kinds_are_listed_over_scopes(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let kept = |scope: &Scope, kind: ObservationKind, text: &str, seq: u64| Observation {
        id: ObservationId::of(scope, kind, text),
        kind,
        ..observation(scope, text, vec![evidence(&id, &[seq])])
    };
    let (left, right) = (project_scope("left"), project_scope("right"));
    let (tabs, fix) = (ObservationKind::Preference, ObservationKind::Fix);
    let [late, early] = [kept(&left, tabs, "late", 7), kept(&left, tabs, "early", 3)];
    let over = kept(&right, ObservationKind::Correction, "never force", 1);
    let others = [
        kept(&right, fix, "raise the limit", 2),
        kept(&user_scope("ada"), tabs, "use tabs", 2),
    ];
    let gone = kept(&right, tabs, "gone", 5);
    let all = [&over, &late, &early, &gone, &others[0], &others[1]].map(Clone::clone);
    store.observe(&all, LATER).await.unwrap();
    assert!(store.retract(&right, gone.id, LATER).await.unwrap());
    let kinds = [tabs, ObservationKind::Correction];
    let of = async |tenant: &Tenant, kinds: &[ObservationKind]| {
        let listed = store.observations_of_kinds(tenant, ScopeKind::Project, kinds);
        listed.await.unwrap()
    };
    let local = Tenant::local();
    assert_eq!(of(&local, &kinds).await, [early, late, over]);
    assert_eq!(of(&local, &[fix]).await, others[..1]);
    assert_eq!(of(&local, &[]).await, []);
    assert_eq!(of(&Tenant("elsewhere".to_owned()), &kinds).await, []);
}

pub async fn what_was_learned_is_counted_by_the_time_of_its_evidence(store: &dyn Store) {
    let scope = user_scope("ada");
    let id = ten_events(store, "7f78aa01").await;
    let at_times = |text: &str, seconds: &[u64]| {
        let evidence = seconds.iter().map(|seconds| Evidence {
            at: at(*seconds),
            ..evidence(&id, &[*seconds % 10 + 1])
        });
        observation(&scope, text, evidence.collect())
    };
    let all = [
        at_times("use tabs", &[3, 7, 25]),
        at_times("never force", &[9]),
        at_times("raise the limit", &[25]),
        at_times("gone", &[25]),
    ];
    store.observe(&all, LATER).await.unwrap();
    assert!(store.retract(&scope, all[3].id, LATER).await.unwrap());
    let span = Duration::from_secs(10);
    let learned = async |tenant: &Tenant, from| {
        let learned = store.learned_by_span(tenant, from, span).await;
        learned.unwrap()
    };
    let local = Tenant::local();
    // Two pieces of one observation within a span are one, and an empty span is left out.
    let expected = [(at(0), 2), (at(20), 2)];
    assert_eq!(learned(&local, at(0)).await, expected);
    assert_eq!(learned(&local, at(8)).await, [(at(0), 1), (at(20), 2)]);
    assert_eq!(learned(&local, at(26)).await, []);
    assert_eq!(learned(&Tenant("elsewhere".to_owned()), at(0)).await, []);
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
    assert_eq!(observations_in(store, &scope).await, [both.clone()]);
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
    assert_eq!(observations_in(store, &other).await, [file(&both)]);
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
    // The same generation reads the window again, and more: its new results replace the old.
    let _ = extract(
        store,
        &id,
        (1, 10),
        vec![said("use tabs", 2), said("be kind", 9)],
    )
    .await;
    let texts: Vec<String> = observations_in(store, &scope)
        .await
        .into_iter()
        .map(|o| o.text)
        .collect();
    assert_eq!(texts, ["use tabs", "be kind"]);
    assert_eq!(windows(store).await, [("7f78aa01".to_owned(), 1, 10)]);
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
    let held = observations_in(store, &scope).await;
    let pieces = held.iter().flat_map(|observation| &observation.evidence);
    let found: Vec<Option<&str>> = pieces.map(|piece| piece.root.as_deref()).collect();
    assert_eq!(found, [Some("/home/ada/a"); 5]);
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
    assert_eq!(observations_in(store, &scope).await, [left]);
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
    assert_eq!(observations_in(store, &scope).await, [left]);
}

pub async fn what_a_person_took_back_stays_away_until_new_evidence_comes(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let said = |events: &[u64]| observation(&scope, "use tabs", vec![evidence(&id, events)]);
    assert!(!store.retract(&scope, said(&[2]).id, LATER).await.unwrap());
    let _ = extract(store, &id, (1, 10), vec![said(&[2, 4])]).await;
    assert!(store.retract(&scope, said(&[2]).id, LATER).await.unwrap());
    assert!(!store.retract(&scope, said(&[2]).id, LATER).await.unwrap());
    assert!(observations_in(store, &scope).await.is_empty());
    assert_eq!(state(store, &scope).await, (2, 0));
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let _ = extract(store, &id, (1, 10), vec![said(&[2])]).await;
    store.observe(&[said(&[2, 4])], LATER).await.unwrap();
    assert!(observations_in(store, &scope).await.is_empty());
    store.observe(&[said(&[4, 7])], LATER).await.unwrap();
    assert_eq!(observations_in(store, &scope).await, [said(&[4, 7])]);
}

pub async fn what_a_person_took_back_is_reinstated_as_it_was(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let said = |events: &[u64]| observation(&scope, "use tabs", vec![evidence(&id, events)]);
    let other = observation(&scope, "use UTC", vec![evidence(&id, &[2])]);
    let _ = extract(store, &id, (1, 10), vec![said(&[2, 4]), other.clone()]).await;
    let [held] = &observations_in(store, &scope).await[..1] else {
        panic!("two are held");
    };
    let held = held.clone();
    for gone in [&held, &other] {
        assert!(store.retract(&scope, gone.id, LATER).await.unwrap());
    }
    let before = state(store, &scope).await;
    store.reinstate(&held, LATER).await.unwrap();
    assert_eq!(
        observations_in(store, &scope).await,
        std::slice::from_ref(&held)
    );
    assert_eq!(state(store, &scope).await, (before.0 + 1, 1));
    // Once more it changes nothing, and a redo neither doubles its evidence nor brings the other back.
    store.reinstate(&held, LATER).await.unwrap();
    assert_eq!(state(store, &scope).await, (before.0 + 1, 1));
    let redo = JobKey::Extract(id.clone());
    store.redo(&redo, LATER).await.unwrap();
    let _ = extract(store, &id, (1, 10), vec![held.clone(), other]).await;
    assert_eq!(
        observations_in(store, &scope).await,
        std::slice::from_ref(&held)
    );
    assert!(store.retract(&scope, held.id, LATER).await.unwrap());
    assert!(observations_in(store, &scope).await.is_empty());
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
    assert_eq!(
        observations_in(store, &scope).await,
        std::slice::from_ref(&note)
    );
    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let _ = extract(store, &id, (1, 10), Vec::new()).await;
    assert_eq!(observations_in(store, &scope).await, [note]);
}

pub async fn evidence_may_cite_a_session_that_is_not_here(store: &dyn Store) {
    let lost = session("7f78aa01");
    let scope = user_scope("ada");
    let said = observation(&scope, "use tabs", vec![evidence(&lost, &[700])]);
    store
        .observe(std::slice::from_ref(&said), LATER)
        .await
        .unwrap();
    assert_eq!(
        observations_in(store, &scope).await,
        std::slice::from_ref(&said)
    );
    assert!(store.session(&lost).await.unwrap().is_none());
    assert!(
        store
            .sessions(&Tenant::local(), PageRequest::first(10))
            .await
            .unwrap()
            .items
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
    assert_eq!(observations_in(store, &scope).await, [said]);
}

pub async fn an_observation_has_the_most_trusted_origin_of_its_evidence(store: &dyn Store) {
    use ObservationOrigin::{Concluded, External, Tool};
    let scope = user_scope("ada");
    for (host_id, origin, expected) in [
        ("7f78aa01", External, External),
        ("9d21bb02", Concluded, Concluded),
        ("c3aa0003", Tool, Concluded),
    ] {
        let id = ten_events(store, host_id).await;
        let seen = Observation {
            stated: false,
            origin,
            ..observation(&scope, "port 8080", vec![evidence(&id, &[1])])
        };
        store.abandon("worker").await.unwrap();
        let _ = extract(store, &id, (1, 10), vec![seen]).await;
        assert_eq!(shown_origins(store, &scope).await, [expected]);
    }
    // Without the evidence that was trusted most, the next one counts.
    let id = session("9d21bb02");
    store
        .append(&append(&id, vec![retraction("back", &[1])]))
        .await
        .unwrap();
    store.abandon("worker").await.unwrap();
    let window = Extraction {
        retracted: vec![EventSeq(1)],
        yielded: Yield::Nothing,
        ..extraction(&id, (11, 11), Vec::new())
    };
    let token = claim(store, &id).await.token;
    let _ = store
        .finish_extraction(&token, &window, LATER)
        .await
        .unwrap();
    assert_eq!(shown_origins(store, &scope).await, [Tool]);
}

/// The origins of what is listed in a scope, which the index must show, too.
async fn shown_origins(store: &dyn Store, scope: &Scope) -> Vec<ObservationOrigin> {
    let listed: Vec<_> = observations_in(store, scope)
        .await
        .iter()
        .map(|seen| seen.origin)
        .collect();
    let steps = [CandidateQuery {
        all_of: vec!["8080".to_owned()],
        limit: 10,
    }];
    let found = candidates(store, &Tenant::local(), &steps, &SearchFilter::default())
        .await
        .unwrap();
    let indexed = found.into_iter().filter_map(|found| match found.what {
        DocumentKind::Observation { origin, .. } => Some(origin),
        DocumentKind::Entry { .. } | DocumentKind::Event { .. } => None,
    });
    assert_eq!(listed, indexed.collect::<Vec<_>>());
    listed
}
