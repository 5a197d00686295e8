//! Lost answers to COMMIT: an append that was answered with success is stored, also after a crash of the server
//! that issues the numbers of transactions again.

use std::thread;
use std::time::Duration;

use daybook_domain::JobKind;
use daybook_domain::seams::{AppendOutcome, JobQueue};
use daybook_testkit::postgres::{Ending, PostgresServer};

use super::proxy::{BreakingProxy, LostPart};
use super::*;

/// Transactions whose COMMIT is withheld at once.
const WITHHELD: usize = 4;

fn three_events(of: &str) -> daybook_domain::seams::Append {
    append(&session(of), events("word", 3))
}

fn store_along(proxy: &BreakingProxy, options: PostgresOptions) -> PostgresStore {
    let opened = PostgresStore::open(proxy.address(), &Trust::System, options);
    run(opened).expect("a store can be opened")
}

/// Uses so many transaction numbers, all of which are committed.
fn use_numbers(server: &PostgresServer, count: u32) {
    server.ask(&format!(
        "DO $$ BEGIN FOR n IN 1..{count} LOOP PERFORM txid_current(); COMMIT; END LOOP; END $$"
    ));
}

/// Settings under which the log of uncommitted changes stays in memory, so that a crash loses it, and with it
/// the numbers of its transactions.
const UNFLUSHED: [&str; 4] = [
    "full_page_writes = off",
    "wal_writer_delay = '10s'",
    "wal_level = minimal",
    "max_wal_senders = 0",
];

/// The stores' answers to appends whose COMMIT was withheld until `meanwhile` was over. Each append has a store
/// of its own: appends of one store would share one COMMIT.
fn append_while_withheld(
    stores: &[PostgresStore],
    proxy: &BreakingProxy,
    names: &[String],
    meanwhile: impl FnOnce(),
) -> Vec<Result<AppendOutcome, StoreError>> {
    proxy.lose(&vec![LostPart::Silence; names.len()]);
    thread::scope(|scope| {
        let appending: Vec<_> = (stores.iter().zip(names))
            .map(|(store, name)| {
                let append = append(&session(name), vec![event("more")]);
                scope.spawn(move || run(store.append(&append)))
            })
            .collect();
        proxy.wait_until_all_lost();
        meanwhile();
        proxy.cut_silent();
        let ended = appending.into_iter().map(thread::ScopedJoinHandle::join);
        ended.map(|ended| ended.expect("no panic")).collect()
    })
}

#[test]
fn what_was_answered_with_success_outlives_a_crash_that_gives_numbers_out_again() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    for setting in UNFLUSHED {
        server.ask(&format!("ALTER SYSTEM SET {setting}"));
    }
    server.restart(Ending::Fast);
    let proxy = BreakingProxy::along(&server.address());
    let stores: Vec<PostgresStore> = (0..WITHHELD)
        .map(|_| store_along(&proxy, OPTIONS))
        .collect();
    for round in 0..2 {
        let names: Vec<String> = (0..WITHHELD).map(|n| format!("s-{round}-{n}")).collect();
        // Transactions that create a tenant or a session wait for each other.
        let direct = open(&server.address());
        for name in &names {
            run(direct.append(&three_events(name))).unwrap();
        }
        let answers = append_while_withheld(&stores, &proxy, &names, || {
            server.restart(Ending::Immediate);
            use_numbers(&server, 100);
        });
        let direct = open(&server.address());
        for (name, answer) in names.iter().zip(answers) {
            let known = run(direct.session(&session(name))).unwrap();
            let events = known.map_or(0, |session| session.events.0);
            match answer {
                Ok(_) => assert_eq!(events, 4, "{name} was answered with success"),
                Err(error) => assert_eq!(events, 3, "{name}: {error}"),
            }
        }
    }
}

#[test]
fn a_commit_that_arrives_after_it_was_looked_up_comes_too_late() {
    let Some(fixture) = on_server() else { return };
    let proxy = BreakingProxy::to(&fixture.database);
    let store = store_along(
        &proxy,
        PostgresOptions {
            statement: Duration::from_millis(200),
            silence: Duration::from_millis(200),
            ..OPTIONS
        },
    );
    proxy.lose(&[LostPart::Silence]);
    let append = three_events("7f78aa01");
    let refused = run(store.append(&append)).expect_err("nothing was answered");
    assert!(
        matches!(&refused, StoreError::Unavailable { what, .. } if !what.contains("nobody knows")),
        "{refused:?}"
    );
    proxy.deliver_silent();
    let again = run(fixture.append(&append)).unwrap();
    assert_eq!((again.added, again.known), (3, 0));
}

#[test]
fn a_transaction_that_wrote_nothing_leaves_no_row() {
    let Some(fixture) = on_server() else { return };
    let rows = || fixture.database.ask("SELECT count(*) FROM commits");
    let claim = || run(fixture.claim(claim_of(JobKind::Extract, at(1), 1))).unwrap();
    assert!(claim().is_empty());
    assert_eq!(rows(), "0");
    run(fixture.append(&three_events("7f78aa01"))).unwrap();
    assert_eq!(rows(), "1");
}

#[test]
fn rows_of_old_commits_are_deleted_in_steps() {
    let Some(fixture) = on_server() else { return };
    let ask = |sql: &str| fixture.database.ask(sql);
    ask("INSERT INTO commits (id, at, kept)
        SELECT sha256(n::TEXT::BYTEA), 0, TRUE FROM generate_series(1, 5000) AS n");
    for left in ["905", "1"] {
        // The first commit of each store deletes some.
        let store = open(&fixture.database.address());
        run(store.append(&three_events(&format!("session-{left}")))).unwrap();
        let count = match left {
            "905" => "SELECT count(*) FROM commits",
            _ => "SELECT count(*) - 1 FROM commits",
        };
        while ask(count) != left {
            thread::yield_now();
        }
    }
    assert_eq!(ask("SELECT count(*) FROM commits WHERE at = 0"), "0");
}
