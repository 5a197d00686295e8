//! The view `pipeline_state`: the columns that other systems keep for each session, on both databases.

use daybook_domain::seams::{ConsolidationResults, Store};
use daybook_domain::{
    EventId, EventSeq, ExtractionSnapshot, FailureClass, JobKind, SelectedSession, SelectionRecord,
    Tenant, Timestamp, Use, UseKind, UsedBy,
};
use daybook_testkit::fixtures::*;
use daybook_testkit::{run, suites};

/// Numbers and words of one session, in a statement that both databases answer alike.
const STATE: &str = "SELECT agent_name || ' ' || session_id || ' ' || memory_mode
    || ' invalidated ' || coalesce(CAST(invalidated_at AS TEXT), '-')
    || ' processed ' || coalesce(CAST(processed_until AS TEXT), '-')
    || ' watermarks ' || coalesce(CAST(input_watermark AS TEXT), '-')
    || '/' || coalesce(CAST(last_success_watermark AS TEXT), '-')
    || CASE WHEN dirty THEN ' dirty' ELSE ' clean' END
    || CASE WHEN in_flight THEN ' in flight ' ELSE ' at rest ' END || status
    || ' by ' || coalesce(worker_id, '-')
    || ' retries ' || CAST(retry_remaining AS TEXT) || ' ' || coalesce(last_error, '-')
    || ' used ' || CAST(usage_count AS TEXT)
    || CASE WHEN selected_for_phase2 THEN ' selected' ELSE ' left out' END
    FROM pipeline_state WHERE session_id = 'aaaa'";

/// Its times, as seconds since the fixtures' beginning.
fn times(columns: &[&str]) -> String {
    let dawn = DAWN.0;
    let seconds = columns
        .iter()
        .map(|column| format!("coalesce(CAST(({column} - {dawn}) / 1000 AS TEXT), '-')"));
    let seconds = seconds.collect::<Vec<_>>().join(" || ' ' || ");
    format!("SELECT {seconds} FROM pipeline_state WHERE session_id = 'aaaa'")
}

/// Far ahead of any clock, so that a lease of this time is live whenever the test runs.
const AHEAD: Timestamp = Timestamp(DAWN.0 * 100);

async fn select_session(store: &dyn Store) {
    let scope = project_scope("tidepool");
    store.touch_scope(&scope, at(40)).await.unwrap();
    let claimed = store
        .claim(claim_of(JobKind::Consolidate, at(9_000), 1))
        .await
        .unwrap();
    let record = SelectionRecord {
        at: at(50),
        sessions: vec![SelectedSession {
            session: session("aaaa"),
            snapshot: ExtractionSnapshot {
                upto: EventSeq(3),
                generated_at: at(30),
            },
        }],
        commit: None,
    };
    let results = ConsolidationResults {
        selection: Some(&record),
        ..ConsolidationResults::default()
    };
    let (token, upto) = (&claimed[0].token, claimed[0].upto);
    let _ = store
        .finish_consolidation(token, upto, results, at(9_001))
        .await
        .unwrap();
}

/// Walks one session through its states; `ask` answers a statement with one text.
async fn check_states(store: &dyn Store, ask: impl AsyncFn(&str) -> String) {
    let id = session("aaaa");
    store.append(&append(&id, events("word", 3))).await.unwrap();
    assert_eq!(
        ask(STATE).await,
        "claude-code aaaa enabled invalidated 3 processed - watermarks 3/- dirty at rest pending by - retries 3 - used 0 left out"
    );
    let seen = observation(
        &project_scope("tidepool"),
        "said once",
        vec![evidence(&id, &[1, 2])],
    );
    suites::extract(store, &id, vec![seen]).await;
    let used = Use {
        session: id.clone(),
        event: EventSeq(2),
        kind: UseKind::Cited,
        by: UsedBy::Session {
            session: session("bbbb"),
            event: EventId(7),
        },
        at: at(70),
    };
    store
        .note_uses(&Tenant::local(), &[used], at(70))
        .await
        .unwrap();
    select_session(store).await;
    assert_eq!(
        ask(STATE).await,
        "claude-code aaaa enabled invalidated - processed 3 watermarks 3/3 clean at rest done by - retries 3 - used 1 selected"
    );
    let columns = [
        "first_dirty_at",
        "last_seen_at",
        "last_session_updated_at",
        "last_flushed_session_updated_at",
        "source_updated_at",
        "last_usage",
        "selected_for_phase2_source_updated_at",
    ];
    assert_eq!(ask(&times(&columns)).await, "- 3 3 3 3 70 3");
    store
        .append(&append(&id, vec![event("later").with_time(at(90))]))
        .await
        .unwrap();
    let claimed = store
        .claim(claim_of(JobKind::Extract, at(9_500), 1))
        .await
        .unwrap();
    let _ = store
        .fail(&claimed[0].token, &failed(FailureClass::Content), at(9_501))
        .await
        .unwrap();
    assert_eq!(
        ask(STATE).await,
        "claude-code aaaa enabled invalidated 4 processed 3 watermarks 4/3 dirty at rest error by - retries 2 no usable answer used 1 selected"
    );
    assert_eq!(ask(&times(&columns)).await, "90 90 90 3 3 70 3");
    let _ = store
        .claim(claim_of(JobKind::Extract, AHEAD, 1))
        .await
        .unwrap();
    assert_eq!(
        ask(STATE).await,
        "claude-code aaaa enabled invalidated 4 processed 3 watermarks 4/3 dirty in flight running by worker retries 2 no usable answer used 1 selected"
    );
}

#[test]
fn a_sessions_state_stands_under_the_names_of_other_systems() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = super::schema::new_root(&folder);
    let reader = rusqlite::Connection::open(&path).unwrap();
    let ask = async |sql: &str| reader.query_row(sql, [], |row| row.get(0)).unwrap();
    run(check_states(&store, ask));
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn a_sessions_state_stands_under_the_names_of_other_systems_on_a_server() {
    let Some(server) = super::postgres::on_server() else {
        return;
    };
    run(async {
        let client = super::postgres::admin(&server.database).await;
        let ask = async |sql: &str| {
            client
                .batch_execute("SET daybook.tenants = 'all'")
                .await
                .unwrap();
            client.query_one(sql, &[]).await.unwrap().get(0)
        };
        check_states(&*server, ask).await;
        // Like every table, it shows nothing of a tenant that was not asked for.
        client
            .batch_execute("SET daybook.tenants = ''; SET daybook.tenant = 'other'")
            .await
            .unwrap();
        let rows = client
            .query("SELECT * FROM pipeline_state", &[])
            .await
            .unwrap();
        assert_eq!(rows.len(), 0);
    });
}
