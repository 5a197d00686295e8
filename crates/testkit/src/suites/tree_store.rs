//! The promises of a store of shared histories.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::limits::TREE_OBJECTS;
use daybook_domain::seams::TreeStore;
use daybook_domain::{ObjectKind, ObjectName, Scope, ScopeKind, StoreError, Tenant, TreeObject};

fn scope(tenant: &str, name: &str) -> Scope {
    Scope {
        tenant: Tenant(tenant.to_owned()),
        kind: ScopeKind::Project,
        name: name.to_owned(),
    }
}

fn object(number: u8, kind: ObjectKind, length: usize) -> TreeObject {
    TreeObject {
        name: ObjectName([number; 20]),
        kind,
        bytes: vec![number; length],
    }
}

fn blobs(numbers: std::ops::Range<u8>) -> Vec<TreeObject> {
    numbers.map(|n| object(n, ObjectKind::Blob, 10)).collect()
}

pub async fn objects_come_back_in_the_order_in_which_they_came(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    assert_eq!(store.tree_objects(&ours, 0, 1_000).await.unwrap(), []);
    let all = [
        object(9, ObjectKind::Blob, 0),
        object(3, ObjectKind::Tree, 7),
        object(5, ObjectKind::Commit, 300),
    ];
    store.put_tree_objects(&ours, 0, &all[..2]).await.unwrap();
    store.put_tree_objects(&ours, 0, &all).await.unwrap();
    assert_eq!(store.tree_objects(&ours, 0, 1_000).await.unwrap(), all);
    assert_eq!(store.tree_objects(&ours, 2, 1_000).await.unwrap(), all[2..]);
    assert_eq!(store.tree_objects(&ours, 3, 1_000).await.unwrap(), []);
}

pub async fn a_page_of_objects_is_bounded_but_never_empty(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    let all = blobs(0..5);
    store.put_tree_objects(&ours, 0, &all).await.unwrap();
    assert_eq!(store.tree_objects(&ours, 0, 1).await.unwrap(), all[..1]);
    assert_eq!(store.tree_objects(&ours, 1, 20).await.unwrap(), all[1..3]);
    assert_eq!(store.tree_objects(&ours, 1, 29).await.unwrap(), all[1..3]);
    let many = vec![all[0].clone(); TREE_OBJECTS + 1];
    let refused = store.put_tree_objects(&ours, 0, &many).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
}

pub async fn names_of_objects_are_listed_with_their_numbers(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    assert_eq!(store.tree_object_names(&ours, 0, 10).await.unwrap(), []);
    store
        .put_tree_objects(&ours, 0, &blobs(0..5))
        .await
        .unwrap();
    let known_and_new = blobs(3..7);
    store
        .put_tree_objects(&ours, 0, &known_and_new)
        .await
        .unwrap();
    let named = |numbers: std::ops::Range<u8>| {
        let names = numbers.map(|n| (u64::from(n) + 1, ObjectName([n; 20])));
        names.collect::<Vec<_>>()
    };
    let list = |after, most| store.tree_object_names(&ours, after, most);
    assert_eq!(list(0, 10).await.unwrap(), named(0..7));
    assert_eq!(list(2, 3).await.unwrap(), named(2..5));
    assert_eq!(list(7, 10).await.unwrap(), []);
    let others = scope("other", "tidepool");
    assert_eq!(store.tree_object_names(&others, 0, 10).await.unwrap(), []);
}

pub async fn a_history_advances_for_whoever_saw_its_end(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    assert_eq!(store.tree_head(&ours).await.unwrap(), None);
    let objects = blobs(1..4);
    store.put_tree_objects(&ours, 0, &objects).await.unwrap();
    assert_eq!(store.tree_head(&ours).await.unwrap(), None);

    let advance = |seen, n: usize, beside| store.advance_tree(&ours, seen, objects[n].name, beside);
    assert_eq!(advance(1, 0, "").await.unwrap(), None);
    let first = advance(0, 0, "kept\n").await.unwrap().unwrap();
    assert_eq!((first.version, first.objects), (1, 3));
    assert_eq!(
        (first.commit, &*first.beside),
        (Some(objects[0].name), "kept\n")
    );
    assert_eq!(advance(0, 1, "").await.unwrap(), None);
    assert_eq!(store.tree_head(&ours).await.unwrap().as_ref(), Some(&first));

    let second = advance(first.version, 1, "").await.unwrap().unwrap();
    assert!(second.version > first.version);
    assert_eq!(
        (second.commit, &*second.beside),
        (Some(objects[1].name), "")
    );
    // Advances to the same commit once more, with other data beside it.
    let third = advance(second.version, 1, "more").await.unwrap();
    assert_eq!(store.tree_head(&ours).await.unwrap(), third);
}

pub async fn a_history_never_ends_in_what_is_not_there(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    let refused = store.advance_tree(&ours, 0, ObjectName([1; 20]), "").await;
    assert!(matches!(refused, Err(StoreError::NotFound(_))));
    assert_eq!(store.tree_head(&ours).await.unwrap(), None);
}

pub async fn histories_of_scopes_and_tenants_are_apart(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    let objects = blobs(1..2);
    store.put_tree_objects(&ours, 0, &objects).await.unwrap();
    let advanced = store.advance_tree(&ours, 0, objects[0].name, "").await;
    assert!(advanced.unwrap().is_some());
    let heads = store.tree_heads(&ours.tenant).await.unwrap();
    let head = store.tree_head(&ours).await.unwrap().unwrap();
    assert_eq!(heads, [(ours.clone(), head)]);
    let elsewhere = store.tree_heads(&Tenant("other".to_owned())).await;
    assert_eq!(elsewhere.unwrap(), []);
    for other in [scope("local", "lagoon"), scope("other", "tidepool")] {
        assert_eq!(store.tree_head(&other).await.unwrap(), None);
        assert_eq!(store.tree_objects(&other, 0, 1_000).await.unwrap(), []);
        let refused = store.advance_tree(&other, 0, objects[0].name, "").await;
        assert!(matches!(refused, Err(StoreError::NotFound(_))));
    }
}

pub async fn a_rewritten_history_keeps_only_what_is_named(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    let objects = blobs(1..6);
    assert!(store.put_tree_objects(&ours, 0, &objects).await.unwrap());
    let first = store.advance_tree(&ours, 0, objects[0].name, "").await;
    let first = first.unwrap().unwrap();
    let kept = [4, 1].map(|n: usize| objects[n].name);
    let rewrite = |seen, n: usize| {
        let commit = objects[n].name;
        store.rewrite_tree(&ours, seen, commit, "kept\n", &kept)
    };
    // Neither behind another's advance, nor to a commit that would be deleted.
    assert_eq!(rewrite(0, 4).await.unwrap(), None);
    let refused = rewrite(first.version, 0).await;
    assert!(matches!(refused, Err(StoreError::NotFound(_))));
    assert_eq!(store.tree_objects(&ours, 0, 1_000).await.unwrap(), objects);

    let head = rewrite(first.version, 4).await.unwrap().unwrap();
    assert_eq!(store.tree_head(&ours).await.unwrap().as_ref(), Some(&head));
    assert_eq!(
        (head.commit, head.rewrites, head.objects),
        (Some(objects[4].name), 1, 2)
    );
    let left = [objects[1].clone(), objects[4].clone()];
    assert_eq!(store.tree_objects(&ours, 0, 1_000).await.unwrap(), left);
    let names = store.tree_object_names(&ours, 0, 10).await.unwrap();
    assert_eq!(names, [(1, objects[1].name), (2, objects[4].name)]);
    let stale = store.advance_tree(&ours, first.version, objects[1].name, "");
    assert_eq!(stale.await.unwrap(), None);
    let next = store.advance_tree(&ours, head.version, objects[1].name, "");
    assert_eq!(next.await.unwrap().map(|head| head.rewrites), Some(1));
}

pub async fn what_was_taken_out_of_a_history_is_not_put_back(store: &dyn TreeStore) {
    let ours = scope("local", "tidepool");
    let objects = blobs(1..3);
    store.put_tree_objects(&ours, 0, &objects).await.unwrap();
    let head = store.advance_tree(&ours, 0, objects[0].name, "").await;
    let version = head.unwrap().unwrap().version;
    let kept = [objects[0].name];
    let rewritten = store.rewrite_tree(&ours, version, objects[0].name, "", &kept);
    assert!(rewritten.await.unwrap().is_some());
    assert!(!store.put_tree_objects(&ours, 0, &objects).await.unwrap());
    let left = store.tree_objects(&ours, 0, 1_000).await.unwrap();
    assert_eq!(left, objects[..1]);
    // A machine that has read the new history adds to that.
    let more = blobs(7..8);
    assert!(store.put_tree_objects(&ours, 1, &more).await.unwrap());
    let names = store.tree_object_names(&ours, 1, 10).await.unwrap();
    assert_eq!(names, [(2, more[0].name)]);
}
