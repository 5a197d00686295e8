//! Opening a root: new, existing, foreign, newer, damaged, and by many processes at once.

use std::path::Path;

use daybook_domain::seams::{SessionCatalog, SessionLog};
use daybook_domain::{PageRequest, StoreError};
use daybook_store::{Durability, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::{append, events, session};
use daybook_testkit::run;
use rusqlite::Connection;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, SqliteOptions::default())
}

/// Runs SQL on a root behind the store's back.
fn change(path: &Path, sql: &str) {
    let connection = Connection::open(path).expect("the file can be opened");
    connection.execute_batch(sql).expect("the change is sound");
}

/// Opens a root, changes it by `sql`, and opens it again.
fn reopened_after(sql: &str) -> Result<SqliteStore, StoreError> {
    let folder = folder();
    let path = folder.path().join("daybook.db");
    drop(open(&path).expect("a new root can be opened"));
    change(&path, sql);
    open(&path)
}

#[test]
fn what_was_appended_is_there_after_opening_again() {
    for durability in [Durability::Process, Durability::Power] {
        let folder = folder();
        let path = folder.path().join("daybook.db");
        let options = SqliteOptions {
            durability,
            ..SqliteOptions::default()
        };
        let store = SqliteStore::open(&path, options).unwrap();
        let append = append(&session("7f78aa01"), events("word", 3));
        run(store.append(&append)).unwrap();
        drop(store);
        let store = SqliteStore::open(&path, options).unwrap();
        let found = run(store.session(&append.session.id)).unwrap().unwrap();
        assert_eq!(found.events.0, 3);
    }
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_a_root() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    let path = folder.path().join("daybook.db");
    let store = open(&path).unwrap();
    run(store.append(&append(&session("7f78aa01"), events("word", 3)))).unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
}

#[test]
fn a_root_of_a_newer_daybook_is_refused() {
    let refused =
        reopened_after("INSERT INTO schema_migrations VALUES (999, 'later', 'x', 0, 999)");
    match refused {
        Err(StoreError::TooNew { found, known, .. }) => assert!(found == 999 && known < 999),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_root_that_a_newer_daybook_only_added_to_is_opened() {
    let added = "INSERT INTO schema_migrations VALUES (999, 'later', 'x', 0, 1)";
    reopened_after(added).expect("it serves those that know version 1");
}

#[test]
fn a_root_whose_history_differs_is_refused() {
    let refused = reopened_after("UPDATE schema_migrations SET checksum = 'x' WHERE version = 1");
    assert!(
        matches!(refused, Err(StoreError::Corrupt(_))),
        "{refused:?}"
    );
}

#[test]
fn the_database_of_something_else_is_refused_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("daybook.db");
    change(&path, "CREATE TABLE cookies (name TEXT)");
    let refused = open(&path);
    assert!(
        matches!(refused, Err(StoreError::Corrupt(_))),
        "{refused:?}"
    );
    change(&path, "INSERT INTO cookies VALUES ('still here')");
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = folder();
    let path = folder.path().join("daybook.db");
    std::fs::write(&path, "Dear diary, ".repeat(1000)).unwrap();
    let refused = open(&path);
    assert!(
        matches!(refused, Err(StoreError::Corrupt(_))),
        "{refused:?}"
    );
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = folder();
    let path = folder.path().join("nowhere").join("daybook.db");
    match open(&path) {
        Err(StoreError::Unavailable { what, .. }) => assert!(what.contains("nowhere")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn many_may_open_a_fresh_root_at_once() {
    for _ in 0..8 {
        let folder = folder();
        let path = folder.path().join("daybook.db");
        std::thread::scope(|scope| {
            for n in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let store = open(path).expect("a fresh root can be opened by many");
                    let id = session(&format!("session {n}"));
                    run(store.append(&append(&id, events("word", 1)))).expect("and used");
                });
            }
        });
        let sessions = run(open(&path)
            .unwrap()
            .sessions(&daybook_domain::Tenant::local(), PageRequest::first(99)));
        assert_eq!(sessions.unwrap().items.len(), 8);
    }
}

#[test]
fn a_store_works_on_a_runtime_with_many_threads_too() {
    let folder = folder();
    let store = open(&folder.path().join("daybook.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let append = append(&session("7f78aa01"), events("word", 3));
    let appended = runtime.block_on(async { store.append(&append).await });
    assert_eq!(appended.unwrap().added, 3);
}
