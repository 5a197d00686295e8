//! Connections that break at the worst moment, and servers that are down.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use daybook_domain::PageRequest;
use daybook_testkit::postgres::{Ending, PostgresServer, Relay};

use super::proxy::{BreakingProxy, LostPart};
use super::*;

/// A store behind a proxy that breaks at the next commits.
fn losing(losses: &[LostPart]) -> Option<(PostgresStore, BreakingProxy, ServerStore)> {
    let fixture = on_server()?;
    let proxy = BreakingProxy::to(&fixture.database);
    let store = open(proxy.address());
    proxy.lose(losses);
    Some((store, proxy, fixture))
}

fn check(losses: &[LostPart]) {
    if let Some(fixture) = losing(losses) {
        check_append(losses, fixture);
    }
}

pub(super) fn check_append(
    losses: &[LostPart],
    (store, proxy, fixture): (PostgresStore, BreakingProxy, ServerStore),
) {
    let append = append(&session("7f78aa01"), events("word", 3));
    let appended = run(store.append(&append)).expect("a wire that breaks is mended");
    assert!(proxy.has_lost_all());
    assert_eq!((appended.added, appended.known), (3, 0), "{losses:?}");
    let found = run(fixture.session(&append.session.id)).unwrap().unwrap();
    assert_eq!(found.events.0, 3);
}

#[test]
fn a_commit_that_the_server_never_received_is_done_again() {
    check(&[LostPart::Request, LostPart::Request]);
}

#[test]
fn a_commit_whose_answer_was_lost_is_not_done_again() {
    check(&[LostPart::Answer]);
    check(&[LostPart::Request, LostPart::Answer]);
}

#[test]
fn a_change_without_an_identity_is_done_once() {
    let losses = [LostPart::Answer, LostPart::Request, LostPart::Answer];
    let Some((store, _wire, fixture)) = losing(&losses) else {
        return;
    };
    let tenant = Tenant::local();
    for what in ["first", "second"] {
        run(store.begin_import(&tenant, what, at(0))).expect("a wire that breaks is mended");
    }
    let imports = run(fixture.imports(&tenant, PageRequest::first(10)))
        .unwrap()
        .items;
    let begun: Vec<&str> = imports.iter().map(|import| import.what.as_str()).collect();
    assert_eq!(begun, ["second", "first"]);
}

#[test]
fn a_server_process_that_is_ended_in_the_middle_leaves_nothing_undone() {
    let Some(fixture) = on_server() else { return };
    let id = session("7f78aa01");
    run(fixture.append(&append(&id, events("word", 1)))).unwrap();
    run(async {
        let admin = admin(&fixture.database).await;
        let mut blocker = connect(&fixture.database.admin()).await;
        let lock = blocker.transaction().await.unwrap();
        let select = "SELECT FROM sessions FOR UPDATE";
        lock.execute(select, &[]).await.unwrap();
        let next = append(&id, vec![event("another")]);
        let end = async {
            // Until it is in its transaction, waiting for the session's lock.
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'";
            while admin.execute(end, &[]).await.unwrap() == 0 {
                tokio::task::yield_now().await;
            }
            lock.rollback().await.unwrap();
        };
        let (appended, ()) = tokio::join!(fixture.append(&next), end);
        assert_eq!(appended.expect("it is tried again").added, 1);
    });
}

#[test]
fn a_caller_that_goes_away_leaves_no_transaction_behind() {
    let Some(fixture) = on_server() else { return };
    let id = session("7f78aa01");
    run(fixture.append(&append(&id, events("word", 1)))).unwrap();
    run(async {
        let admin = admin(&fixture.database).await;
        let mut blocker = connect(&fixture.database.admin()).await;
        let lock = blocker.transaction().await.unwrap();
        let select = "SELECT FROM sessions FOR UPDATE";
        lock.execute(select, &[]).await.unwrap();
        let next = append(&id, vec![event("another")]);
        let waits = async {
            let waiting = "SELECT FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'";
            while admin.execute(waiting, &[]).await.unwrap() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = fixture.append(&next) => panic!("somebody else holds the lock"),
            () = waits => {}
        }
        lock.rollback().await.unwrap();
        let appended = fixture.append(&append(&id, vec![event("a third")])).await;
        assert_eq!(appended.unwrap().last.0, 2);
    });
}

/// The standby has another store's transaction of the same number.
#[test]
fn a_commit_that_a_failover_lost_is_not_taken_for_another_that_was_kept() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    drop(open(&server.address()));
    let standby = server.standby();
    server.stop(Ending::Fast);
    standby.promote();
    // From here on the standby's writes do not reach the old server, nor the other way round.
    server.go_on();
    let next = "SELECT txid_snapshot_xmax(txid_current_snapshot())";
    let used: u64 = server.ask(next).parse().unwrap();
    while standby.ask(next).parse::<u64>().unwrap() < used + 50 {
        standby.ask("SELECT txid_current()");
    }
    let relay = Relay::to(&server);
    let proxy = BreakingProxy::along(&relay.address(&server));
    let store = open(proxy.address());
    relay.will_lead_to(&standby);
    proxy.lose(&[LostPart::Request]);
    let append = append(&session("7f78aa01"), events("word", 3));
    let appended = run(store.append(&append)).expect("the standby takes it");
    assert!(proxy.has_lost_all());
    assert_eq!((appended.added, appended.known), (3, 0));
    let again = run(open(&standby.address()).append(&append)).unwrap();
    assert_eq!((again.added, again.known), (0, 3), "it is on the standby");
}

/// The server releases the row locks of a client that went silent.
#[test]
fn a_machine_that_vanishes_in_a_transaction_is_waited_for_no_longer_than_it_may_be_idle() {
    let Some(fixture) = on_server() else { return };
    let id = session("7f78aa01");
    run(fixture.append(&append(&id, vec![event("the first")]))).unwrap();
    let proxy = BreakingProxy::to(&fixture.database);
    let options = PostgresOptions {
        idle: Duration::from_millis(500),
        ..OPTIONS
    };
    let vanishing = PostgresStore::open(proxy.address(), &Trust::System, options);
    let vanishing = run(vanishing).expect("a store can be opened");
    proxy.lose(&[LostPart::Silence]);
    std::thread::scope(|scope| {
        let lost = append(&id, vec![event("from the one that vanishes")]);
        let vanished = scope.spawn(move || run(vanishing.append(&lost)));
        proxy.wait_until_all_lost();
        let began = Instant::now();
        let next = append(&id, vec![event("from another one")]);
        assert_eq!(run(fixture.append(&next)).unwrap().added, 1);
        assert!(began.elapsed() < Duration::from_secs(10));
        proxy.cut_silent();
        let back = vanished.join().expect("no panic").unwrap();
        assert_eq!((back.added, back.last.0), (1, 3), "it is done again");
    });
}

#[test]
fn a_call_that_waits_for_a_lock_reports_its_holder() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let messages: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&messages);
    let options = PostgresOptions {
        lock: Duration::from_millis(100),
        call: Duration::from_secs(4),
        ..OPTIONS
    };
    let address = server.address();
    let opened = PostgresStore::open_observed(
        &address,
        &Trust::System,
        options,
        Some(Arc::new(move |what: &str| {
            heard.lock().unwrap().push(what.to_owned())
        })),
    );
    let store = run(opened).expect("a store can be opened");
    let id = session("7f78aa01");
    run(store.append(&append(&id, vec![event("the first")]))).unwrap();
    let holder =
        server.session("SET daybook.tenants = 'all'; BEGIN; UPDATE sessions SET label = label");
    // It is idle in its transaction after each statement: the lock is there after the last one.
    let locked = "SELECT count(*) FROM pg_stat_activity
        WHERE state = 'idle in transaction' AND query LIKE 'UPDATE%'";
    while server.ask(locked) == "0" {
        std::thread::yield_now();
    }
    let next = append(&id, vec![event("another")]);
    let refused = run(store.append(&next)).expect_err("somebody else holds the lock");
    let StoreError::Busy(why) = &refused else {
        panic!("{refused:?}");
    };
    for words in ["psql", "idle in transaction"] {
        assert!(why.to_string().contains(words), "{why}");
        assert!(
            messages
                .lock()
                .unwrap()
                .iter()
                .any(|messages| messages.contains(words)),
            "{messages:?}"
        );
    }
    drop(holder);
    assert_eq!(run(store.append(&next)).unwrap().added, 1);
}

#[test]
fn one_limit_holds_for_a_whole_call() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let options = PostgresOptions {
        call: Duration::from_secs(1),
        ..OPTIONS
    };
    let address = server.address();
    let opening = || PostgresStore::open(&address, &Trust::System, options);
    let store = run(opening()).expect("a store can be opened");
    let append = append(&session("7f78aa01"), events("word", 3));
    let began = Instant::now();
    server.while_paused(|| {
        let appended = run(store.append(&append));
        let opened = run(opening()).map(drop);
        for refused in [appended.map(drop), opened] {
            assert!(
                matches!(&refused, Err(StoreError::Unavailable { what, .. }) if what.contains("database daybook")),
                "{refused:?}"
            );
        }
    });
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(run(store.append(&append)).expect("it goes on").last.0, 3);
}

#[test]
fn a_server_that_stands_still_is_given_up_after_a_while() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let options = PostgresOptions {
        connect: Duration::from_millis(200),
        statement: Duration::from_millis(100),
        silence: Duration::from_millis(100),
        tries: 2,
        ..OPTIONS
    };
    let store = run(PostgresStore::open(
        &server.address(),
        &Trust::System,
        options,
    ));
    let store = store.expect("a store can be opened");
    let append = append(&session("7f78aa01"), events("word", 3));
    let appended = server.while_paused(|| run(store.append(&append)));
    assert!(
        matches!(&appended, Err(StoreError::Unavailable { .. })),
        "{appended:?}"
    );
    let again = run(store.append(&append)).expect("it goes on");
    assert_eq!(again.last.0, 3);
}
