//! Schemas of the past. `schemas/` holds each released schema as a dump of a root that holds a little of
//! everything; opened with this version it must give the same answers as a new root.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use daybook_domain::index::{
    DocumentKind, DocumentNo, DocumentOutline, DocumentVectors, IndexedDocument, SearchFilter,
    Terms,
};
use daybook_domain::model::Usage;
use daybook_domain::seams::{Append, SessionCatalog, SessionLog, SpendStore, Store};
use daybook_domain::spend::{Charge, ReserveOutcome, SettleOutcome, SpendBy, SpendSum};
use daybook_domain::working::{
    BlockOutcome, BlockingReason, LogPage, NewThread, Thread, ThreadAppend, ThreadStore,
};
use daybook_domain::{
    Claim, EventSeq, FailureClass, JobKind, Money, PageRequest, Tenant, Timestamp, Use, UseKind,
    UsedBy,
};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::{model, run, suites};
use rusqlite::Connection;
use tempfile::TempDir;

/// The newest schema that is committed.
const NEWEST: u32 = 25;

/// The first one that has outlines: documents indexed before wait for one.
const OUTLINES: u32 = 4;

/// The first one that has uses.
const USES: u32 = 5;

/// The first one that keeps what retractions retract, and which id a file claims, apart from texts.
const TYPED_REFERENCES: u32 = 7;

fn schema_file(version: u32) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schemas");
    folder.join(format!("{version:04}.sql"))
}

pub(super) fn new_root(folder: &TempDir) -> (PathBuf, SqliteStore) {
    let path = folder.path().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a root can be opened");
    (path, store)
}

/// A little of everything.
pub(super) async fn fill_store(store: &(impl Store + SpendStore + ThreadStore)) {
    let (a, b) = (session("aaaa-one"), session("bb"));
    let import = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let there = events("t0 s0", 4)
        .into_iter()
        .map(|event| event.with_place("/home/ada/a"));
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
    add_threads(store).await;
    add_uses(store).await;
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
async fn add_threads(store: &impl ThreadStore) {
    for host_id in ["bb", "gone"] {
        let new = NewThread {
            session: meta(&session(host_id)),
            custom: serde_json::Map::from_iter([("colour".to_owned(), "blue".into())]),
            rules: RULES,
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

/// A citation, and uses at an interface, of events that no observation rests on.
async fn add_uses(store: &impl Store) {
    let (a, b) = (session("aaaa-one"), session("bb"));
    let cited = Use {
        session: b.clone(),
        event: EventSeq(1),
        kind: UseKind::Cited,
        by: UsedBy::Session {
            session: a.clone(),
            event: event("t0 s0 2").id,
        },
        at: at(9_507),
    };
    let shown = Use {
        session: a,
        event: EventSeq(3),
        kind: UseKind::Shown,
        by: UsedBy::Interface("cli/2026-11-01".to_owned()),
        at: at(9_508),
    };
    let (tenant, uses) = (Tenant::local(), [cited, shown]);
    let noted = store.note_uses(&tenant, &uses, at(9_508)).await;
    assert_eq!(noted.unwrap(), 2);
}

/// The uses of all events of the local tenant.
pub(super) async fn list_uses(store: &impl Store) -> Vec<Use> {
    let sessions = [session("aaaa-one"), session("bb")];
    store.uses(&Tenant::local(), &sessions).await.unwrap()
}

/// Everything stored of the local tenant's thread.
pub(super) async fn read_thread(
    store: &impl ThreadStore,
) -> (Vec<Thread>, LogPage, Option<(EventSeq, Vec<u8>)>) {
    let id = session("bb");
    let threads = store.threads(&Tenant::local(), 9).await.unwrap();
    assert_eq!(threads.len(), 1);
    let log = store.entries(&id, EventSeq(0), 9, 9_999).await.unwrap();
    (threads, log, store.snapshot(&id).await.unwrap())
}

/// What the local tenant has spent, by stage.
pub(super) async fn spending_by_stage(store: &impl SpendStore) -> Vec<SpendSum> {
    let always = (Timestamp::ZERO, Timestamp::MAX);
    let spent = store
        .spent(&Tenant::local(), always, SpendBy::Stage, 9)
        .await;
    let spent = spent.unwrap();
    assert_eq!((spent[0].calls, spent[0].open), (2, 1));
    spent
}

/// Stores vectors for documents that were indexed before outlines existed, and waits for both.
pub(super) async fn get_outlines(store: &impl Store, count: usize) {
    const MODEL: &str = "ada/small@1";
    let (tenant, filter) = (Tenant::local(), SearchFilter::default());
    let waiting = store.unembedded(&tenant, 99).await.unwrap();
    assert_eq!(waiting.len(), count);
    let docs: Vec<DocumentNo> = waiting.iter().map(|one| one.doc).collect();
    assert_eq!(store.outlines(&tenant, &docs, None).await.unwrap(), []);
    assert!(store.choose_model(&tenant, MODEL).await.unwrap());
    let vectors = waiting.into_iter().map(|one| DocumentVectors {
        doc: one.doc,
        digest: one.digest(),
        vectors: vec![1],
        signs: vec![7],
        tokens: tokens(&one.text),
    });
    let vectors: Vec<DocumentVectors> = vectors.collect();
    store.put_vectors(&tenant, MODEL, &vectors).await.unwrap();
    assert_eq!(store.unembedded(&tenant, 99).await.unwrap(), []);
    let documents = store.documents(&tenant, &docs).await.unwrap();
    let outline = |(doc, document): (&DocumentNo, &IndexedDocument)| DocumentOutline {
        doc: *doc,
        origin: match document.what {
            DocumentKind::Event { origin } => Some(origin),
            DocumentKind::Observation { .. } | DocumentKind::Entry { .. } => None,
        },
        at: document.at,
        terms: Terms::of(&tokens(&document.text)),
        vectors: [1].into(),
    };
    let expected: Vec<DocumentOutline> = docs.iter().zip(&documents).map(outline).collect();
    let outlines = store.outlines(&tenant, &docs, Some(MODEL)).await.unwrap();
    assert_eq!(outlines, expected);
    let left = SearchFilter {
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

/// A root as SQL: its schema in SQLite's form, and the rows of all tables but the index's own.
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
        // Triggers make the marks of the record and of changes again.
        let has_rows = ![
            "VIRTUAL",
            "ix_stale_records",
            "ix_changes",
            "ix_read_version",
        ]
        .iter()
        .any(|without| statement.contains(without));
        if row.get::<_, String>(1).unwrap() == "table" && has_rows {
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
    run(fill_store(&store));
    drop(store);
    dump(&path)
}

/// Run by hand after a migration was added: `cargo test -p daybook-store -- --ignored write_todays`.
#[test]
#[ignore = "writes the fixture that the other tests read"]
fn write_todays_schema() {
    std::fs::write(schema_file(NEWEST), todays_dump()).unwrap();
}

#[test]
fn the_newest_schema_is_the_one_that_is_committed() {
    let committed = std::fs::read_to_string(schema_file(NEWEST)).unwrap();
    assert!(
        committed == todays_dump(),
        "the schema differs from the committed one: a change needs a migration of its own"
    );
}

#[test]
fn a_root_of_each_former_schema_answers_as_a_new_one() {
    // Versions that were never in use alone have no file.
    for version in (1..=NEWEST).filter(|version| schema_file(*version).exists()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let sql = std::fs::read_to_string(schema_file(version)).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .unwrap();
        connection.execute_batch(&sql).unwrap();
        drop(connection);
        let old = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        let (_, new) = new_root(&folder);
        run(async {
            fill_store(&new).await;
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
            assert_eq!(
                spending_by_stage(&old).await,
                spending_by_stage(&new).await,
                "schema {version}"
            );
            assert_eq!(
                read_thread(&old).await,
                read_thread(&new).await,
                "schema {version}"
            );
            let uses = if version < USES { 0 } else { 2 };
            assert_eq!(list_uses(&old).await.len(), uses, "schema {version}");
            // The root can be written to.
            old.append(&append(&session("cc"), events("word", 3)))
                .await
                .unwrap();
            let found = old.session(&session("cc")).await.unwrap().unwrap();
            assert_eq!(found.label, "cc");
        });
    }
}

/// Rows of a schema before [`TYPED_REFERENCES`]: retractions whose texts list positions, and files whose session is
/// named after another one. For SQLite and PostgreSQL; event numbers are the callers'.
pub(super) const REFERENCES_IN_TEXTS: &str = "
    INSERT INTO sessions (tenant_no, agent, host_id, known, kind, memory_off, first_at, last_at, events, last_line)
        SELECT 1, 'claude-code', column1, column1 <> 'forgotten', 'root', FALSE, 0, 0, 0, 0 FROM (VALUES
            ('tide'), ('tide~2'), ('tide~12'), ('tide~100'), ('tide~1'), ('tide~02'), ('alone~2'),
            ('ebb~flow'), ('ebb~flow~3'), ('forgotten'), ('forgotten~2')) AS named;
    INSERT INTO sources (tenant_no, path, format, session_no, size, modified, \"offset\", lines, fingerprint_head,
            fingerprint_tail, bad_lines, secrets, state)
        SELECT 1, host_id, 'claude-code', session_no, 0, 0, 0, 0, 0, 0, 0, 0, '' FROM sessions
        WHERE events = 0;";

/// The files of [`REFERENCES_IN_TEXTS`] that claim another session's id.
pub(super) async fn check_claimed_ids(store: &impl Store) {
    let page = PageRequest::first(100);
    let sources = store.sources(&Tenant::local(), page).await.unwrap();
    let claimed = sources.items.into_iter();
    let claimed = claimed.filter_map(|source| Some((source.path, source.claimed_id?)));
    let claimed: Vec<(String, String)> = claimed.collect();
    let expected = [
        ("ebb~flow~3", "ebb~flow"),
        ("forgotten~2", "forgotten"),
        ("tide~12", "tide"),
        ("tide~2", "tide"),
    ];
    let expected = expected.map(|(path, id)| (path.to_owned(), id.to_owned()));
    assert_eq!(claimed, expected);
}

/// Texts of retractions, and the positions that a migration finds in them.
pub(super) const RETRACTIONS: [(&str, &[u64]); 6] = [
    ("1 3", &[1, 3]),
    ("2", &[2]),
    ("3 3  4 ", &[3, 4]),
    ("3 x 4", &[]),
    ("", &[]),
    ("[1,\"2\"] 99999999999", &[]),
];

/// What the session `bb` retracts, event by event from `first` on.
pub(super) async fn check_retractions(store: &impl Store, first: u64) {
    let id = session("bb");
    for (seq, (text, expected)) in (first..).zip(RETRACTIONS) {
        let found = store.retracted_seqs(&id, EventSeq(seq - 1), EventSeq(seq));
        let found = found.await.unwrap().into_iter().map(|seq| seq.0);
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text:?}");
    }
}

/// A root of the schema before [`TYPED_REFERENCES`], with retractions and claimed ids.
pub(super) fn root_with_references_in_texts(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("old.db");
    let connection = Connection::open(&path).unwrap();
    let sql = std::fs::read_to_string(schema_file(TYPED_REFERENCES - 1)).unwrap();
    // As every data folder is: a salvage reads it while it writes it.
    connection
        .execute_batch("PRAGMA journal_mode = WAL")
        .unwrap();
    connection.execute_batch(&sql).unwrap();
    connection.execute_batch(REFERENCES_IN_TEXTS).unwrap();
    for (seq, (text, _)) in (3..).zip(RETRACTIONS) {
        let insert =
            "INSERT INTO events (event_no, session_no, id, line, origin, at, sidechain, text)
            SELECT (session_no << 32) | ?1, session_no, randomblob(16), ?1, 'retraction', 0, 0, ?2
            FROM sessions WHERE host_id = 'bb'";
        connection.execute(insert, (seq, text)).unwrap();
    }
    // Only a retraction lists positions.
    let human = "UPDATE events SET text = '7' WHERE event_no & 4294967295 = 1";
    connection.execute_batch(human).unwrap();
    path
}

/// What is kept of [`root_with_references_in_texts`].
pub(super) async fn check_references(store: &impl Store) {
    check_retractions(store, 3).await;
    let id = session("bb");
    let nothing = store.retracted_seqs(&id, EventSeq(0), EventSeq(2));
    assert!(nothing.await.unwrap().is_empty());
    check_claimed_ids(store).await;
}

#[test]
fn what_stood_in_texts_becomes_rows_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = root_with_references_in_texts(&folder);
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    run(check_references(&store));
}
