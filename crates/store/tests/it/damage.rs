//! Damaged databases: the damage that examining finds, and the rows that are salvaged.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use daybook_domain::index::{DocumentVectors, FileEntry, SearchFilter};
use daybook_domain::seams::{
    IndexWriter, ObservationStore, SessionCatalog, SessionLog, VectorStore,
};
use daybook_domain::{EventSeq, Origin, PageRequest, StoreError, Tenant};
use daybook_store::sqlite::Salvage;
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::{
    EventFixture, append, at, events, evidence, observation, session, tokens, user_scope,
};
use daybook_testkit::run;
use rusqlite::Connection;
use tempfile::TempDir;

use super::schema::{check_references, root_with_references_in_texts};

const SESSIONS: [&str; 3] = ["7f78aa01", "8a11bb02", "9c22cc03"];
/// Events of each session: enough for several pages.
const EVENTS: u64 = 60;

struct DamagedRoot {
    folder: TempDir,
}

impl DamagedRoot {
    /// Three sessions, with one row changed by `sql`, a statement on table `events`.
    fn changed(sql: &str) -> Self {
        let root = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let store = root.open();
        for id in SESSIONS {
            run(store.append(&append(
                &session(id),
                events(&format!("word of {id}"), EVENTS),
            )))
            .unwrap();
        }
        drop(store);
        let connection = Connection::open(root.path()).unwrap();
        connection.execute_batch(sql).unwrap();
        root
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("daybook.db")
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.path(), SqliteOptions::default()).unwrap()
    }
}

fn tokens_of(_: Origin, text: &str) -> String {
    tokens(text)
}

fn examine(path: &Path) -> Vec<String> {
    let store = SqliteStore::open(path, SqliteOptions::default()).unwrap();
    let damage = store.examine(&tokens_of).unwrap();
    damage.iter().map(ToString::to_string).collect()
}

fn check(sql: &str, says: &str) {
    let root = DamagedRoot::changed(sql);
    let found = examine(&root.path());
    assert!(
        found.iter().any(|line| line.contains(says)),
        "{sql}: {found:?}"
    );
    let salvage = Salvage::begin(&root.path(), root.folder.path()).unwrap();
    salvage.finish(&tokens_of).unwrap();
    assert_eq!(examine(&root.path()), Vec::<String>::new(), "{sql}");
}

#[test]
fn a_sound_database_has_no_finding() {
    assert_eq!(
        examine(&DamagedRoot::changed("").path()),
        Vec::<String>::new()
    );
}

#[test]
fn a_sound_index_of_all_layers_has_no_finding() {
    let root = DamagedRoot::changed("");
    let store = root.open();
    let (id, ada) = (session(SESSIONS[0]), user_scope("ada"));
    let there = events("there", 3).into_iter();
    let there = there.map(|event| event.with_place("/home/ada/a"));
    let entry = FileEntry {
        line: 1,
        text: "tabs".to_owned(),
        heading: "Style".to_owned(),
        observation: None,
        citation: None,
        tokens: tokens("Style tabs"),
    };
    run(async {
        store.append(&append(&id, there.collect())).await.unwrap();
        let noted = observation(&ada, "use tabs", vec![evidence(&id, &[1])]);
        store.observe(&[noted], at(1)).await.unwrap();
        let entries = [entry];
        let put = store.put_file(&ada, "MEMORY.md", "stamp", &entries, at(2));
        put.await.unwrap();
        embed_all(&store).await;
    });
    assert_eq!(examine(&root.path()), Vec::<String>::new());
    // A salvaged database keeps its model, and its documents get vectors again.
    let salvage = Salvage::begin(&root.path(), root.folder.path()).unwrap();
    salvage.finish(&tokens_of).unwrap();
    assert_eq!(examine(&root.path()), Vec::<String>::new());
    let tenant = Tenant::local();
    run(async {
        let asked = ("ada/small@1", &[7][..]);
        let near = store
            .nearest(&tenant, asked, &SearchFilter::default(), 999)
            .await;
        assert_eq!(near.unwrap(), []);
        let embedded = embed_all(&store).await;
        assert_eq!(embedded, SESSIONS.len() * EVENTS as usize + 5);
        let near = store
            .nearest(&tenant, asked, &SearchFilter::default(), 999)
            .await;
        assert_eq!(near.unwrap().len(), embedded);
    });
}

/// Stores vectors for all documents that wait for them, and returns how many.
async fn embed_all(store: &SqliteStore) -> usize {
    let (tenant, model) = (Tenant::local(), "ada/small@1");
    store.choose_model(&tenant, model).await.unwrap();
    let waiting = store.unembedded(&tenant, 999).await.unwrap().into_iter();
    let vectors = waiting.map(|one| DocumentVectors {
        doc: one.doc,
        digest: one.digest(),
        vectors: vec![1],
        signs: vec![1],
        tokens: tokens(&one.text),
    });
    let vectors: Vec<DocumentVectors> = vectors.collect();
    let put = store.put_vectors(&tenant, model, &vectors).await;
    put.unwrap();
    vectors.len()
}

#[test]
fn each_kind_of_damage_is_named_and_gone_after_a_salvage() {
    check(
        "UPDATE events SET text = CAST(x'66ff66' AS TEXT) WHERE event_no = (1 << 32) | 7",
        "events 4294967303 text: is not valid UTF-8",
    );
    check(
        "UPDATE events SET origin = 'humam' WHERE event_no = (2 << 32) | 7",
        "origin: holds",
    );
    check(
        "UPDATE events SET line = -1 WHERE event_no = (2 << 32) | 7",
        "line: is out of range",
    );
    check(
        "UPDATE events SET id = x'00' WHERE event_no = (2 << 32) | 7",
        "id: is 1 bytes long",
    );
    check(
        "UPDATE sessions SET kind = 'tree' WHERE session_no = 2",
        "sessions 2 kind: holds",
    );
    check(
        "UPDATE sessions SET label = CAST(x'ff' AS TEXT) WHERE session_no = 2",
        "sessions 2 label",
    );
    check(
        "UPDATE sessions SET events = 7 WHERE session_no = 2",
        "the place of its last event",
    );
    check(
        "UPDATE sessions SET last_at = 7 WHERE session_no = 2",
        "the time of its newest event",
    );
    check("UPDATE jobs SET priority = 77", "priority: is no priority");
    check(
        "DELETE FROM sessions WHERE session_no = 3",
        "references a row of sessions that does not exist",
    );
    check(
        "INSERT INTO event_retractions VALUES ((2 << 32) | 777, 1)",
        "event_retractions 8589935369 event_no: references a row of events that does not exist",
    );
    check(
        "DELETE FROM lanes",
        "references a row of lanes that does not exist",
    );
    check("DELETE FROM ix_pending", "is not in the index");
    check(
        "DELETE FROM ix_docs WHERE doc = (1 << 60) | (2 << 32) | 7; DELETE FROM ix_unembedded",
        "events 8589934599: is indexed without an outline",
    );
    check(
        "DELETE FROM ix_unembedded; DELETE FROM ix_pending WHERE doc = (1 << 60) | (2 << 32) | 7",
        "events 8589934599: has an outline, but is not in the index",
    );
    check(
        "DELETE FROM ix_docs WHERE doc = (1 << 60) | (2 << 32) | 7;
         INSERT INTO ix_vectors VALUES ((1 << 60) | (2 << 32) | 7, 1, x'00');
         INSERT INTO ix_signs VALUES (1, (1 << 60) | (2 << 32) | 7, 1, 0, 0, x'00')",
        "events 8589934599: has vectors, and no outline",
    );
    check(
        "INSERT INTO ix_vectors VALUES ((1 << 60) | (2 << 32) | 7, 1, x'00')",
        "events 8589934599: has vectors without signs",
    );
    check(
        "UPDATE ix_docs SET terms = 'text' WHERE doc = (1 << 60) | (2 << 32) | 7",
        "ix_docs 1152921513196781575 terms: is not bytes",
    );
    for change in ["terms = x'00000080'", "at = at + 1", "origin = origin + 1"] {
        check(
            &format!("UPDATE ix_docs SET {change} WHERE doc = (1 << 60) | (2 << 32) | 7"),
            "events 8589934599: has an outline that does not match its row",
        );
    }
    check(
        "DELETE FROM events WHERE event_no = (2 << 32) | 7",
        "is indexed, but does not exist",
    );
}

#[test]
fn what_an_older_schema_kept_in_texts_is_saved_as_rows_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = root_with_references_in_texts(&folder);
    let salvage = Salvage::begin(&path, folder.path()).unwrap();
    salvage.finish(&tokens_of).unwrap();
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    run(check_references(&store));
}

#[test]
fn a_process_that_has_the_file_open_sees_what_was_saved() {
    let bad = "UPDATE events SET text = CAST(x'ff' AS TEXT) WHERE event_no = (1 << 32) | 7";
    let root = DamagedRoot::changed(bad);
    let store = root.open();
    let id = session(SESSIONS[0]);
    let read = || run(store.events(&id, EventSeq(0), EventSeq(EVENTS), 999, 999_999));
    assert!(matches!(read(), Err(StoreError::Corrupt(_))));
    let mut salvage = Salvage::begin(&root.path(), root.folder.path()).unwrap();
    salvage.restore_events(&HashMap::new()).unwrap();
    let salvaged = salvage.finish(&tokens_of).unwrap();
    assert_eq!((salvaged.mended.len(), salvaged.lost.len()), (1, 0));
    assert_eq!(read().unwrap().len() as u64, EVENTS);
    run(store.append(&append(&id, events("later", 2)))).unwrap();
    assert_eq!(examine(&root.path()), Vec::<String>::new());
}

#[test]
fn what_is_written_meanwhile_is_not_lost() {
    let root = DamagedRoot::changed("UPDATE sessions SET events = 7 WHERE session_no = 2");
    let store = root.open();
    let salvage = Salvage::begin(&root.path(), root.folder.path()).unwrap();
    run(store.append(&append(&session("aa33dd04"), events("meanwhile", 3)))).unwrap();
    assert!(matches!(
        salvage.finish(&tokens_of),
        Err(StoreError::Busy(_))
    ));
    let again = Salvage::begin(&root.path(), root.folder.path()).unwrap();
    again.finish(&tokens_of).unwrap();
    let sessions = run(store.sessions(&Tenant::local(), PageRequest::first(99)))
        .unwrap()
        .items;
    assert_eq!(sessions.len(), SESSIONS.len() + 1);
}

#[test]
fn a_listing_leaves_out_a_damaged_row_and_names_it() {
    let root = DamagedRoot::changed("UPDATE sessions SET kind = 'tree' WHERE session_no = 2");
    let store = root.open();
    assert_eq!(
        run(store.sessions(&Tenant::local(), PageRequest::first(99)))
            .unwrap()
            .items
            .len(),
        2
    );
    let damaged = store.damaged_rows();
    assert_eq!(damaged.len(), 1);
    assert_eq!(
        (damaged[0].table.as_str(), damaged[0].key.as_deref()),
        ("sessions", Some("2"))
    );
}
