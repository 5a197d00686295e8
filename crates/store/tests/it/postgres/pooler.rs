//! The same promises through PgBouncer, which hands each transaction to any of a few connections.

use std::time::Duration;

use daybook_domain::JobKind;
use daybook_domain::seams::JobWatch;

use super::outages::check_append;
use super::proxy::{BreakingProxy, LostPart};
use super::*;

fn on_pooler() -> Option<ServerStore> {
    let mut fixture = on_server()?;
    fixture.store = open(&fixture.database.pooled()?);
    Some(fixture)
}

daybook_testkit::store_suite!(maybe on_pooler, 2);
daybook_testkit::tree_store_suite!(maybe on_pooler);
daybook_testkit::model_suite!(maybe on_pooler, 4);

/// A proxy to the pooler, which breaks at the next commits.
fn losing(losses: &[LostPart]) -> Option<(PostgresStore, BreakingProxy, ServerStore)> {
    let fixture = on_pooler()?;
    let proxy = BreakingProxy::along(&fixture.database.pooled()?);
    let store = open(proxy.address());
    proxy.lose(losses);
    Some((store, proxy, fixture))
}

#[test]
fn the_outcome_of_a_lost_commit_is_looked_up_on_any_free_connection() {
    for losses in [
        &[LostPart::Answer][..],
        &[LostPart::Request],
        &[LostPart::Request, LostPart::Answer],
    ] {
        if let Some(fixture) = losing(losses) {
            check_append(losses, fixture);
        }
    }
}

#[test]
fn nothing_of_a_transaction_is_left_on_the_connection_that_the_next_one_gets() {
    let Some(fixture) = on_pooler() else { return };
    let pooled = fixture
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
            fixture
                .append(&append(&id, events("word", 3)))
                .await
                .unwrap();
            fixture.jobs_of_all_tenants(JobKind::Extract).await.unwrap();
            let rows = client.query_typed(left, &[]).await.unwrap();
            let settings = [0, 1, 2, 3].map(|n| rows[0].get::<_, String>(n));
            assert_eq!(settings, ["0", "0", "", ""]);
        }
    });
}

#[test]
fn behind_a_pooler_a_waiting_caller_polls_and_leaves_no_listener() {
    let Some(fixture) = on_pooler() else { return };
    let direct = open(&fixture.database.address());
    let hour = Duration::from_secs(3600);
    run(async {
        for (n, store) in [&*fixture, &direct].into_iter().enumerate() {
            let seen = store.version().await.unwrap();
            let id = session(&format!("session-{n}"));
            let change = append(&id, events("word", 1));
            let (waited, appended) =
                tokio::join!(store.until_changed(seen, hour), direct.append(&change));
            waited.unwrap();
            appended.unwrap();
        }
        let messages = fixture.check().await.unwrap();
        assert!(messages.contains("through a pooler"), "{messages}");
        assert!(fixture.is_pooled());
        let messages = direct.check().await.unwrap();
        assert!(!messages.contains("pooler"), "{messages}");
        assert!(!direct.is_pooled());
    });
    let noise = fixture.database.pooler_log();
    assert!(!noise.is_empty());
    // Only a `LISTEN` makes the server send anything on an idle connection.
    assert!(
        !noise.iter().any(|line| line.contains("not linked")),
        "{noise:#?}"
    );
}
