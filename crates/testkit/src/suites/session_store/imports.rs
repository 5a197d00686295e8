//! Imports: the events that one adds, and what undoing it removes.

use super::*;

pub async fn an_import_counts_what_it_adds(store: &dyn Store) {
    let no = store
        .begin_import(&Tenant::local(), "~/.claude", at(0))
        .await
        .unwrap();
    let (a, b) = (session("7f78aa01"), session("8000"));
    add(store, imported(&a, events("word", 3), "/logs/a", no)).await;
    add(store, imported(&a, events("word", 5), "/logs/a", no)).await;
    add(store, imported(&b, events("word", 1), "/logs/b", no)).await;
    store
        .put_source(&Tenant::local(), &source("/logs/empty", &b, 0), Some(no))
        .await
        .unwrap();
    store.end_import(&Tenant::local(), no, at(9)).await.unwrap();
    let later = store
        .begin_import(&Tenant::local(), "again", at(10))
        .await
        .unwrap();
    let imports = store
        .imports(&Tenant::local(), PageRequest::first(10))
        .await
        .unwrap()
        .items;
    assert_eq!((imports[0].no, imports[0].ended_at), (later, None));
    assert_eq!((imports[1].no, imports[1].ended_at), (no, Some(at(9))));
    assert_eq!((imports[1].events, imports[1].files), (6, 3));
    assert_eq!(
        (imports[1].what.as_str(), imports[1].began_at),
        ("~/.claude", at(0))
    );
    assert_eq!(
        store
            .imports(&Tenant::local(), PageRequest::first(1))
            .await
            .unwrap()
            .items
            .len(),
        1
    );
}

pub async fn undoing_an_import_removes_whole_sessions(store: &dyn Store) {
    let id = session("7f78aa01");
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let there = events("word", 3)
        .into_iter()
        .map(|event| event.with_place("/tmp"));
    add(store, imported(&id, there.collect(), "/logs/a", no)).await;
    add(store, append(&session("8000"), events("kept", 1))).await;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9))
        .await
        .unwrap();
    let expected = UndoneImport {
        events: 3,
        sessions: 1,
        shortened: 0,
        observations: 0,
    };
    assert_eq!(undone, expected);
    assert!(store.session(&id).await.unwrap().is_none());
    assert!(log(store, &id).await.is_empty());
    assert!(
        store
            .sources(&Tenant::local(), PageRequest::first(1000))
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(
        store
            .imports(&Tenant::local(), PageRequest::first(10))
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(store.places(&Tenant::local()).await.unwrap().is_empty());
    assert!(store.job(&JobKey::Extract(id)).await.unwrap().is_none());
    assert_eq!(
        store
            .sessions(&Tenant::local(), PageRequest::first(10))
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    assert_eq!(texts(store, &session("8000")).await, ["kept 1"]);
}

pub async fn undoing_an_import_keeps_older_events_and_has_them_extracted_anew(store: &dyn Store) {
    let id = session("7f78aa01");
    let failing = TranscriptSource {
        failure: Some("refused: too long".to_owned()),
        claimed_id: Some("7f78".to_owned()),
        ..source("/logs/a", &id, 2)
    };
    let first = Append {
        source: Some(failing.clone()),
        ..append(&id, events("word", 2))
    };
    add(store, first).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 5), "/logs/a", no)).await;
    extract(store, &id, Vec::new()).await;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9_100))
        .await
        .unwrap();
    assert_eq!(
        (undone.events, undone.sessions, undone.shortened),
        (3, 0, 1)
    );
    assert_eq!(texts(store, &id).await, ["word 1", "word 2"]);
    let kept = store.session(&id).await.unwrap().unwrap();
    assert_eq!((kept.events, kept.last_at), (EventSeq(2), at(2)));
    assert_eq!(
        store
            .sources(&Tenant::local(), PageRequest::first(1000))
            .await
            .unwrap()
            .items,
        [failing]
    );
    let job = store
        .job(&JobKey::Extract(id.clone()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((job.input, job.done, job.due_at()), (2, 0, Some(at(9_100))));
    let left = extractions_of_all(store, &Tenant::local()).await;
    assert_eq!(left.unwrap(), []);
}

pub async fn undoing_an_import_withdraws_what_rests_on_it(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 2))).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 4), "/logs/a", no)).await;
    let scope = user_scope("ada");
    let gone = observation(&scope, "use tabs", vec![evidence(&id, &[3, 4])]);
    let both = observation(&scope, "be brief", vec![evidence(&id, &[2, 3])]);
    extract(store, &id, vec![gone, both]).await;
    let before = store
        .scopes(&Tenant::local(), PageRequest::first(100))
        .await
        .unwrap()
        .items[0]
        .revision;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9_100))
        .await
        .unwrap();
    assert_eq!(undone.observations, 1);
    let left = observation(&scope, "be brief", vec![evidence(&id, &[2])]);
    assert_eq!(store.observations(&scope).await.unwrap(), [left]);
    assert!(
        store
            .scopes(&Tenant::local(), PageRequest::first(100))
            .await
            .unwrap()
            .items[0]
            .revision
            > before
    );
}

pub async fn undoing_an_import_forgets_what_it_retracted(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut said = events("word", 3);
    said.push(retraction("the first", &[1]));
    add(store, append(&id, said)).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let more = vec![retraction("the second", &[2])];
    add(store, imported(&id, more, "/logs/a", no)).await;
    let retracted = async || {
        let found = store.retracted_seqs(&id, EventSeq(0), EventSeq(9));
        found.await.unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(retracted().await, [EventSeq(1), EventSeq(2)]);
    store
        .undo_import(&Tenant::local(), no, at(9))
        .await
        .unwrap();
    assert_eq!(retracted().await, [EventSeq(1)]);
    // Its position is given again, and the event there retracts nothing.
    add(store, append(&id, vec![event("later")])).await;
    assert_eq!(retracted().await, [EventSeq(1)]);
}

pub async fn undoing_an_import_frees_the_lease_of_whoever_reads_it(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 2))).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 4), "/logs/a", no)).await;
    let claimed = store
        .claim(claim_of(JobKind::Extract, at(9_000), 1))
        .await
        .unwrap();
    store
        .undo_import(&Tenant::local(), no, at(9_001))
        .await
        .unwrap();
    let said = observation(&user_scope("ada"), "use tabs", vec![evidence(&id, &[4])]);
    let stale = extraction(&id, (1, 4), vec![said.clone()]);
    let ended = store
        .finish_extraction(&claimed[0].token, &stale, at(9_002))
        .await
        .unwrap();
    assert_eq!(ended, daybook_domain::FinishOutcome::LeaseLost);
    assert!(store.observations(&said.scope).await.unwrap().is_empty());
}

pub async fn undoing_an_import_keeps_later_events_and_their_numbers(store: &dyn Store) {
    let id = session("7f78aa01");
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 2), "/logs/a", no)).await;
    add(store, append(&id, events("word", 3))).await;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9))
        .await
        .unwrap();
    assert_eq!((undone.events, undone.shortened), (2, 1));
    assert_eq!(numbers(store, &id).await, [(3, 3)]);
    assert_eq!(
        store.session(&id).await.unwrap().unwrap().events,
        EventSeq(3)
    );
    assert_eq!(
        add(store, append(&id, events("word", 3))).await.last,
        EventSeq(5)
    );
}

pub async fn after_an_undo_the_same_import_adds_the_same_again(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut results = Vec::new();
    for _ in 0..2 {
        let no = store
            .begin_import(&Tenant::local(), "all", at(0))
            .await
            .unwrap();
        // Enough for several steps.
        for part in events("word", 600).chunks(APPEND_EVENTS / 2) {
            add(store, imported(&id, part.to_vec(), "/logs/a", no)).await;
        }
        let session = store.session(&id).await.unwrap().unwrap();
        results.push((
            session,
            log(store, &id).await,
            store
                .sources(&Tenant::local(), PageRequest::first(1000))
                .await
                .unwrap()
                .items,
        ));
        assert_eq!(
            store
                .undo_import(&Tenant::local(), no, at(9))
                .await
                .unwrap()
                .events,
            600
        );
        assert!(log(store, &id).await.is_empty());
    }
    assert_eq!(results[0], results[1]);
}

pub async fn undoing_the_first_of_two_imports_forgets_the_file_for_both(store: &dyn Store) {
    let id = session("7f78aa01");
    let first = store
        .begin_import(&Tenant::local(), "first", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 2), "/logs/a", first)).await;
    let second = store
        .begin_import(&Tenant::local(), "second", at(1))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 4), "/logs/a", second)).await;
    store
        .undo_import(&Tenant::local(), first, at(2))
        .await
        .unwrap();
    assert!(
        store
            .sources(&Tenant::local(), PageRequest::first(1000))
            .await
            .unwrap()
            .items
            .is_empty()
    );
    store
        .undo_import(&Tenant::local(), second, at(3))
        .await
        .unwrap();
    // The events of the first import are gone, so the file must be read from its start.
    assert!(
        store
            .sources(&Tenant::local(), PageRequest::first(1000))
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(store.session(&id).await.unwrap().is_none());
}

pub async fn an_unknown_import_is_refused(store: &dyn Store) {
    let id = session("7f78aa01");
    let no = daybook_domain::source::ImportNo(7);
    let not_found = |outcome: Result<(), StoreError>| {
        assert!(matches!(outcome, Err(StoreError::NotFound(_))));
    };
    let adding = imported(&id, events("word", 2), "/logs/a", no);
    not_found(store.append(&adding).await.map(|_| ()));
    not_found(
        store
            .put_source(&Tenant::local(), &source("/logs/a", &id, 1), Some(no))
            .await,
    );
    not_found(store.end_import(&Tenant::local(), no, at(1)).await);
    not_found(
        store
            .undo_import(&Tenant::local(), no, at(1))
            .await
            .map(|_| ()),
    );
    assert!(store.session(&id).await.unwrap().is_none());
    let begun = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    store
        .undo_import(&Tenant::local(), begun, at(0))
        .await
        .unwrap();
    assert!(
        store
            .begin_import(&Tenant::local(), "next", at(0))
            .await
            .unwrap()
            > begun
    );
}
