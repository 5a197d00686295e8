//! Schemas of the past, as in `crate::schema`: a dump of a database of each, made with `pg_dump`, which holds a
//! little of everything. Opened with this version it must be like a new one.
//!
//! A dump holds the checksums of the migrations that made it; so a migration that was edited afterwards fails
//! here before it fails on a user's server.

use std::path::{Path, PathBuf};
use std::process::Command;

use daybook_domain::Tenant;
use daybook_domain::seams::{SessionCatalog, SessionLog};
use daybook_testkit::fixtures::*;
use daybook_testkit::postgres::{self, TestDatabase};
use daybook_testkit::{model, run};

use super::{on_server, open};
use crate::schema::{
    REFERENCES_IN_TEXTS, RETRACTIONS, check_claimed_ids, check_retractions, fill_store,
    get_outlines, list_uses, read_thread, spending_by_stage,
};

/// The newest schema that is committed.
const NEWEST: u32 = 22;

/// The first one that has uses.
const USES: u32 = 8;

/// Everything that a migration can create, as text: columns, indexes, rules of rows, functions, settings.
const CATALOGUE: &str = "SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
    SELECT format('%s.%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod),
            attnotnull, pg_get_expr(adbin, adrelid)) AS line
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index
        JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    UNION ALL SELECT format('%s %s %s', tablename, policyname, qual) FROM pg_policies
    UNION ALL SELECT format('%s %s %s %s', relname, relrowsecurity, relforcerowsecurity, reloptions)
        FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT format('%s %s', viewname, definition) FROM pg_views WHERE schemaname = 'public'
) AS catalogue";

fn schema_file(version: u32) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schemas/postgres");
    folder.join(format!("{version:04}.sql"))
}

/// A database as statements, without what differs between versions of `pg_dump`.
fn dump(database: &TestDatabase) -> String {
    let options = [
        "--no-owner",
        "--no-privileges",
        "--inserts",
        // Random ids, none of which is looked up any more.
        "--exclude-table-data=commits",
        "-d",
    ];
    let mut dump = database.program("pg_dump");
    let output_of = output_of(dump.args(options).arg(database.admin()));
    let differs = |line: &&str| {
        line.is_empty()
            || ["--", "\\", "SET "]
                .iter()
                .any(|word| line.starts_with(word))
    };
    let mut sql = String::new();
    for line in output_of.lines().filter(|line| !differs(line)) {
        sql = sql + line + "\n";
    }
    sql
}

fn restore(database: &TestDatabase, file: &Path) {
    let mut psql = database.program("psql");
    psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction"]);
    psql.arg("-d").arg(database.address()).arg("-f").arg(file);
    psql.env(
        "PGOPTIONS",
        "-c daybook.tenants=all -c check_function_bodies=off",
    );
    output_of(&mut psql);
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().expect("it can be started");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    String::from_utf8(output.stdout).expect("it writes UTF-8")
}

/// Run by hand after a migration was added:
/// `cargo test -p daybook-store --features postgres -- --ignored write_todays`.
#[test]
#[ignore = "writes the fixture that the other test reads"]
fn write_todays_schema() {
    let server = on_server().expect("PostgreSQL is installed");
    run(fill_store(&*server));
    std::fs::write(schema_file(NEWEST), dump(&server.database)).unwrap();
}

#[test]
fn a_database_of_each_former_schema_is_brought_up_to_date() {
    let Some(new) = on_server() else { return };
    run(fill_store(&*new));
    // No database is newer than the newest that is committed.
    let migrations = new
        .database
        .ask("SELECT max(version) FROM schema_migrations");
    assert_eq!(
        migrations,
        NEWEST.to_string(),
        "run write_todays_schema and commit what it writes"
    );
    // Versions that were never in use alone have no file.
    for version in (1..=NEWEST).filter(|version| schema_file(*version).exists()) {
        let database = postgres::empty().expect("there is a server");
        restore(&database, &schema_file(version));
        let old = open(&database.address());
        assert_eq!(
            database.ask(CATALOGUE),
            new.database.ask(CATALOGUE),
            "schema {version}"
        );
        run(async {
            let tenant = Tenant::local();
            let views = (
                model::view::of(&old, &tenant).await,
                model::view::of(&*new, &tenant).await,
            );
            assert_eq!(views.0.unwrap(), views.1.unwrap(), "schema {version}");
            assert_eq!(
                spending_by_stage(&old).await,
                spending_by_stage(&*new).await,
                "schema {version}"
            );
            assert_eq!(
                read_thread(&old).await,
                read_thread(&*new).await,
                "schema {version}"
            );
            let uses = if version < USES { 0 } else { 2 };
            assert_eq!(list_uses(&old).await.len(), uses, "schema {version}");
            // The database can be written to.
            old.append(&append(&session("cc"), events("word", 3)))
                .await
                .unwrap();
            let found = old.session(&session("cc")).await.unwrap().unwrap();
            assert_eq!(found.label, "cc");
        });
    }
}

#[test]
fn what_was_indexed_before_there_were_outlines_gets_them_with_vectors() {
    let Some(database) = postgres::empty() else {
        return;
    };
    restore(&database, &schema_file(6));
    // In the form in which version 6 indexed the first event and the observation.
    let _ = database.ask(
        "INSERT INTO ix_docs (doc, tenant_no, words) VALUES
            ((1::BIGINT << 60) | (1::BIGINT << 32) | 1, 1, '{1,s0,t0}'),
            ((1::BIGINT << 61) | 1, 1, '{once,said}');
        INSERT INTO ix_words (tenant_no, word, doc, owner)
            SELECT tenant_no, unnest(words), doc, CASE WHEN doc < 1::BIGINT << 61 THEN -1 ELSE 1 END
            FROM ix_docs",
    );
    let store = open(&database.address());
    run(get_outlines(&store, 2));
}

#[test]
fn what_stood_in_texts_becomes_rows_and_columns() {
    let Some(database) = postgres::empty() else {
        return;
    };
    restore(&database, &schema_file(9));
    let _ = database.ask(REFERENCES_IN_TEXTS);
    for (seq, (text, _)) in (3..).zip(RETRACTIONS) {
        let _ = database.ask(&format!(
            "INSERT INTO events (tenant_no, event_no, session_no, id, line, origin, at, sidechain, text)
            SELECT tenant_no, (session_no << 32) | {seq}, session_no, decode(md5('{seq}'), 'hex'), {seq},
                'retraction', 0, FALSE, '{text}' FROM sessions WHERE host_id = 'bb'"
        ));
    }
    let store = open(&database.address());
    run(async {
        check_retractions(&store, 3).await;
        check_claimed_ids(&store).await;
    });
}
