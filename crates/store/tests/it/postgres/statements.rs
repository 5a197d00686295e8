//! What is sent to the server, and how often.

use super::wire::Wire;
use super::*;

/// Statements of an append of so many events to a session that is there, from a file of an import.
fn statements_of(count: u64) -> Option<usize> {
    let made = on_server()?;
    let wire = Wire::to(&made.database);
    let store = open(wire.address());
    let id = session("7f78aa01");
    let tenant = Tenant::local();
    let import = run(store.begin_import(&tenant, "all", at(0))).unwrap();
    let there = |events: Vec<_>| {
        let events = events.into_iter();
        let events = events.map(|event: daybook_domain::NewEvent| event.in_place("/home/ada/a"));
        imported(&id, events.collect(), "/logs/1", import)
    };
    run(store.append(&there(vec![event("the first")]))).unwrap();
    wire.heard();
    let appended = run(store.append(&there(events("word", count)))).unwrap();
    assert_eq!(appended.added, count);
    let mut statements = wire.heard().statements;
    // Said now and then of all commits.
    let is_its_own = |statement: &String| {
        !statement.starts_with("NOTIFY") && !statement.contains("DELETE FROM commits")
    };
    statements.retain(is_its_own);
    assert!(statements.len() <= 20, "{statements:#?}");
    Some(statements.len())
}

#[test]
fn an_append_takes_as_many_statements_with_one_event_as_with_hundreds() {
    assert_eq!(statements_of(1), statements_of(300));
}

#[test]
fn no_statement_is_prepared_under_a_name() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let wire = Wire::to(&database);
    let store = open(wire.address());
    let id = session("7f78aa01");
    run(async {
        store.append(&append(&id, events("word", 3))).await.unwrap();
        let tenant = Tenant::local();
        let import = store.begin_import(&tenant, "all", at(0)).await.unwrap();
        let append = imported(&id, events("more", 3), "/logs/1", import);
        store.append(&append).await.unwrap();
        store.undo_import(&tenant, import, at(1)).await.unwrap();
        store.sessions(&tenant, 10).await.unwrap();
        store.find_sessions(&tenant, "7f").await.unwrap();
        store.sources(&tenant).await.unwrap();
    });
    let heard = wire.heard();
    assert!(heard.statements.len() > 30, "{heard:#?}");
    assert_eq!(heard.names, Vec::<String>::new());
}
