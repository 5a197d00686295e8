//! Stores as portable rows: nothing is left out, nothing is doubled, and a round trip changes nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use daybook_domain::seams::{Append, ImportStore, IndexWriter, SessionCatalog, SessionLog};
use daybook_domain::source::TranscriptSource;
use daybook_domain::{PageRequest, SessionId, StoreError, Tenant};
use daybook_store::SqliteStore;
use daybook_store::transfer::{self, Checksum, Outcome, Portable, Progress, TABLES, Table};
use daybook_testkit::fixtures::*;
use daybook_testkit::{model, run};
use rusqlite::Connection;
use tempfile::TempDir;

use super::schema::{fill_store, new_root};

/// Asks to stop after so many pages.
struct StopAfterPages(AtomicU64);

impl StopAfterPages {
    fn all() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl Progress for StopAfterPages {
    fn rows(&self, _: &Table, _: u64) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) > 1
    }
}

/// A session of another tenant.
fn other_tenants_session() -> SessionId {
    SessionId {
        tenant: Tenant("other".to_owned()),
        ..session("theirs")
    }
}

/// A store with a little of everything, also with deleted rows.
async fn create_filled_store(folder: &TempDir) -> SqliteStore {
    let (_, store) = new_root(folder);
    fill_store(&store).await;
    let local = Tenant::local();
    let import = store.begin_import(&local, "undone", at(9_600)).await;
    let import = import.unwrap();
    let late = imported(&session("late"), events("gone", 400), "/logs/2", import);
    store.append(&late).await.unwrap();
    store
        .undo_import(&Tenant::local(), import, at(9_601))
        .await
        .unwrap();
    let theirs = append(&other_tenants_session(), events("t0 theirs", 3));
    store.append(&theirs).await.unwrap();
    for words in ["t1 said", "t0 said", "t0 never"] {
        let many = append(&session("many"), events(words, 400));
        store.append(&many).await.unwrap();
    }
    let claiming = TranscriptSource {
        claimed_id: Some("man".to_owned()),
        ..source("/logs/3", &session("many"), 9)
    };
    let retracting = Append {
        source: Some(claiming),
        ..append(&session("many"), vec![retraction("gone", &[1, 3])])
    };
    store.append(&retracting).await.unwrap();
    IndexWriter::clear(&store, &Tenant::local()).await.unwrap();
    store
}

async fn copy_all(from: &dyn Portable, to: &dyn Portable) {
    for table in &TABLES {
        let copied = transfer::copy(from, to, table, &StopAfterPages::all()).await;
        assert_eq!(copied.unwrap(), Outcome::Done, "{}", table.name);
    }
}

async fn checksums(store: &dyn Portable) -> Vec<(&'static str, Checksum, i64)> {
    let mut checksums = Vec::new();
    for table in &TABLES {
        let checksum = transfer::checksum(store, table, &StopAfterPages::all())
            .await
            .unwrap();
        let last = store.last_number(table).await.unwrap();
        checksums.push((table.name, checksum.expect("nobody stopped it"), last));
    }
    checksums
}

/// `table.column` for each column that a database should have: the copied ones, without those that it keeps in
/// another form, and its own.
fn columns(otherwise: &[&str], own: impl Fn(&Table) -> Vec<&'static str>) -> Vec<String> {
    let mut all = Vec::new();
    for table in &TABLES {
        let carried = table.columns.iter().map(|column| column.name);
        let carried = carried.filter(|name| !otherwise.contains(name));
        all.extend(
            carried
                .chain(own(table))
                .map(|column| format!("{}.{column}", table.name)),
        );
    }
    all.sort();
    all
}

#[test]
fn every_column_of_sqlite_is_carried_or_made() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _store) = new_root(&folder);
    let connection = Connection::open(path).unwrap();
    let ask = "SELECT tables.name || '.' || columns.name
        FROM sqlite_schema AS tables, pragma_table_xinfo(tables.name) AS columns
        WHERE tables.type = 'table' AND tables.name NOT LIKE 'ix\\_%' ESCAPE '\\'
            AND tables.name NOT IN ('sqlite_sequence', 'sqlite_stat1', 'schema_migrations')";
    let mut found: Vec<String> = connection
        .prepare(ask)
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    found.sort();
    // A job's lane has a number here, and names elsewhere.
    let known = columns(&["lane_user", "lane_agent"], |table| {
        table.sqlite_own.to_vec()
    });
    assert_eq!(found, known);
}

#[test]
fn a_stopped_copy_goes_on_where_it_stopped() {
    run(async {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, (_, to)) = (create_filled_store(&here).await, new_root(&there));
        let events = TABLES.iter().find(|table| table.name == "events").unwrap();
        assert!(transfer::is_empty(&to).await.unwrap());
        let one = StopAfterPages(AtomicU64::new(1));
        let stopped = transfer::copy(&from, &to, events, &one).await;
        assert_eq!(stopped.unwrap(), Outcome::Stopped);
        assert!(!transfer::is_empty(&to).await.unwrap());
        assert_eq!(to.rows(events).await.unwrap(), 500);
        copy_all(&from, &to).await;
        copy_all(&from, &to).await;
        assert_eq!(checksums(&from).await, checksums(&to).await);
    });
}

#[test]
fn what_changed_behind_a_copy_shows() {
    run(async {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, (_, to)) = (create_filled_store(&here).await, new_root(&there));
        copy_all(&from, &to).await;
        let further = append(&session("aaaa-one"), events("late", 1));
        from.append(&further).await.unwrap();
        copy_all(&from, &to).await;
        assert_ne!(checksums(&from).await, checksums(&to).await);
        for table in &TABLES {
            to.empty(table).await.unwrap();
        }
        copy_all(&from, &to).await;
        assert_eq!(checksums(&from).await, checksums(&to).await);
    });
}

/// All writes to a held store wait, and those to a closed one fail; reading is not blocked.
async fn check_closing(store: &(impl Portable + SessionLog + SessionCatalog + ImportStore)) {
    let further = append(&session("aaaa-one"), events("late", 1));
    drop(store.hold().await.unwrap());
    store.append(&further).await.unwrap();
    assert!(!store.is_closed().await.unwrap());
    for _ in 0..2 {
        let held = store.hold().await.unwrap();
        held.close("a 'better' place, 100%").await.unwrap();
    }
    assert!(store.is_closed().await.unwrap());
    let later = append(&session("aaaa-one"), events("later", 1));
    match store.append(&later).await {
        Err(StoreError::Refused(says)) => {
            assert!(says.contains("a 'better' place, 100%"), "{says}")
        }
        other => panic!("{other:?}"),
    }
    assert!(
        !store
            .sessions(&Tenant::local(), PageRequest::first(9))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[test]
fn writing_to_a_closed_file_names_where_its_memory_is() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        check_closing(&create_filled_store(&folder).await).await;
    });
}

#[test]
fn a_copy_is_made_while_others_write() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let store = create_filled_store(&folder).await;
        let before = checksums(&store).await;
        let path = folder.path().join("copy.db");
        let held = store.hold().await.unwrap();
        store.copy_to(&path).unwrap();
        drop(held);
        let copy = SqliteStore::open(&path, Default::default()).unwrap();
        assert_eq!(checksums(&copy).await, before);
        assert!(store.copy_to(&path).is_err(), "it overwrites nothing");
        copy.append(&append(&session("new"), events("word", 1)))
            .await
            .unwrap();
        assert_eq!(checksums(&store).await, before);
    });
}

#[cfg(all(unix, feature = "postgres"))]
mod postgres {
    use daybook_domain::EventSeq;

    use super::super::postgres::{admin, on_server};
    use super::super::schema::{list_uses, read_thread, spending_by_stage};
    use super::*;

    #[test]
    fn every_column_of_postgresql_is_carried_or_made() {
        let Some(server) = on_server() else { return };
        let ask = "SELECT table_name || '.' || column_name FROM information_schema.columns
            WHERE table_schema = 'public' AND table_name NOT LIKE 'ix\\_%'
                AND table_name NOT IN
                    ('schema_migrations', 'commits', 'trees', 'tree_objects', 'pipeline_state')";
        let mut found: Vec<String> = run(async {
            let client = admin(&server.database).await;
            let rows = client.query(ask, &[]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        });
        found.sort();
        let known = columns(&[], |table| {
            let tenant = table.tenant_of.map(|_| "tenant_no");
            table.postgres_own.iter().copied().chain(tenant).collect()
        });
        assert_eq!(found, known);
    }

    #[test]
    fn there_and_back_changes_nothing() {
        let Some(server) = on_server() else { return };
        run(async {
            let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let from = create_filled_store(&here).await;
            copy_all(&from, &*server).await;
            let before = checksums(&from).await;
            assert_eq!(before, checksums(&*server).await);
            let local = Tenant::local();
            let seen = model::view::of(&from, &local).await.unwrap();
            assert_eq!(seen, model::view::of(&*server, &local).await.unwrap());
            let (_, back) = new_root(&there);
            copy_all(&*server, &back).await;
            assert_eq!(before, checksums(&back).await);
            assert_eq!(seen, model::view::of(&back, &local).await.unwrap());
            assert_eq!(
                spending_by_stage(&from).await,
                spending_by_stage(&back).await
            );
            assert_eq!(read_thread(&from).await, read_thread(&back).await);
            assert_eq!(read_thread(&from).await, read_thread(&*server).await);
            assert_eq!(list_uses(&from).await, list_uses(&*server).await);
            assert_eq!(
                (list_uses(&back).await.len(), list_uses(&from).await),
                (2, list_uses(&back).await)
            );
            // Each row is still its tenant's.
            let (first, last) = (EventSeq(0), EventSeq(u64::MAX));
            let id = other_tenants_session();
            let log = server.events(&id, first, last, 9, usize::MAX);
            assert_eq!(log.await.unwrap().len(), 3);
            let tenants = transfer::tenants(&*server).await.unwrap();
            assert_eq!(tenants, [local.clone(), other_tenants_session().tenant]);
            // Numbering continues where it was.
            for store in [&from as &dyn ImportStore, &*server, &back] {
                let import = store.begin_import(&local, "next", at(9_700)).await.unwrap();
                assert_eq!(import, daybook_domain::source::ImportNo(3));
            }
        });
    }

    #[test]
    fn writing_to_a_closed_database_names_where_its_memory_is() {
        let Some(server) = on_server() else { return };
        run(async {
            let first = append(&session("aaaa-one"), events("first", 1));
            server.append(&first).await.unwrap();
            check_closing(&*server).await;
        });
    }
}
