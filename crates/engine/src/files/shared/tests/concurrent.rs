//! Two machines that check in at the same time, in every order of their store calls.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;

use super::*;

/// A store whose every call first yields, so that a test decides which machine continues.
pub(super) struct GatedTreeStore<'a>(pub(super) &'a MemoryStore);

/// Yields once.
async fn gate() {
    let mut has_waited = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

#[async_trait]
impl TreeStore for GatedTreeStore<'_> {
    async fn tree_heads(&self, tenant: &Tenant) -> Result<Vec<(Scope, TreeHead)>, StoreError> {
        gate().await;
        self.0.tree_heads(tenant).await
    }

    async fn tree_head(&self, scope: &Scope) -> Result<Option<TreeHead>, StoreError> {
        gate().await;
        self.0.tree_head(scope).await
    }

    async fn tree_objects(
        &self,
        scope: &Scope,
        after: u64,
        bytes: usize,
    ) -> Result<Vec<TreeObject>, StoreError> {
        gate().await;
        self.0.tree_objects(scope, after, bytes).await
    }

    async fn tree_object_names(
        &self,
        scope: &Scope,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, ObjectName)>, StoreError> {
        gate().await;
        self.0.tree_object_names(scope, after, most).await
    }

    async fn put_tree_objects(
        &self,
        scope: &Scope,
        rewrites: u64,
        objects: &[TreeObject],
    ) -> Result<bool, StoreError> {
        gate().await;
        self.0.put_tree_objects(scope, rewrites, objects).await
    }

    async fn advance_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
    ) -> Result<Option<TreeHead>, StoreError> {
        gate().await;
        self.0.advance_tree(scope, seen, commit, beside).await
    }

    async fn rewrite_tree(
        &self,
        scope: &Scope,
        seen: u64,
        commit: ObjectName,
        beside: &str,
        kept: &[ObjectName],
    ) -> Result<Option<TreeHead>, StoreError> {
        gate().await;
        let rewritten = self.0.rewrite_tree(scope, seen, commit, beside, kept);
        rewritten.await
    }
}

/// Synchronizes both machines at once, in this order.
fn sync_concurrently(
    store: &SharedStore,
    one: &TestFolder,
    other: &TestFolder,
    order: &[bool],
) -> Vec<bool> {
    let (trees, scope) = (GatedTreeStore(&store.0), scope());
    let shared = SharedHistory {
        trees: &trees,
        scope: &scope,
    };
    let (one, other, stamp) = (lock(&one.folder), lock(&other.folder), stamp());
    let one = async { shared.sync(&one, &stamp).await.map(drop) };
    let other = async { shared.sync(&other, &stamp).await.map(drop) };
    run_in_order((one, other), order)
}

/// Runs two calls at once. Wherever both could continue, the next of `order` decides whether the second does; past its
/// end, the first. Returns the whole order.
pub(super) fn run_in_order(
    (one, other): (
        impl Future<Output = Result<(), SharedError>>,
        impl Future<Output = Result<(), SharedError>>,
    ),
    order: &[bool],
) -> Vec<bool> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut context = Context::from_waker(Waker::noop());
    let (mut is_done, mut taken) = ([false; 2], Vec::new());
    while is_done != [true; 2] {
        let is_second = match is_done {
            [false, false] => {
                let next = order.get(taken.len()).copied().unwrap_or(false);
                taken.push(next);
                next
            }
            [is_first_done, _] => is_first_done,
        };
        let polled = match is_second {
            false => one.as_mut().poll(&mut context),
            true => other.as_mut().poll(&mut context),
        };
        if let Poll::Ready(met) = polled {
            met.unwrap();
            is_done[usize::from(is_second)] = true;
        }
    }
    taken
}

/// The next order in which the first machine yields once more, or `None` after the last.
pub(super) fn next_order(mut order: Vec<bool>) -> Option<Vec<bool>> {
    while order.pop()? {}
    order.push(true);
    Some(order)
}

fn assert_whole(store: &SharedStore, memory: &TestFolder, order: &[bool]) {
    let found = store.check(memory);
    assert!(found.is_intact(), "{found} after {order:?}");
    memory.git(&["log", "--oneline"]);
    memory.assert_sound();
}

#[test]
fn machines_that_check_in_at_once_have_whole_histories_in_every_order() {
    let base = TestFolder::new();
    let _ = base.write(&[("MEMORY.md", Some("a\nb\nc\nd\n"))]);
    let (mut next, mut orders) = (Some(Vec::new()), 0);
    while let Some(order) = next {
        let (store, here) = (SharedStore::default(), base.copied());
        store.sync(&here);
        let there = here.copied();
        for (memory, name) in [(&here, "here"), (&there, "there")] {
            memory.save("MEMORY.md", format!("a\nb\nc\nd\n{name}\n"));
            memory.save(&format!("topics/{name}.md"), format!("{name}\n"));
        }
        let order = sync_concurrently(&store, &here, &there, &order);
        for memory in [&here, &there] {
            assert_whole(&store, memory, &order);
        }
        for memory in [&here, &there, &here] {
            store.sync(memory);
        }
        assert_same(&here, &there);
        assert_eq!(here.work_tree().len(), 3, "{order:?}");
        let third = TestFolder::new();
        store.sync(&third);
        for memory in [&here, &there, &third] {
            assert_whole(&store, memory, &order);
        }
        orders += 1;
        next = next_order(order);
    }
    assert!(orders > 30, "only {orders} orders");
}
