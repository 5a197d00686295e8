//! The scopes and projects that an extraction concerns, and the accounts made of it.

use super::*;

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
fn extraction_with_digest(id: &SessionId, window: (u64, u64), root: &str) -> Extraction {
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
    let _ = finish(
        store,
        &claimed,
        &extraction_with_digest(&id, (1, 5), "/home/ada/engine"),
    )
    .await;
    assert_eq!(state(store, &scope).await, (1, 0));
    let claimed = claim(store, &id).await;
    let _ = finish(
        store,
        &claimed,
        &extraction_with_digest(&id, (6, 10), "/home/ada/nowhere"),
    )
    .await;
    assert_eq!(state(store, &scope).await, (1, 0));
    let records = extractions_of_all(store, &Tenant::local()).await.unwrap();
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
    let there = vec![event("here").with_place("/home/ada/engine")];
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
    assert_eq!(windows(store).await, all);
    let local = Tenant::local();
    let engine = store.extractions_in_project(&local, "engine").await;
    assert_eq!(windows_of(&engine.unwrap()), all[1..]);
    let other = store.extractions_in_project(&local, "other").await;
    assert_eq!(other.unwrap(), []);
    let elsewhere = Tenant("elsewhere".to_owned());
    let theirs = store.extractions_in_project(&elsewhere, "engine").await;
    assert_eq!(theirs.unwrap(), []);
}

pub async fn extractions_without_a_root_are_listed_by_session_and_window(store: &dyn Store) {
    let (a, b) = (
        ten_events(store, "a000").await,
        ten_events(store, "b000").await,
    );
    for pass in [
        extraction_with_summary(&b, (1, 4), r#"set "root":"/tmp" and {"root":"}"#),
        extraction_with_digest(&b, (5, 6), "/home/ada/engine"),
        extraction_with_digest(&b, (7, 7), ""),
        nothing(&b, (8, 8)),
        extraction(&b, (9, 10), Vec::new()),
        extraction(&a, (1, 10), Vec::new()),
    ] {
        let claimed = claim(store, &pass.session).await;
        let _ = finish(store, &claimed, &pass).await;
        store.abandon("worker").await.unwrap();
    }
    let without = store.extractions_without_root(&Tenant::local()).await;
    let expected = [("a000", 1, 10), ("b000", 1, 4), ("b000", 9, 10)];
    let expected = expected.map(|(id, from, to)| (id.to_owned(), from, to));
    assert_eq!(windows_of(&without.unwrap()), expected);
    let elsewhere = Tenant("elsewhere".to_owned());
    let theirs = store.extractions_without_root(&elsewhere).await;
    assert_eq!(theirs.unwrap(), []);
    store.redo(&JobKey::Extract(a), LATER).await.unwrap();
    store
        .redo(&JobKey::Extract(b.clone()), LATER)
        .await
        .unwrap();
    let claimed = claim(store, &b).await;
    let _ = finish(store, &claimed, &extraction(&b, (1, 2), Vec::new())).await;
    let live = store.extractions_without_root(&Tenant::local()).await;
    assert_eq!(windows_of(&live.unwrap()), expected);
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
            provenance: Provenance::of(extractor),
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
        provenance: Provenance::of("test/3"),
        ..extraction(&a, (1, 5), Vec::new())
    };
    let _ = finish(store, &claimed, &unseen).await;
    let pairs = [(&a, "test/1"), (&b, "test/1"), (&b, "test/2")];
    let pairs = pairs.map(|(id, extractor)| (id.clone(), Provenance::of(extractor)));
    assert_eq!(store.extractors(&Tenant::local()).await.unwrap(), pairs);
    let elsewhere = Tenant("elsewhere".to_owned());
    assert_eq!(store.extractors(&elsewhere).await.unwrap(), []);
}

pub async fn a_fallback_is_kept_with_the_extractor_that_it_filled_in_for(store: &dyn Store) {
    let id = ten_events(store, "a000").await;
    let provenance = Provenance {
        extractor: "test/1".to_owned(),
        fallback_for: Some(FallbackFor {
            extractor: "test/2 some/model".to_owned(),
            until: LATER,
        }),
    };
    let claimed = claim(store, &id).await;
    let filled_in = Extraction {
        provenance: provenance.clone(),
        ..extraction_with_summary(&id, (1, 10), "a summary")
    };
    let _ = finish(store, &claimed, &filled_in).await;
    let records = extractions_of_all(store, &Tenant::local()).await.unwrap();
    assert_eq!(records[0].provenance, provenance);
    let pairs = store.extractors(&Tenant::local()).await.unwrap();
    assert_eq!(pairs, [(id, provenance)]);
}

/// An extraction whose digest has a summary.
fn extraction_with_summary(id: &SessionId, window: (u64, u64), summary: &str) -> Extraction {
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
        extraction_with_summary(&id, (1, 3), "first"),
        extraction_with_summary(&id, (4, 6), "second"),
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
    let _ = finish(
        store,
        &claimed,
        &extraction_with_summary(&id, (1, 5), "anew"),
    )
    .await;
    assert_eq!(before(claimed.redo, 6).await, some("anew"));
    let unknown = store.digest_before(&session("b000"), 0, EventSeq(9)).await;
    assert_eq!(unknown.unwrap(), None);
}
