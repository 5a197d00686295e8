//! Which scopes and projects an extraction concerns, and what is told of it.

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
