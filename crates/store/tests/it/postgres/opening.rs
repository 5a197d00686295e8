//! What opening a database changes in it, and which databases it refuses.

use super::*;
use daybook_domain::PageRequest;

/// Opens a new database, changes it by `sql` as a superuser, and opens it again.
fn reopened_after(sql: &str) -> Option<Result<PostgresStore, StoreError>> {
    let database = postgres::empty()?;
    drop(open(&database.address()));
    run(async { admin(&database).await.batch_execute(sql).await }).expect("the change is sound");
    Some(run(PostgresStore::open(
        &database.address(),
        &Trust::System,
        OPTIONS,
    )))
}

#[test]
fn an_ordinary_role_makes_its_tables_once() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let versions = async || {
        let rows = admin(&database)
            .await
            .query("SELECT version, xmin::TEXT FROM schema_migrations", &[])
            .await;
        let rows = rows.unwrap();
        let versions = rows.iter().map(|row| (row.get(0), row.get(1)));
        versions.collect::<Vec<(i64, String)>>()
    };
    drop(open(&database.address()));
    let fixture = run(versions());
    assert!(!fixture.is_empty());
    drop(open(&database.address()));
    assert_eq!(run(versions()), fixture, "opening again changed something");
}

#[test]
fn what_was_appended_is_there_after_opening_again() {
    let Some(fixture) = on_server() else { return };
    let append = append(&session("7f78aa01"), events("word", 3));
    run(fixture.append(&append)).unwrap();
    let again = open(&fixture.database.address());
    let found = run(again.session(&append.session.id)).unwrap().unwrap();
    assert_eq!(found.events.0, 3);
}

#[test]
fn several_that_open_a_new_database_at_once_make_it_once() {
    let Some(database) = postgres::empty() else {
        return;
    };
    std::thread::scope(|scope| {
        for n in 0..6 {
            let address = database.address();
            scope.spawn(move || {
                let store = open(&address);
                let append = append(&session(&format!("session-{n}")), events("word", 1));
                run(store.append(&append)).unwrap();
            });
        }
    });
    let store = open(&database.address());
    let sessions = run(store.sessions(&Tenant::local(), PageRequest::first(10)))
        .unwrap()
        .items;
    assert_eq!(sessions.len(), 6);
}

#[test]
fn a_newer_schema_is_refused() {
    let newer = "INSERT INTO schema_migrations VALUES (99, 'later', 'unknown', 0, 99)";
    let Some(opened) = reopened_after(newer) else {
        return;
    };
    let error = opened.expect_err("a newer schema is not understood");
    assert!(
        matches!(&error, StoreError::TooNew { found: 99, .. }),
        "{error:?}"
    );
}

#[test]
fn a_schema_that_a_newer_daybook_only_added_to_is_used() {
    let added = "INSERT INTO schema_migrations VALUES (99, 'later', 'unknown', 0, 1)";
    if let Some(opened) = reopened_after(added) {
        opened.expect("it serves those that know version 1");
    }
}

#[test]
fn a_migration_that_was_another_one_is_refused() {
    let altered = "UPDATE schema_migrations SET checksum = 'another' WHERE version = 1";
    let Some(opened) = reopened_after(altered) else {
        return;
    };
    let error = opened.expect_err("nobody knows what that schema is");
    assert!(
        matches!(&error, StoreError::Corrupt(what) if what.contains("migration 1")),
        "{error:?}"
    );
}

#[test]
fn the_tables_of_something_else_are_left_alone() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let tables = async || {
        let admin = admin(&database).await;
        let select = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
        admin.query_one(select, &[]).await.unwrap().get::<_, i64>(0)
    };
    run(async {
        let sql = "CREATE TABLE invoices (no BIGINT)";
        admin(&database).await.batch_execute(sql).await.unwrap();
    });
    let opened = run(PostgresStore::open(
        &database.address(),
        &Trust::System,
        OPTIONS,
    ));
    let error = opened.expect_err("that is not a daybook's database");
    assert!(
        matches!(&error, StoreError::Corrupt(what) if what.contains("something else")),
        "{error:?}"
    );
    assert_eq!(run(tables()), 1);
}

#[test]
fn opening_reports_a_role_that_may_not_create_tables() {
    let Some(database) = postgres::empty() else {
        return;
    };
    run(async {
        let sql = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO admin',
            current_database()); END $$";
        admin(&database).await.batch_execute(sql).await.unwrap();
    });
    let opened = run(PostgresStore::open(
        &database.address(),
        &Trust::System,
        OPTIONS,
    ));
    let error = opened.expect_err("there is nowhere to keep anything");
    let StoreError::Unavailable { what, source } = &error else {
        panic!("{error:?}");
    };
    assert!(what.contains("database test_"), "{what}");
    assert!(format!("{source:?}").contains("permission denied"));
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let nowhere = "host=/nowhere user=ada dbname=daybook password=secret";
    let options = PostgresOptions {
        tries: 1,
        ..OPTIONS
    };
    let error =
        run(PostgresStore::open(nowhere, &Trust::System, options)).expect_err("nobody is there");
    assert!(
        matches!(&error, StoreError::Unavailable { what, .. } if what == "database daybook on /nowhere"),
        "{error:?}"
    );
    let unreadable = run(PostgresStore::open("port=many", &Trust::System, OPTIONS));
    assert!(matches!(unreadable, Err(StoreError::Refused(_))));
}
