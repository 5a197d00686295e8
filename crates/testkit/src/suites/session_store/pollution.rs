//! Sessions into which a call brought text from outside.

use daybook_domain::{FinishOutcome, NewEvent, Pollution, PollutionCause, Scope};

use super::*;

/// The work of a project, in one session, with a fact learned from it.
async fn learned(store: &dyn Store, host_id: &str, text: &str) -> (SessionId, Scope) {
    let id = session(host_id);
    let said = events(host_id, 2).into_iter();
    let there = said.map(|event| event.with_place("/home/ada/engine"));
    add(store, append(&id, there.collect())).await;
    let tenant = Tenant::local();
    store
        .assign_root(&tenant, "/home/ada/engine", &project("engine"), at(1))
        .await
        .unwrap();
    let scope = project_scope("engine");
    let seen = observation(&scope, text, vec![evidence(&id, &[1])]);
    extract(store, &id, vec![seen]).await;
    (id, scope)
}

/// An append of one event that pollutes the session.
fn searched(id: &SessionId, word: &str) -> Append {
    let place = event(word).with_place("/home/ada/engine");
    polluting(append(id, vec![place.with_origin(Origin::ToolResult)]))
}

async fn texts_in(store: &dyn Store, scope: &Scope) -> Vec<String> {
    let found = store.observations(scope).await.unwrap();
    let mut texts: Vec<String> = found.into_iter().map(|seen| seen.text).collect();
    texts.sort();
    texts
}

async fn revision(store: &dyn Store, scope: &Scope) -> u64 {
    let found = store
        .scopes(&scope.tenant, PageRequest::first(99))
        .await
        .unwrap();
    let mut states = found.items.iter();
    states
        .find(|state| &state.scope == scope)
        .map_or(0, |state| state.revision)
}

async fn ahead(store: &dyn Store, id: &SessionId) -> bool {
    let job = store.job(&JobKey::Extract(id.clone())).await.unwrap();
    job.is_some_and(|job| job.is_ahead())
}

pub async fn an_event_pollutes_its_session_only_where_settings_say_so(store: &dyn Store) {
    let id = session("7f78aa01");
    let found = event("found")
        .with_line(3)
        .with_origin(Origin::ToolResult)
        .with_time(at(5));
    let found = NewEvent {
        tool: Some("WebSearch".to_owned()),
        ..found
    };
    let mut off = append(&id, vec![event("asked").with_line(2), found.clone()]);
    off.source = Some(source("/logs/1", &id, 2));
    let mut on = off.clone();
    on.switches.pollution.is_on = true;
    assert!(!store.append(&off).await.unwrap().polluted);
    // Events that were known before pollute nothing.
    assert!(!store.append(&on).await.unwrap().polluted);
    assert_eq!(store.session(&id).await.unwrap().unwrap().pollution, None);
    let other = session("9d21bb02");
    on.session.id = other.clone();
    on.source = Some(source("/logs/2", &other, 2));
    assert!(store.append(&on).await.unwrap().polluted);
    let expected = Pollution {
        cause: PollutionCause::Web,
        tool: Some("WebSearch".to_owned()),
        event: EventSeq(2),
        line: 3,
        at: at(5),
    };
    let polluted = store.session(&other).await.unwrap().unwrap();
    assert_eq!(polluted.pollution, Some(expected));
    assert!(!ahead(store, &other).await);
    let listed = store.find_sessions(&Tenant::local(), "9d21").await.unwrap();
    assert_eq!(listed, [polluted]);
}

pub async fn what_was_learned_from_a_polluted_session_is_hidden_each_time(store: &dyn Store) {
    let (id, scope) = learned(store, "7f78aa01", "the port is 8080").await;
    let before = revision(store, &scope).await;
    let windows = store.extractions_of(&id).await.unwrap();
    assert!(
        store
            .append(&searched(&id, "found"))
            .await
            .unwrap()
            .polluted
    );
    assert_eq!(texts_in(store, &scope).await, Vec::<String>::new());
    assert!(
        store
            .extractions_in_project(&scope.tenant, "engine")
            .await
            .unwrap()
            .is_empty()
    );
    // The windows stay: they show how far the session was read.
    assert_eq!(store.extractions_of(&id).await.unwrap(), windows);
    let marked = revision(store, &scope).await;
    assert!(marked > before);
    let job = store
        .job(&JobKey::Consolidate(scope.clone()))
        .await
        .unwrap();
    assert!(job.is_some_and(|job| job.is_ahead()));
    let again = store.append(&searched(&id, "found more")).await.unwrap();
    assert!(!again.polluted);
    assert!(revision(store, &scope).await > marked);
    assert!(!ahead(store, &id).await);
}

pub async fn what_is_extracted_from_a_session_that_is_polluted_meanwhile_is_hidden(
    store: &dyn Store,
) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 1))).await;
    let claim = claim_of(JobKind::Extract, at(9_500), 1);
    let claimed = store.claim(claim).await.unwrap();
    add(store, searched(&id, "found")).await;
    let scope = project_scope("engine");
    let seen = observation(&scope, "the port is 8080", vec![evidence(&id, &[1])]);
    let window = extraction(&id, (1, 1), vec![seen]);
    let finished = store
        .finish_extraction(&claimed[0].token, &window, at(9_501))
        .await
        .unwrap();
    assert_ne!(finished, FinishOutcome::LeaseLost);
    assert_eq!(texts_in(store, &scope).await, Vec::<String>::new());
}

pub async fn what_others_stated_and_a_person_asked_for_stays_when_a_session_is_polluted(
    store: &dyn Store,
) {
    let (id, scope) = learned(store, "7f78aa01", "the port is 8080").await;
    let (_, _) = learned(store, "9d21bb02", "the port is 8080").await;
    let asked = observation(&scope, "deploy on Fridays", vec![evidence(&id, &[2])]);
    store.observe(&[asked], at(9)).await.unwrap();
    add(store, searched(&id, "found")).await;
    assert_eq!(
        texts_in(store, &scope).await,
        ["deploy on Fridays", "the port is 8080"]
    );
    let left = store.observations(&scope).await.unwrap();
    let sessions = left.iter().flat_map(|seen| &seen.evidence);
    let mut labels: Vec<&str> = sessions.map(|e| e.session.host_id.as_str()).collect();
    labels.sort_unstable();
    assert_eq!(labels, ["7f78aa01", "9d21bb02"]);
}

pub async fn a_person_who_switches_memory_on_gets_it_back_and_no_call_ends_it(store: &dyn Store) {
    let (id, scope) = learned(store, "7f78aa01", "the port is 8080").await;
    add(store, searched(&id, "found")).await;
    let marked = revision(store, &scope).await;
    let switches = Switches::default();
    assert!(
        store
            .switch_memory(&id, true, &switches, at(99))
            .await
            .unwrap()
    );
    assert_eq!(texts_in(store, &scope).await, ["the port is 8080"]);
    assert!(revision(store, &scope).await > marked);
    let job = store.job(&JobKey::Extract(id.clone())).await.unwrap();
    let job = job.expect("it was extracted before");
    assert_eq!((job.input, job.done, job.due_at()), (3, 2, Some(at(99))));
    let later = store.append(&searched(&id, "found more")).await.unwrap();
    assert!(!later.polluted);
    let known = store.session(&id).await.unwrap().unwrap();
    assert_eq!((known.kept_on, known.pollution), (true, None));
    assert_eq!(texts_in(store, &scope).await, ["the port is 8080"]);
    // Switched off, it is open to the next call again.
    store
        .switch_memory(&id, false, &switches, at(100))
        .await
        .unwrap();
    assert!(
        store
            .append(&searched(&id, "once more"))
            .await
            .unwrap()
            .polluted
    );
}

pub async fn undoing_the_import_of_the_polluting_event_ends_the_pollution(store: &dyn Store) {
    let (id, scope) = learned(store, "7f78aa01", "the port is 8080").await;
    let import = store
        .begin_import(&Tenant::local(), "all", at(2))
        .await
        .unwrap();
    let polluting = Append {
        import: Some(import),
        ..searched(&id, "found")
    };
    add(store, polluting).await;
    assert_eq!(texts_in(store, &scope).await, Vec::<String>::new());
    store
        .undo_import(&Tenant::local(), import, at(3))
        .await
        .unwrap();
    let known = store.session(&id).await.unwrap().unwrap();
    assert_eq!(known.pollution, None);
    assert_eq!(texts_in(store, &scope).await, ["the port is 8080"]);
}
