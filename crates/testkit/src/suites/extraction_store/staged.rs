//! Staged writes of entities, which are stored together with a window.

use super::*;

/// A pass without observations whose tools wrote this record.
fn extraction_with_write(id: &SessionId, window: (u64, u64), content: &str) -> Extraction {
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

async fn staged_writes(store: &dyn Store) -> Vec<StagedEntityWrite> {
    store.staged(&Tenant::local()).await.unwrap()
}

/// The staged writes: each window, and its record.
async fn staged_rows(store: &dyn Store) -> Vec<(u64, u64, String)> {
    let content = |staged: &StagedEntityWrite| match &staged.writes[0].change {
        EntityChange::Record { content, .. } => content.clone(),
        EntityChange::Card { name, .. } => name.clone(),
    };
    let staged = staged_writes(store).await;
    let shown = |s: &StagedEntityWrite| (s.from.0, s.to.0, content(s));
    staged.iter().map(shown).collect()
}

pub async fn staged_writes_land_with_the_finish_and_stay_until_they_are_taken_out(
    store: &dyn Store,
) {
    let id = ten_events(store, "7f78aa01").await;
    let stale = claim(store, &id).await;
    store.abandon("worker").await.unwrap();
    let claimed = claim(store, &id).await;
    let lost = finish(store, &stale, &extraction_with_write(&id, (1, 5), "lost")).await;
    assert_eq!(
        (lost, staged_writes(store).await),
        (FinishOutcome::LeaseLost, Vec::new())
    );
    let first = extraction_with_write(&id, (1, 5), "the \"harbour\"\n\0");
    let _ = finish(store, &claimed, &first).await;
    let expected = StagedEntityWrite {
        session: id.clone(),
        label: "7f78".to_owned(),
        from: EventSeq(1),
        to: EventSeq(5),
        at: LATER,
        writes: first.writes.clone(),
    };
    assert_eq!(staged_writes(store).await, std::slice::from_ref(&expected));
    assert_eq!(state(store, &user_scope("ada")).await, (1, 0));
    let claimed = claim(store, &id).await;
    let _ = finish(
        store,
        &claimed,
        &extraction_with_write(&id, (6, 10), "the pier"),
    )
    .await;
    for _ in 0..2 {
        store
            .unstage(std::slice::from_ref(&expected))
            .await
            .unwrap();
        assert_eq!(staged_rows(store).await, [(6, 10, "the pier".to_owned())]);
    }
    assert_eq!(state(store, &user_scope("ada")).await, (2, 0));
    let elsewhere = Tenant("other".to_owned());
    assert_eq!(store.staged(&elsewhere).await.unwrap(), []);
}

pub async fn staged_writes_go_with_their_window(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    for window in [(1, 3), (4, 6), (7, 8)] {
        let claimed = claim(store, &id).await;
        let _ = finish(store, &claimed, &extraction_with_write(&id, window, "old")).await;
    }
    let before = staged_writes(store).await;
    let claimed = claim(store, &id).await;
    let taking_back = Extraction {
        retracted: vec![EventSeq(5), EventSeq(9)],
        ..extraction_with_write(&id, (9, 10), "old")
    };
    let _ = finish(store, &claimed, &taking_back).await;
    let old = |from, to| (from, to, "old".to_owned());
    assert_eq!(staged_rows(store).await, [old(1, 3), old(7, 8), old(9, 10)]);

    store
        .redo(&JobKey::Extract(id.clone()), LATER)
        .await
        .unwrap();
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &extraction_with_write(&id, (1, 3), "new")).await;
    assert!(staged_rows(store).await.contains(&(1, 3, "new".to_owned())));
    // Writes that were staged anew for a window differ from those that were read before.
    store.unstage(&before).await.unwrap();
    assert_eq!(
        staged_rows(store).await,
        [(1, 3, "new".to_owned()), old(9, 10)]
    );
    let claimed = claim(store, &id).await;
    let _ = finish(store, &claimed, &nothing(&id, (4, 10))).await;
    assert_eq!(staged_rows(store).await, [(1, 3, "new".to_owned())]);
}
