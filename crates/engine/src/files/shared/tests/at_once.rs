//! Two machines that check in at the same time, in every order of their calls of the store.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;

use super::*;

/// A store at which a machine waits before every call until it may go on.
struct Gated<'a>(&'a MemoryStore);

/// Is pending once.
async fn gate() {
    let mut has_waited = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

#[async_trait]
impl TreeStore for Gated<'_> {
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
        objects: &[TreeObject],
    ) -> Result<(), StoreError> {
        gate().await;
        self.0.put_tree_objects(scope, objects).await
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
}

/// Has both machines meet the shared history at once. Wherever both could go on, the next of `order` says
/// whether the second does; past its end, the first. Returns the whole order.
fn meet_at_once(hub: &Hub, one: &Testbed, other: &Testbed, order: &[bool]) -> Vec<bool> {
    let (trees, scope) = (Gated(&hub.0), scope());
    let shared = Shared {
        trees: &trees,
        scope: &scope,
    };
    let (one, other, stamp) = (lock(&one.folder), lock(&other.folder), stamp());
    let mut one = pin!(shared.bring_together(&one, &stamp));
    let mut other = pin!(shared.bring_together(&other, &stamp));
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

/// The next order in which the first machine stands back once more, or nothing after the last.
fn next_order(mut order: Vec<bool>) -> Option<Vec<bool>> {
    while order.pop()? {}
    order.push(true);
    Some(order)
}

fn assert_whole(hub: &Hub, bed: &Testbed, order: &[bool]) {
    let found = hub.check(bed);
    assert!(found.is_whole(), "{found} after {order:?}");
    bed.git(&["log", "--oneline"]);
    bed.assert_sound();
}

#[test]
fn machines_that_check_in_at_once_have_whole_histories_in_every_order() {
    let base = Testbed::new();
    let _ = base.write(&[("MEMORY.md", Some("a\nb\nc\nd\n"))]);
    let (mut next, mut orders) = (Some(Vec::new()), 0);
    while let Some(order) = next {
        let (hub, here) = (Hub::default(), base.copied());
        hub.meet(&here);
        let there = here.copied();
        for (bed, name) in [(&here, "here"), (&there, "there")] {
            bed.save("MEMORY.md", format!("a\nb\nc\nd\n{name}\n"));
            bed.save(&format!("topics/{name}.md"), format!("{name}\n"));
        }
        let order = meet_at_once(&hub, &here, &there, &order);
        for bed in [&here, &there] {
            assert_whole(&hub, bed, &order);
        }
        for bed in [&here, &there, &here] {
            hub.meet(bed);
        }
        assert_same(&here, &there);
        assert_eq!(here.work_tree().len(), 3, "{order:?}");
        let third = Testbed::new();
        hub.meet(&third);
        for bed in [&here, &there, &third] {
            assert_whole(&hub, bed, &order);
        }
        orders += 1;
        next = next_order(order);
    }
    assert!(orders > 30, "only {orders} orders");
}
