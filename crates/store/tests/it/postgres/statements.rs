//! The statements that are sent to the server, and how many.

use super::proxy::BreakingProxy;
use super::*;

/// Statements of an append of so many events to an existing session, from a file of an import.
fn statements_of(count: u64) -> Option<Vec<String>> {
    let fixture = on_server()?;
    let proxy = BreakingProxy::to(&fixture.database);
    let store = open_one(proxy.address());
    let id = session("7f78aa01");
    let tenant = Tenant::local();
    let import = run(store.begin_import(&tenant, "all", at(0))).unwrap();
    let there = |events: Vec<_>| {
        let events = events.into_iter();
        let events = events.map(|event: daybook_domain::NewEvent| event.with_place("/home/ada/a"));
        imported(&id, events.collect(), "/logs/1", import)
    };
    run(store.append(&there(vec![event("the first")]))).unwrap();
    proxy.traffic();
    let appended = run(store.append(&there(events("word", count)))).unwrap();
    assert_eq!(appended.added, count);
    let mut statements = proxy.traffic().statements;
    // Notifications, which are sent now and then for all commits, and what a connection prepares once.
    let is_its_own = |statement: &String| {
        let once = ["NOTIFY", "PREPARE"];
        !once.iter().any(|word| statement.starts_with(word))
            && !statement.contains("DELETE FROM commits")
    };
    statements.retain(is_its_own);
    assert!(statements.len() <= 20, "{statements:#?}");
    Some(statements)
}

#[test]
fn an_append_takes_as_many_statements_with_one_event_as_with_hundreds() {
    let (few, many) = (statements_of(1), statements_of(300));
    let count = |of: &Option<Vec<String>>| of.as_ref().map(Vec::len);
    assert_eq!(count(&few), count(&many), "{few:#?}\n{many:#?}");
}
