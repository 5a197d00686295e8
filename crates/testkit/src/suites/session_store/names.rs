//! How sessions are labelled, found and distinguished.

use super::*;

pub async fn a_label_is_the_shortest_new_prefix_and_stays(store: &dyn Store) {
    let label = async |id: &SessionId| store.session(id).await.unwrap().unwrap().label;
    let ids = ["7f78aa01", "7f78aa99", "7f7", "8000", "7f78aa010"].map(session);
    for id in &ids {
        add(store, append(id, events("word", 1))).await;
    }
    assert_eq!(label(&ids[0]).await, "7f78");
    assert_eq!(label(&ids[1]).await, "7f78aa9");
    assert_eq!(label(&ids[2]).await, "7f7");
    assert_eq!(label(&ids[3]).await, "8000");
    assert_eq!(label(&ids[4]).await, "7f78aa010");
    let twin = SessionId {
        agent: "codex".to_owned(),
        ..session("8000")
    };
    add(store, append(&twin, events("word", 1))).await;
    assert_eq!(label(&twin).await, "8000~2");
    add(store, append(&ids[0], events("more", 1))).await;
    assert_eq!(label(&ids[0]).await, "7f78");
}

pub async fn sessions_are_found_by_label_or_else_by_beginning(store: &dyn Store) {
    let found = async |name: &str| {
        let found = store.find_sessions(&Tenant::local(), name).await.unwrap();
        found
            .into_iter()
            .map(|session| session.id.host_id)
            .collect::<Vec<_>>()
    };
    for host_id in ["7f78aa01", "7f78aa02", "7f79", "a%b_c"] {
        add(store, append(&session(host_id), events("word", 1))).await;
    }
    assert_eq!(found("7f78").await, ["7f78aa01"]);
    assert_eq!(found("7f78a").await, ["7f78aa01", "7f78aa02"]);
    assert_eq!(found("7f").await, ["7f78aa01", "7f78aa02", "7f79"]);
    assert_eq!(found("a%b").await, ["a%b_c"]);
    assert_eq!(found("%").await, [""; 0]);
    for n in 0..12 {
        add(
            store,
            append(&session(&format!("many{n:02}")), events("word", 1)),
        )
        .await;
    }
    assert_eq!(found("man").await.len(), 10);
}

pub async fn the_newest_session_comes_first(store: &dyn Store) {
    for (host_id, seconds) in [("b", 5), ("c", 9), ("a", 5), ("d", 1)] {
        let said = event("word").with_time(at(seconds));
        add(store, append(&session(host_id), vec![said])).await;
    }
    let listed = async |limit| {
        let sessions = store
            .sessions(&Tenant::local(), PageRequest::first(limit))
            .await
            .unwrap()
            .items;
        sessions
            .into_iter()
            .map(|session| session.id.host_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(10).await, ["c", "a", "b", "d"]);
    assert_eq!(listed(2).await, ["c", "a"]);
    let old = event("an older one").with_time(at(2));
    add(store, append(&session("c"), vec![old])).await;
    let c = store.session(&session("c")).await.unwrap().unwrap();
    assert_eq!((c.first_at, c.last_at), (at(2), at(9)));
}

pub async fn tenants_do_not_see_each_other(store: &dyn Store) {
    let other = SessionId {
        tenant: Tenant("other".to_owned()),
        ..session("7f78aa01")
    };
    add(store, append(&session("7f78aa01"), events("mine", 1))).await;
    add(store, append(&other, events("theirs", 2))).await;
    assert_eq!(texts(store, &session("7f78aa01")).await, ["mine 1"]);
    assert_eq!(texts(store, &other).await, ["theirs 1", "theirs 2"]);
    for tenant in [Tenant::local(), other.tenant.clone()] {
        let sessions = store
            .sessions(&tenant, PageRequest::first(10))
            .await
            .unwrap()
            .items;
        let labels: Vec<&str> = sessions
            .iter()
            .map(|session| session.label.as_str())
            .collect();
        assert_eq!(labels, ["7f78"]);
        assert_eq!(store.find_sessions(&tenant, "7f").await.unwrap(), sessions);
    }
}

pub async fn a_sub_agents_part_belongs_to_its_parent_whichever_came_first(store: &dyn Store) {
    for (host_id, sub_agent_first) in [("7f78aa01", false), ("4dedaa01", true)] {
        let id = session(host_id);
        let mut part = append(&id, events("aside", 2));
        part.session.kind = SessionKind::SubAgent;
        let whole = append(&id, events("word", 2));
        let (first, second) = if sub_agent_first {
            (part, whole)
        } else {
            (whole, part)
        };
        add(store, first).await;
        add(store, second).await;
        let found = store.session(&id).await.unwrap().unwrap();
        assert_eq!((found.kind, found.events), (SessionKind::Root, EventSeq(4)));
        let job = store.job(&JobKey::Extract(id)).await.unwrap();
        assert_eq!(job.map(|job| job.input), Some(4));
    }
}

pub async fn a_known_kind_stays_known(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut said = append(&id, events("word", 1));
    said.session.kind = SessionKind::Ephemeral;
    said.session.forked_from = Some("parent".to_owned());
    add(store, append(&id, Vec::new())).await;
    add(store, said).await;
    add(store, append(&id, events("word", 2))).await;
    let found = store.session(&id).await.unwrap().unwrap();
    assert_eq!(found.kind, SessionKind::Ephemeral);
    assert_eq!(found.forked_from.as_deref(), Some("parent"));
}

pub async fn sessions_are_found_by_their_last_activity(store: &dyn Store) {
    for n in 1..=4 {
        let said = vec![event("word").with_time(at(n * 10))];
        add(store, append(&session(&format!("{n}aaa")), said)).await;
    }
    let active = async |from, to, limit| {
        let between = (at(from), at(to));
        let sessions = store
            .sessions_active(&Tenant::local(), between, limit)
            .await;
        let ids = sessions
            .unwrap()
            .into_iter()
            .map(|session| session.id.host_id);
        ids.collect::<Vec<_>>()
    };
    assert_eq!(active(10, 30, 9).await, ["3aaa", "2aaa", "1aaa"]);
    assert_eq!(active(11, 40, 2).await, ["4aaa", "3aaa"]);
    assert!(active(41, 99, 9).await.is_empty());
}
