//! Schemas of the past. Each released schema lies in `schemas/` as a dump of a root that holds a
//! little of everything; opening it with this daybook must give the same answers as a new root does.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use daybook_domain::index::{Document, DocumentNo, Embedded, Filter, Found, Outline, Terms};
use daybook_domain::model::Usage;
use daybook_domain::seams::{Append, SessionStore, SpendStore, Store};
use daybook_domain::spend::{Charge, ReserveOutcome, SettleOutcome, SpendBy, SpendSum};
use daybook_domain::working::{
    BlockOutcome, BlockingReason, LogPage, NewThread, Thread, ThreadAppend, ThreadStore,
};
use daybook_domain::{Claim, EventSeq, FailureClass, JobKind, Money, Tenant, Timestamp};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::{model, run, suites};
use rusqlite::Connection;
use tempfile::TempDir;

/// The newest schema that is committed.
const NEWEST: u32 = 4;

/// The first one that has outlines: what was indexed before waits for one.
const OUTLINES: u32 = 4;

fn committed(version: u32) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schemas");
    folder.join(format!("{version:04}.sql"))
}

pub(super) fn new_root(folder: &TempDir) -> (PathBuf, SqliteStore) {
    let path = folder.path().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a root can be opened");
    (path, store)
}

/// A little of everything.
pub(super) async fn remember(store: &(impl Store + SpendStore + ThreadStore)) {
    let (a, b) = (session("aaaa-one"), session("bb"));
    let import = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let there = events("t0 s0", 4)
        .into_iter()
        .map(|event| event.in_place("/home/ada/a"));
    store
        .append(&imported(&a, there.collect(), "/logs/1", import))
        .await
        .unwrap();
    store
        .end_import(&Tenant::local(), import, at(1))
        .await
        .unwrap();
    let mut off: Append = append(&b, vec![event("t1 s2 e3")]);
    off.session.memory_off = true;
    store.append(&off).await.unwrap();
    store
        .assign_root(&Tenant::local(), "/home/ada/a", &project("left"), at(2))
        .await
        .unwrap();
    let seen = observation(
        &project_scope("left"),
        "said once",
        vec![evidence(&a, &[1, 2])],
    );
    suites::extract(store, &a, vec![seen]).await;
    store.append(&append(&a, events("t1 s2", 2))).await.unwrap();
    store
        .claim(claim_of(JobKind::Extract, at(9_500), 1))
        .await
        .unwrap();
    let claimed = store
        .claim(Claim {
            holder: "other",
            ..claim_of(JobKind::Consolidate, at(9_500), 1)
        })
        .await
        .unwrap();
    let _ = store
        .fail(&claimed[0].token, &failed(FailureClass::Content), at(9_501))
        .await
        .unwrap();
    spend(store).await;
    think(store).await;
    forget_index(store).await;
}

/// A call that was settled, and one that was cut off.
async fn spend(store: &impl SpendStore) {
    let charge = Charge {
        tenant: Tenant::local(),
        user: "ada".to_owned(),
        run: "1".to_owned(),
        session: Some(session("bb")),
        stage: "extract".to_owned(),
        scope: Some(project_scope("left")),
        model: "ada/small".to_owned(),
        tokens: 900,
        money: Some(Money(40)),
    };
    for _ in 0..2 {
        let reserved = store.reserve(&charge, &[], at(9_502)).await.unwrap();
        let ReserveOutcome::Reserved(id) = reserved else {
            panic!("there is no cap");
        };
        if id.no == 1 {
            let usage = Usage {
                input: 300,
                cached: 100,
                output: 20,
            };
            let settled = store.settle(&id, usage, Some(Money(17)), at(9_503));
            assert_eq!(settled.await.unwrap(), SettleOutcome::Settled);
        }
    }
}

/// A thread whose events wait, and one that was deleted.
async fn think(store: &impl ThreadStore) {
    for host_id in ["bb", "gone"] {
        let new = NewThread {
            session: meta(&session(host_id)),
            custom: serde_json::Map::from_iter([("colour".to_owned(), "blue".into())]),
            now: at(9_504),
        };
        store.create_thread(&new).await.unwrap();
    }
    let further = ThreadAppend {
        append: append(&session("bb"), vec![event("t0 s1 e1")]).into(),
        entries: ["{}".to_owned()].into(),
        ends: None,
    };
    let _ = store.append_entries(&further).await.unwrap();
    let (id, reason) = (session("bb"), BlockingReason::Paused);
    let blocked = store.block(&id, reason, Timestamp::MAX, at(9_505)).await;
    assert!(matches!(blocked.unwrap(), BlockOutcome::Blocked(_)));
    let snapshot = store.put_snapshot(&id, EventSeq(1), b"state");
    snapshot.await.unwrap();
    assert!(
        store
            .delete_thread(&session("gone"), at(9_506))
            .await
            .unwrap()
    );
}

/// All that is known of the local tenant's thread.
pub(super) async fn thought(
    store: &impl ThreadStore,
) -> (Vec<Thread>, LogPage, Option<(EventSeq, Vec<u8>)>) {
    let id = session("bb");
    let threads = store.threads(&Tenant::local(), 9).await.unwrap();
    assert_eq!(threads.len(), 1);
    let log = store.entries(&id, EventSeq(0), 9, 9_999).await.unwrap();
    (threads, log, store.snapshot(&id).await.unwrap())
}

/// What the local tenant has spent, by stage.
pub(super) async fn bill(store: &impl SpendStore) -> Vec<SpendSum> {
    let always = (Timestamp::ZERO, Timestamp::MAX);
    let spent = store
        .spent(&Tenant::local(), always, SpendBy::Stage, 9)
        .await;
    let spent = spent.unwrap();
    assert_eq!((spent[0].calls, spent[0].open), (2, 1));
    spent
}

/// Gives vectors to what was indexed before there were outlines, and waits for both.
pub(super) async fn get_outlines(store: &impl Store, count: usize) {
    const MODEL: &str = "ada/small@1";
    let (tenant, filter) = (Tenant::local(), Filter::default());
    let waiting = store.unembedded(&tenant, 99).await.unwrap();
    assert_eq!(waiting.len(), count);
    let docs: Vec<DocumentNo> = waiting.iter().map(|one| one.doc).collect();
    assert_eq!(store.outlines(&tenant, &docs, None).await.unwrap(), []);
    assert!(store.choose_model(&tenant, MODEL).await.unwrap());
    let vectors = waiting.into_iter().map(|one| Embedded {
        doc: one.doc,
        vectors: vec![1],
        signs: vec![7],
        tokens: tokens(&one.text),
    });
    let vectors: Vec<Embedded> = vectors.collect();
    store.put_vectors(&tenant, MODEL, &vectors).await.unwrap();
    assert_eq!(store.unembedded(&tenant, 99).await.unwrap(), []);
    let documents = store.documents(&tenant, &docs).await.unwrap();
    let outline = |(doc, document): (&DocumentNo, &Document)| Outline {
        doc: *doc,
        origin: match document.what {
            Found::Event { origin } => Some(origin),
            Found::Observation { .. } | Found::Entry { .. } => None,
        },
        at: document.at,
        terms: Terms::of(&tokens(&document.text)),
        vectors: vec![1],
    };
    let expected: Vec<Outline> = docs.iter().zip(&documents).map(outline).collect();
    let outlines = store.outlines(&tenant, &docs, Some(MODEL)).await.unwrap();
    assert_eq!(outlines, expected);
    let left = Filter {
        scopes: Some(vec![project_scope("left")]),
        ..filter
    };
    let near = store.nearest(&tenant, (MODEL, &[7]), &left, 99).await;
    let of_left = docs.iter().zip(&documents);
    let of_left = of_left.filter(|(_, d)| d.scope == Some(project_scope("left")));
    let of_left: Vec<DocumentNo> = of_left.map(|(doc, _)| *doc).collect();
    assert_eq!(near.unwrap(), of_left);
}

/// The index is disposable: a dump does not carry it, so neither side of a comparison has one.
async fn forget_index(store: &impl Store) {
    store.clear(&Tenant::local()).await.unwrap();
}

/// A root as SQL: its schema as SQLite keeps it, and the rows of all tables but the index's own.
fn dump(path: &Path) -> String {
    let connection = Connection::open(path).unwrap();
    let mut sql = String::new();
    let mut schema = connection
        .prepare(
            "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL
             AND name NOT LIKE 'ix_text_%' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
        )
        .unwrap();
    let mut entries = schema.query([]).unwrap();
    let mut tables: Vec<String> = vec!["sqlite_sequence".to_owned()];
    while let Some(row) = entries.next().unwrap() {
        let statement: String = row.get(2).unwrap();
        writeln!(sql, "{statement};").unwrap();
        if row.get::<_, String>(1).unwrap() == "table" && !statement.contains("VIRTUAL") {
            tables.push(row.get(0).unwrap());
        }
    }
    for table in tables {
        dump_rows(&connection, &table, &mut sql);
    }
    sql
}

fn dump_rows(connection: &Connection, table: &str, sql: &mut String) {
    let columns = connection
        .prepare(&format!("SELECT * FROM {table} LIMIT 0"))
        .unwrap();
    let quoted: Vec<String> = columns
        .column_names()
        .map(|name| match name {
            // The only thing that differs from run to run.
            "applied_at" => "'0'".to_owned(),
            name => format!("quote(\"{name}\")"),
        })
        .collect();
    let select = format!(
        "SELECT {} FROM {table} ORDER BY 1",
        quoted.join(" || ', ' || ")
    );
    let mut rows = connection.prepare(&select).unwrap();
    let mut rows = rows.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let values: String = row.get(0).unwrap();
        writeln!(sql, "INSERT INTO {table} VALUES ({values});").unwrap();
    }
}

fn todays_dump() -> String {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = new_root(&folder);
    run(remember(&store));
    drop(store);
    dump(&path)
}

/// Run by hand after a migration was added: `cargo test -p daybook-store -- --ignored write_todays`.
#[test]
#[ignore = "writes the fixture that the other tests read"]
fn write_todays_schema() {
    std::fs::write(committed(NEWEST), todays_dump()).unwrap();
}

#[test]
fn the_newest_schema_is_the_one_that_is_committed() {
    let committed = std::fs::read_to_string(committed(NEWEST)).unwrap();
    assert!(
        committed == todays_dump(),
        "the schema differs from the committed one: a change needs a migration of its own"
    );
}

#[test]
fn a_root_of_each_former_schema_answers_as_a_new_one() {
    for version in 1..=NEWEST {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let sql = std::fs::read_to_string(committed(version)).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .unwrap();
        connection.execute_batch(&sql).unwrap();
        drop(connection);
        let old = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        let (_, new) = new_root(&folder);
        run(async {
            remember(&new).await;
            let tenant = Tenant::local();
            let views = (
                model::view::of(&old, &tenant).await,
                model::view::of(&new, &tenant).await,
            );
            let (mut view, expected) = (views.0.unwrap(), views.1.unwrap());
            let waiting = std::mem::take(&mut view.waiting);
            assert_eq!(waiting.len(), if version < OUTLINES { 9 } else { 0 });
            get_outlines(&old, waiting.len()).await;
            assert_eq!(view, expected, "schema {version}");
            assert_eq!(bill(&old).await, bill(&new).await, "schema {version}");
            assert_eq!(thought(&old).await, thought(&new).await, "schema {version}");
            // And it can be written to.
            old.append(&append(&session("cc"), events("word", 3)))
                .await
                .unwrap();
            let found = old.session(&session("cc")).await.unwrap().unwrap();
            assert_eq!(found.label, "cc");
        });
    }
}
