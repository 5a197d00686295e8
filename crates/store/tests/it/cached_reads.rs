//! What a store on SQLite caches of its reads: it answers as a store that was opened just now, after any process wrote.

use std::path::Path;

use daybook_domain::index::{
    CandidateQuery, DocumentNo, DocumentOutline, DocumentVectors, FileEntry, IndexedDocument,
    SearchFilter, TermStats,
};
use daybook_domain::page::PageRequest;
use daybook_domain::seams::{
    IndexReader, IndexWriter, ObservationStore, RetractedText, ScopeState, ScopeStore, SessionLog,
    SupersessionStore, VectorStore,
};
use daybook_domain::{
    EventSeq, KnownObservation, Observation, Scope, SupersededObservation, Supersession,
    SupersessionReason, Tenant,
};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::run;
use rusqlite::Connection;

const MODEL: &str = "ada/small@1";

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default()).expect("a root can be opened at any time")
}

fn scope() -> Scope {
    user_scope("ada")
}

fn tide() -> Observation {
    observation(
        &scope(),
        "word tide",
        vec![evidence(&session("pier"), &[1])],
    )
}

fn buoy() -> Observation {
    observation(
        &scope(),
        "word buoy",
        vec![evidence(&session("pier"), &[2])],
    )
}

/// All that a recall reads and a store may have cached.
#[derive(Debug, PartialEq)]
struct Reads {
    stats: TermStats,
    docs: Vec<DocumentNo>,
    outlines: Vec<DocumentOutline>,
    /// Of all, and the first two.
    nearest: [Vec<DocumentNo>; 2],
    observations: Vec<Option<KnownObservation>>,
    superseded: Vec<SupersededObservation>,
    scopes: Vec<ScopeState>,
    documents: Vec<IndexedDocument>,
    around: Vec<DocumentNo>,
    retracted: Vec<RetractedText>,
}

async fn reads(store: &SqliteStore) -> Reads {
    let tenant = Tenant::local();
    let step = CandidateQuery {
        all_of: vec!["word".to_owned()],
        limit: 99,
    };
    let (steps, words, filter) = ([step], ["word".to_owned()], SearchFilter::default());
    let docs = store.matches(&tenant, &steps, &filter).await.unwrap();
    let stats = store.term_stats(&tenant, &words);
    let outlines = store.outlines(&tenant, &docs, Some(MODEL));
    let events = [1, 2].map(|seq| (session("pier"), EventSeq(seq)));
    let scopes = store.scopes(&tenant, PageRequest::first(99));
    let wanted = [tide(), buoy()].map(|one| (scope(), one.id));
    let known = store.known_observations(&tenant, &wanted);
    let pier = [session("pier")];
    let retracted = store.retracted_texts(&tenant, &pier);
    Reads {
        documents: store.documents(&tenant, &docs).await.unwrap(),
        around: store.surroundings(&tenant, &docs, 1).await.unwrap(),
        retracted: retracted.await.unwrap(),
        stats: stats.await.unwrap(),
        outlines: outlines.await.unwrap(),
        nearest: [nearest(store, 99).await, nearest(store, 2).await],
        observations: known.await.unwrap(),
        superseded: store.superseded_by_event(&tenant, &events).await.unwrap(),
        scopes: scopes.await.unwrap().items,
        docs,
    }
}

async fn nearest(store: &SqliteStore, most: usize) -> Vec<DocumentNo> {
    let (tenant, filter) = (Tenant::local(), SearchFilter::default());
    let found = store.nearest(&tenant, (MODEL, &[7]), &filter, most);
    found.await.unwrap()
}

/// Changes something that is read, as the step `n` of a history.
async fn change(store: &SqliteStore, n: u8) {
    let tenant = Tenant::local();
    let pier = session("pier");
    match n {
        0 => {
            let two = vec![event("word one"), event("word two")];
            store.append(&append(&pier, two)).await.unwrap();
        }
        1 => store.observe(&[tide(), buoy()], at(9)).await.unwrap(),
        2 => {
            let ended = Supersession {
                earlier: tide().id,
                later: buoy().id,
                reason: SupersessionReason::Reversed,
                until: at(9),
            };
            store.set_supersessions(&scope(), &[ended]).await.unwrap();
        }
        3 => {
            assert!(store.choose_model(&tenant, MODEL).await.unwrap());
            let waiting = store.unembedded(&tenant, 99).await.unwrap();
            let vectors = waiting.into_iter().map(|one| DocumentVectors {
                doc: one.doc,
                digest: one.digest(),
                vectors: vec![1],
                signs: vec![7],
                tokens: String::new(),
            });
            let vectors: Vec<DocumentVectors> = vectors.collect();
            store.put_vectors(&tenant, MODEL, &vectors).await.unwrap();
        }
        4 => {
            let entry = FileEntry {
                line: 3,
                text: "word entry".to_owned(),
                heading: "Preferences".to_owned(),
                observation: None,
                citation: None,
                tokens: "word entry".to_owned(),
            };
            let (scope, entries) = (scope(), [entry]);
            let put = store.put_file(&scope, "MEMORY.md", "stamp", &entries, at(9));
            put.await.unwrap();
        }
        5 => assert!(store.retract(&scope(), buoy().id, at(10)).await.unwrap()),
        _ => assert!(store.choose_model(&tenant, "ada/large@1").await.unwrap()),
    }
}

/// Makes changes by the store that reads, and by another one on the same file: as another process does. The store that
/// reads has its index in rows, and in memory.
fn check(is_own: impl Fn(u8) -> bool) {
    for is_held in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daybook.db");
        let reader = match is_held {
            true => open(&path).with_held_index().unwrap(),
            false => open(&path),
        };
        check_reader(&path, &reader, &is_own);
    }
}

fn check_reader(path: &Path, reader: &SqliteStore, is_own: impl Fn(u8) -> bool) {
    let other = open(path);
    run(async {
        let mut before = reads(reader).await;
        for n in 0..=6 {
            change(if is_own(n) { reader } else { &other }, n).await;
            let after = reads(reader).await;
            assert_ne!(after, before, "change {n} is seen");
            assert_eq!(after, reads(&open(path)).await, "after change {n}");
            assert_eq!(after, reads(reader).await, "read twice after {n}");
            before = after;
        }
    });
}

#[test]
fn every_write_of_the_store_itself_is_seen() {
    check(|_| true);
}

#[test]
fn every_write_of_another_process_is_seen() {
    check(|_| false);
}

#[test]
fn writes_of_both_in_turn_are_seen() {
    check(|n| n % 2 == 0);
}

#[test]
fn a_write_that_was_broken_off_is_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let reader = open(&path);
    run(async {
        change(&reader, 0).await;
        let before = reads(&reader).await;
        let broken = Connection::open(&path).unwrap();
        let begun = "BEGIN IMMEDIATE; DELETE FROM ix_docs; DELETE FROM ix_pending;";
        broken.execute_batch(begun).unwrap();
        assert_eq!(reads(&reader).await, before);
        drop(broken);
        assert_eq!(reads(&reader).await, before);
        assert_eq!(before.outlines.len(), 2);
        // What it would have deleted can be deleted afterwards, and is then gone for the reader too.
        let whole = Connection::open(&path).unwrap();
        // Each commit of Daybook counts itself.
        let deleted = "BEGIN; DELETE FROM ix_docs;
            UPDATE ix_read_version SET version = version + 1; COMMIT";
        whole.execute_batch(deleted).unwrap();
        assert_eq!(reads(&reader).await.outlines, []);
    });
}

#[test]
fn an_index_in_memory_that_missed_changes_gives_way_to_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let (reader, other) = (open(&path).with_held_index().unwrap(), open(&path));
    run(async {
        for n in [0, 4] {
            change(&other, n).await;
            reads(&reader).await;
        }
        change(&other, 1).await;
        // As when so much changed that the first of it is not recorded any more.
        let rows = Connection::open(&path).unwrap();
        let last = "(SELECT max(change_no) FROM ix_changes)";
        let forget = format!("DELETE FROM ix_changes WHERE change_no < {last}");
        assert!(rows.execute(&forget, []).unwrap() > 0);
        assert_eq!(reads(&reader).await, reads(&open(&path)).await);
    });
}

#[test]
fn an_index_in_memory_gives_way_to_the_rows_after_an_import() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let (reader, other) = (open(&path).with_held_index().unwrap(), open(&path));
    run(async {
        change(&other, 0).await;
        let before = reads(&reader).await;
        let many = (1..3000).map(|line| FileEntry {
            line,
            text: format!("word {line}"),
            heading: String::new(),
            observation: None,
            citation: None,
            tokens: format!("word {line}"),
        });
        let many: Vec<FileEntry> = many.collect();
        let own = scope();
        let put = other.put_file(&own, "MEMORY.md", "stamp", &many, at(9));
        put.await.unwrap();
        let after = reads(&reader).await;
        assert_ne!(after, before);
        assert_eq!(after, reads(&open(&path)).await);
    });
}

#[test]
fn the_record_of_changes_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    run(change(&open(&path), 0));
    let rows = Connection::open(&path).unwrap();
    let many = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 80000)
        INSERT INTO ix_changes (doc) SELECT n FROM n";
    rows.execute(many, []).unwrap();
    let count = "SELECT count(*) FROM ix_changes";
    let count: usize = rows.query_row(count, [], |row| row.get(0)).unwrap();
    assert!((65_536..70_000).contains(&count), "{count} changes");
}

#[test]
fn an_index_is_held_after_some_searches_and_answers_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let reader = open(&path);
    run(async {
        for n in 0..=4 {
            change(&reader, n).await;
        }
        let before = reads(&reader).await;
        for _ in 0..64 {
            assert_eq!(reads(&reader).await, before);
        }
    });
}
