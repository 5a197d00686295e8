//! Redos: sessions that are extracted anew.

use super::*;

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
    let before = (observations_in(store, &scope).await, windows(store).await);
    let _ = extract(store, &id, (1, 5), vec![both.clone(), new.clone()]).await;
    assert_eq!(
        (observations_in(store, &scope).await, windows(store).await),
        before
    );
    assert_eq!(state(store, &scope).await, (1, 2));
    let ended = extract(store, &id, (6, 10), Vec::new()).await;
    assert_eq!(ended, FinishOutcome::Complete);
    assert_eq!(observations_in(store, &scope).await, [both, new]);
    assert_eq!(windows(store).await.len(), 2);
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
    assert!(observations_in(store, &scope).await.is_empty());
    assert!(windows(store).await.is_empty());
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
    assert_eq!(observations_in(store, &scope).await, [said("first")]);
    let _ = extract(store, &id, (1, 10), vec![said("third")]).await;
    assert_eq!(observations_in(store, &scope).await, [said("third")]);
}
