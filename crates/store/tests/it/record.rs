//! The record: a database that is made again from it holds what the lost one held, and one bad line costs no other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use daybook_domain::seams::{
    JobControl, JobListing, JobQueue, ObservationStore, SessionCatalog, SessionLog,
};
use daybook_domain::{
    EXPIRED_EVENT, EventSeq, JobKey, JobKind, NewEvent, ObservationId, Origin, RecordKey,
    RecordKind, SessionId,
};
use daybook_store::SqliteStore;
use daybook_store::sqlite::{RecordRestore, RestoredRecord, SqliteOptions};
use daybook_testkit::fixtures::*;
use daybook_testkit::{run, suites};
use rusqlite::Connection;
use tempfile::TempDir;

use super::schema::{fill_store, new_root};

type Record = BTreeMap<RecordKey, Vec<String>>;

/// All lines of all parts.
fn record_of(store: &SqliteStore) -> Record {
    store.mark_all_records().expect("parts can be marked");
    let parts = store.stale_records(1000).expect("marks can be read");
    let lines = |key| store.record_lines(key).expect("lines can be read");
    let all = parts.into_iter().map(|part| (part.key, lines(part.key)));
    all.filter(|(_, lines)| !lines.is_empty()).collect()
}

fn restore(record: &Record, path: &Path) -> (RestoredRecord, SqliteStore) {
    let mut restore = RecordRestore::begin(path).expect("a restore can begin");
    fill(&mut restore, record);
    let report = restore
        .finish(&|_, text| tokens(text))
        .expect("a restore ends");
    let store = SqliteStore::open(path, SqliteOptions::default()).expect("it can be opened");
    (report, store)
}

fn fill(restore: &mut RecordRestore, record: &Record) {
    let of_kind = |kind| record.iter().filter(move |(key, _)| key.kind == kind);
    for (key, lines) in of_kind(RecordKind::Session).chain(of_kind(RecordKind::Scope)) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        restore.add_identity(*key, &lines);
    }
    for kind in [RecordKind::Tenant, RecordKind::Session, RecordKind::Scope] {
        for (key, lines) in of_kind(kind) {
            let lines: Vec<(usize, &str)> = (1..).zip(lines.iter().map(String::as_str)).collect();
            restore.add(*key, &lines);
        }
    }
}

/// A store with two sessions that taught something, one of it taken back, and its database's path.
async fn taught(folder: &TempDir) -> (PathBuf, SqliteStore) {
    let (path, store) = new_root(folder);
    fill_store(&store).await;
    let late = session("late");
    let said = events("t2 s3", 3);
    let placed = said
        .into_iter()
        .map(|event| event.with_place("/home/ada/late"));
    store
        .append(&append(&late, placed.collect()))
        .await
        .unwrap();
    let scope = project_scope("right");
    let kept = observation(&scope, "said late", vec![evidence(&late, &[2])]);
    let taken_back = observation(&scope, "said wrongly", vec![evidence(&late, &[1, 3])]);
    let id = taken_back.id;
    suites::extract(&store, &late, vec![kept, taken_back]).await;
    assert!(store.retract(&scope, id, at(9_600)).await.unwrap());
    (path, store)
}

fn delete(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.to_owned().into_os_string();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

/// Texts of the observations of a scope.
async fn texts(store: &SqliteStore, scope: &str) -> Vec<String> {
    let all = store.observations(&project_scope(scope)).await.unwrap();
    all.into_iter().map(|one| one.text).collect()
}

#[test]
fn a_restored_database_records_the_same_lines() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = taught(&folder).await;
        let before = record_of(&store);
        let jobs = (
            store.job(&JobKey::Extract(session("late"))).await.unwrap(),
            store.session(&session("late")).await.unwrap(),
        );
        drop(store);
        delete(&path);
        let (report, store) = restore(&before, &path);
        assert_eq!(report.bad, []);
        assert_eq!((report.sessions, report.observations), (4, 2));
        let after = record_of(&store);
        for (key, lines) in &before {
            assert_eq!(after.get(key), Some(lines), "{key:?}");
        }
        assert_eq!(after.len(), before.len());
        assert_eq!(texts(&store, "right").await, ["said late"]);
        assert_eq!(texts(&store, "left").await, ["said once"]);
        let job = store.job(&JobKey::Extract(session("late"))).await.unwrap();
        let (job, known) = (job.expect("a job"), jobs.0.expect("a job"));
        assert_eq!((job.input, job.done), (known.input, known.done));
        assert_eq!(store.session(&session("late")).await.unwrap(), jobs.1);
    });
}

#[test]
fn a_session_goes_on_after_its_own_last_line() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = new_root(&folder);
        let (first, second) = (session("aaaa"), session("bbbb"));
        for (id, step) in [(&first, 10), (&second, 20)] {
            let mut said = events(&id.host_id, 2);
            for (n, event) in (1..).zip(&mut said) {
                event.line = n * step;
            }
            store.append(&append(id, said)).await.unwrap();
            let seen = observation(
                &project_scope("left"),
                &id.host_id,
                vec![evidence(id, &[1])],
            );
            suites::extract(&store, id, vec![seen]).await;
        }
        let record = record_of(&store);
        drop(store);
        delete(&path);
        let (_, store) = restore(&record, &path);
        drop(store);
        let database = Connection::open(&path).unwrap();
        let last = |id: &SessionId| -> u32 {
            let find = "SELECT last_line FROM sessions WHERE host_id = ?";
            database
                .query_row(find, [&id.host_id], |row| row.get(0))
                .unwrap()
        };
        assert_eq!([last(&first), last(&second)], [20, 40]);
    });
}

#[test]
fn events_that_were_not_done_are_forgotten_and_become_due_when_they_come_again() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = new_root(&folder);
        let id = session("aaaa");
        let said = events("t0 s0", 3);
        store.append(&append(&id, said.clone())).await.unwrap();
        let scope = project_scope("left");
        let seen = observation(&scope, "said once", vec![evidence(&id, &[1])]);
        suites::extract(&store, &id, vec![seen]).await;
        let later = events("t1 s1", 2);
        store.append(&append(&id, later.clone())).await.unwrap();
        let record = record_of(&store);
        drop(store);
        delete(&path);
        let (_, store) = restore(&record, &path);
        let key = JobKey::Extract(id.clone());
        let marks = async |store: &SqliteStore| {
            let job = store.job(&key).await.unwrap().expect("a job");
            (job.done, job.input)
        };
        assert_eq!(marks(&store).await, (3, 3));
        let all: Vec<NewEvent> = said.into_iter().chain(later).collect();
        let outcome = store.append(&append(&id, all)).await.unwrap();
        assert_eq!(outcome.last, EventSeq(5));
        assert_eq!(marks(&store).await, (3, 5));
    });
}

#[test]
fn a_session_that_taught_nothing_is_not_due_again() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = new_root(&folder);
        let id = session("aaaa");
        let said = events("t0 s0", 3);
        store.append(&append(&id, said.clone())).await.unwrap();
        suites::extract(&store, &id, Vec::new()).await;
        let record = record_of(&store);
        drop(store);
        delete(&path);
        let (_, store) = restore(&record, &path);
        store.append(&append(&id, said)).await.unwrap();
        let claimed = store.claim(claim_of(JobKind::Extract, at(90_000), 10));
        assert_eq!(claimed.await.unwrap(), []);
    });
}

#[test]
fn what_a_person_took_back_stays_away() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = taught(&folder).await;
        let record = record_of(&store);
        drop(store);
        delete(&path);
        let (_, store) = restore(&record, &path);
        let late = session("late");
        store
            .redo(&JobKey::Extract(late.clone()), at(9_700))
            .await
            .unwrap();
        let scope = project_scope("right");
        let again = observation(&scope, "said wrongly", vec![evidence(&late, &[1, 3])]);
        let kept = observation(&scope, "said late", vec![evidence(&late, &[2])]);
        suites::extract(&store, &late, vec![kept, again]).await;
        assert_eq!(texts(&store, "right").await, ["said late"]);
    });
}

#[test]
fn one_bad_line_costs_no_other() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = taught(&folder).await;
        let record = record_of(&store);
        drop(store);
        for key in record.keys() {
            for line in 0..record[key].len() {
                for damage in ["", "\u{0}", "{\"row\":\"evidence\"}", "{\"row\":"] {
                    delete(&path);
                    let mut damaged = record.clone();
                    damaged.get_mut(key).expect("a part")[line] = damage.to_owned();
                    check_damaged(&record, &damaged, *key, line, &path);
                }
            }
        }
    });
}

/// Restores a damaged record, and compares what it records then with the whole one.
fn check_damaged(whole: &Record, damaged: &Record, key: RecordKey, line: usize, path: &Path) {
    let (report, store) = restore(damaged, path);
    let found = record_of(&store);
    let bad: Vec<_> = report.bad.iter().map(|bad| (bad.key, bad.line)).collect();
    assert!(bad.contains(&(key, line + 1)), "{key:?} {line}: {bad:?}");
    let row = |text: &str| -> String {
        let value: serde_json::Value = serde_json::from_str(text).expect("a line");
        value["row"].as_str().expect("a kind").to_owned()
    };
    let lost = &whole[&key][line];
    // A session's words of events end where its damaged line began; everything else rests on no other line.
    if row(lost) == "events" {
        return;
    }
    let all =
        |record: &Record| -> BTreeSet<String> { record.values().flatten().cloned().collect() };
    let missing: Vec<String> = all(whole).difference(&all(&found)).cloned().collect();
    // What is known of a file before an import goes with the file.
    let goes_with_it = |text: &String| row(lost) == "source" && row(text) == "source_before";
    let is_lost = |text: &String| text == lost || goes_with_it(text);
    assert!(missing.iter().all(is_lost), "{lost}: {missing:?}");
}

#[test]
fn words_of_a_transcript_return_to_their_places_and_nothing_becomes_due() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = taught(&folder).await;
        let late = session("late");
        let (upto, most) = (EventSeq(9), 100);
        let before = store
            .events(&late, EventSeq(0), upto, most, usize::MAX)
            .await
            .unwrap();
        let record = record_of(&store);
        drop(store);
        delete(&path);
        let (_, store) = restore(&record, &path);
        let lost = store
            .events(&late, EventSeq(0), upto, most, usize::MAX)
            .await
            .unwrap();
        assert!(lost.iter().all(|event| event.text == EXPIRED_EVENT));
        assert!(lost.iter().all(|event| event.origin == Origin::Harness));
        // In another order, and with one of them twice.
        let mut again: Vec<NewEvent> = events("t2 s3", 3);
        again.reverse();
        again.push(again[0].clone());
        let placed = again
            .into_iter()
            .map(|event| event.with_place("/home/ada/late"));
        let outcome = store
            .append(&append(&late, placed.collect()))
            .await
            .unwrap();
        assert_eq!(outcome.last, EventSeq(3));
        let after = store
            .events(&late, EventSeq(0), upto, most, usize::MAX)
            .await
            .unwrap();
        assert_eq!(after, before);
        let job = store.job(&JobKey::Extract(late.clone())).await.unwrap();
        assert!(job.is_some_and(|job| job.done == job.input));
        let connection = Connection::open(&path).unwrap();
        let count = "SELECT count(*) FROM ix_docs WHERE doc & 4294967295 BETWEEN 1 AND 3
            AND (doc & 1152921504606846975) >> 32 =
                (SELECT session_no FROM sessions WHERE host_id = 'late')";
        let indexed: u64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(indexed, 3, "its words are found again");
    });
}

#[test]
fn a_restore_that_ends_early_leaves_no_database_and_the_next_one_is_whole() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = taught(&folder).await;
        let record = record_of(&store);
        drop(store);
        delete(&path);
        let mut cut = RecordRestore::begin(&path).unwrap();
        fill(&mut cut, &record);
        drop(cut);
        assert!(!path.exists());
        let (_, store) = restore(&record, &path);
        assert_eq!(record_of(&store), record);
    });
}

#[test]
fn each_change_that_is_recorded_marks_its_part_and_a_seen_mark_can_be_cleared() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (_path, store) = new_root(&folder);
        let id = session("aaaa");
        let clear = || {
            let seen = store.stale_records(100).unwrap();
            store.clear_stale_records(&seen).unwrap();
            seen.into_iter()
                .map(|part| part.key.kind)
                .collect::<Vec<_>>()
        };
        let (of_session, of_scope) = (RecordKind::Session, RecordKind::Scope);
        store
            .append(&append(&id, events("t0 s0", 2)))
            .await
            .unwrap();
        assert_eq!(clear(), [of_session]);
        // What is not done yet is not recorded.
        store
            .append(&append(&id, events("t1 s1", 2)))
            .await
            .unwrap();
        assert_eq!(clear(), []);
        let scope = project_scope("left");
        let seen = observation(&scope, "said once", vec![evidence(&id, &[1])]);
        let observed: ObservationId = seen.id;
        suites::extract(&store, &id, vec![seen]).await;
        assert_eq!(clear(), [of_scope, of_session]);
        // A writer clears no mark of a change that it has not seen.
        store.retract(&scope, observed, at(9_100)).await.unwrap();
        let early = store.stale_records(100).unwrap();
        store
            .redo(&JobKey::Extract(id.clone()), at(9_200))
            .await
            .unwrap();
        store.clear_stale_records(&early).unwrap();
        assert_eq!(clear(), [of_session]);
    });
}
