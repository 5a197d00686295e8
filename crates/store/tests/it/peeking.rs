//! Peeking at a store waits for nothing, and creates and writes nothing.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use daybook_domain::seams::{SessionCatalog, SessionLog};
use daybook_domain::{PageRequest, StoreError};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::{append, events, session};
use daybook_testkit::run;
use rusqlite::Connection;
use tempfile::TempDir;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn create_store(folder: &TempDir) -> (std::path::PathBuf, SqliteStore) {
    let path = folder.path().join("day book?#%.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a new store");
    run(store.append(&append(&session("7f78aa01"), events("word", 3)))).expect("an append");
    (path, store)
}

fn peek(path: &Path) -> Result<Option<SqliteStore>, StoreError> {
    SqliteStore::open_to_peek(path, soon())
}

/// The events that a peek reads; `None` where it cannot open the store.
fn read(path: &Path) -> Option<u64> {
    let store = peek(path).expect("it is a store")?;
    let found = run(store.session(&session("7f78aa01"))).expect("it is read");
    assert!(store.is_undisturbed());
    Some(found.expect("the session").events.0)
}

/// The content of a folder: names, sizes and bytes.
fn folder_content(folder: &TempDir) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder.path()).expect("a folder").flatten();
    let mut files: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_store_not_in_use_is_read_and_its_folder_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = create_store(&folder);
    drop(store);
    let before = folder_content(&folder);
    assert_eq!(before.len(), 1, "the log is gone with its last user");
    assert_eq!(read(&path), Some(3));
    assert_eq!(folder_content(&folder), before);
}

#[test]
fn what_is_in_the_log_is_read_while_another_process_writes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _store) = create_store(&folder);
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM events")
        .unwrap();
    let names =
        |folder| -> Vec<String> { folder_content(folder).into_iter().map(|(n, _)| n).collect() };
    let before = names(&folder);
    let began = Instant::now();
    assert_eq!(read(&path), Some(3));
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(names(&folder), before);
}

#[test]
fn a_log_that_a_killed_process_left_is_read_without_mending_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = create_store(&folder);
    let left = folder_content(&folder);
    drop(store);
    for (with_index, wanted) in [(true, Some(3)), (false, None)] {
        let copies = tempfile::tempdir().unwrap();
        let kept = left
            .iter()
            .filter(|(name, _)| with_index || !name.ends_with("-shm"));
        for (name, bytes) in kept {
            fs::write(copies.path().join(name), bytes).unwrap();
        }
        let before = folder_content(&copies);
        assert_eq!(before.len(), 2 + usize::from(with_index));
        let copy = copies.path().join(path.file_name().unwrap());
        let store = peek(&copy).ok().flatten();
        let found = store.and_then(|store| run(store.session(&session("7f78aa01"))).ok()?);
        assert_eq!(found.map(|session| session.events.0), wanted);
        assert_eq!(folder_content(&copies), before);
    }
}

#[test]
fn a_store_that_is_locked_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = create_store(&folder);
    drop(store);
    let owner = Connection::open(&path).unwrap();
    let lock = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM observations";
    owner.execute_batch(lock).unwrap();
    let began = Instant::now();
    // The other store's writes are not in the file yet.
    assert_eq!(read(&path), Some(3));
    owner
        .execute_batch("COMMIT; BEGIN EXCLUSIVE; DELETE FROM jobs")
        .unwrap();
    let store = peek(&path).ok().flatten();
    let found = store.map(|store| run(store.session(&session("7f78aa01"))).is_ok());
    assert!(!found.unwrap_or_default(), "its log is the other's alone");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_is_missing_foreign_damaged_or_of_another_schema_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    assert!(matches!(peek(&path), Ok(None)));
    assert_eq!(folder_content(&folder), []);
    fs::create_dir(&path).unwrap();
    assert!(matches!(peek(&path), Ok(None)));
    fs::remove_dir(&path).unwrap();

    fs::write(
        &path,
        "not a database, and longer than the header of one would be ".repeat(9),
    )
    .unwrap();
    assert!(peek(&path).is_err());
    fs::write(&path, "").unwrap();
    assert!(
        matches!(peek(&path), Ok(None)),
        "a store that is only just being made"
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    fs::remove_file(&path).unwrap();

    let foreign = Connection::open(&path).unwrap();
    foreign
        .execute_batch("CREATE TABLE books (title TEXT)")
        .unwrap();
    drop(foreign);
    assert!(peek(&path).is_err());

    for (sql, is_error) in [
        (
            "UPDATE schema_migrations SET version = 900, serves = 900 WHERE version = 1",
            true,
        ),
        (
            "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)",
            false,
        ),
        ("UPDATE schema_migrations SET checksum = 'x'", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = create_store(&folder);
        drop(store);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        match peek(&path) {
            Ok(None) => assert!(!is_error, "{sql}"),
            Ok(Some(_)) => panic!("{sql}"),
            Err(_) => assert!(is_error, "{sql}"),
        }
    }
}

#[test]
fn nothing_is_read_when_the_time_is_up_and_nothing_is_ever_written() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = create_store(&folder);
    drop(store);
    let store = peek(&path).unwrap().expect("a store");
    let other = append(&session("7f78aa02"), events("word", 1));
    assert!(run(store.append(&other)).is_err());
    drop(store);
    assert_eq!(folder_content(&folder).len(), 1);
    if let Ok(Some(store)) = SqliteStore::open_to_peek(&path, Instant::now()) {
        assert!(run(store.sessions(&session("7f78aa01").tenant, PageRequest::first(9))).is_err());
    }
}

#[test]
fn a_read_while_another_process_wrote_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = create_store(&folder);
    drop(store);
    let store = peek(&path).unwrap().expect("a store");
    assert!(store.is_undisturbed());
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch("CREATE TABLE beside (n); PRAGMA wal_checkpoint")
        .unwrap();
    assert!(!store.is_undisturbed());
}
