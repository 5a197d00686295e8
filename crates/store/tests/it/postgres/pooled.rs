//! The same promises through PgBouncer, which hands each transaction to any of a few connections.

use std::time::Duration;

use daybook_domain::JobKind;
use daybook_domain::seams::JobStore;

use super::outages::check_append;
use super::wire::{Lost, Wire};
use super::*;

fn on_pooler() -> Option<OnServer> {
    let mut made = on_server()?;
    made.store = open(&made.database.pooled()?);
    Some(made)
}

daybook_testkit::store_suite!(maybe on_pooler, 2);
daybook_testkit::tree_store_suite!(maybe on_pooler);
daybook_testkit::model_suite!(maybe on_pooler, 4);

/// A wire to the pooler, that breaks at the next commits.
fn losing(losses: &[Lost]) -> Option<(PostgresStore, Wire, OnServer)> {
    let made = on_pooler()?;
    let wire = Wire::along(&made.database.pooled()?);
    let store = open(wire.address());
    wire.lose(losses);
    Some((store, wire, made))
}

#[test]
fn how_a_lost_commit_ended_is_asked_of_whichever_connection_is_free() {
    for losses in [
        &[Lost::Answer][..],
        &[Lost::Request],
        &[Lost::Request, Lost::Answer],
    ] {
        if let Some(made) = losing(losses) {
            check_append(losses, made);
        }
    }
}

#[test]
fn nothing_of_a_transaction_is_left_on_the_connection_that_the_next_one_gets() {
    let Some(made) = on_pooler() else { return };
    let pooled = made
        .database
        .pooled()
        .expect("there was a pooler a moment ago");
    let left = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
        coalesce(current_setting('daybook.tenant', TRUE), ''),
        coalesce(current_setting('daybook.tenants', TRUE), '')";
    run(async {
        let client = connect(&pooled).await;
        for n in 0..8 {
            let id = session(&format!("session-{n}"));
            made.append(&append(&id, events("word", 3))).await.unwrap();
            made.jobs(JobKind::Extract).await.unwrap();
            let rows = client.query_typed(left, &[]).await.unwrap();
            let settings = [0, 1, 2, 3].map(|n| rows[0].get::<_, String>(n));
            assert_eq!(settings, ["0", "0", "", ""]);
        }
    });
}

#[test]
fn whoever_waits_for_a_change_looks_and_says_why_and_leaves_nobody_listening() {
    let Some(made) = on_pooler() else { return };
    let direct = open(&made.database.address());
    let hour = Duration::from_secs(3600);
    run(async {
        for (n, store) in [&*made, &direct].into_iter().enumerate() {
            let seen = store.version().await.unwrap();
            let id = session(&format!("session-{n}"));
            let change = append(&id, events("word", 1));
            let (waited, appended) =
                tokio::join!(store.until_changed(seen, hour), direct.append(&change));
            waited.unwrap();
            appended.unwrap();
        }
        let said = made.check().await.unwrap();
        assert!(said.contains("through a pooler"), "{said}");
        assert!(made.is_pooled());
        let said = direct.check().await.unwrap();
        assert!(!said.contains("pooler"), "{said}");
        assert!(!direct.is_pooled());
    });
    let noise = made.database.pooler_log();
    assert!(!noise.is_empty());
    // What comes to a connection that nobody uses just then is somebody's `LISTEN`.
    assert!(
        !noise.iter().any(|line| line.contains("not linked")),
        "{noise:#?}"
    );
}
