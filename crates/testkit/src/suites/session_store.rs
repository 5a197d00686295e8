//! What a session log promises.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::eligibility::Switches;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::seams::{Append, Appended, Store};
use daybook_domain::source::Undone;
use daybook_domain::{
    EventId, EventSeq, Evidence, JobKey, JobKind, Observation, Origin, Place, Priority, ScopeKind,
    SessionId, SessionKind, StoreError, Tenant, Timestamp, ToolStatus,
};

use crate::fixtures::*;

/// All events of a session.
pub(super) async fn log(store: &dyn Store, id: &SessionId) -> Vec<daybook_domain::Event> {
    let all = store
        .events(id, EventSeq(0), EventSeq(u64::MAX), 10_000, usize::MAX)
        .await;
    all.expect("a session can be read")
}

async fn add(store: &dyn Store, append: Append) -> Appended {
    store
        .append(&append)
        .await
        .expect("an append within bounds succeeds")
}

async fn numbers(store: &dyn Store, id: &SessionId) -> Vec<(u64, u32)> {
    let events = log(store, id).await;
    events
        .iter()
        .map(|event| (event.seq.0, event.line))
        .collect()
}

async fn texts(store: &dyn Store, id: &SessionId) -> Vec<String> {
    log(store, id)
        .await
        .into_iter()
        .map(|event| event.text)
        .collect()
}

/// Has a session extracted to its end, yielding `observations`.
///
/// # Panics
/// When the store refuses.
pub async fn extract(store: &dyn Store, id: &SessionId, observations: Vec<Observation>) {
    let claimed = store.claim(claim_of(JobKind::Extract, at(9_000), 10)).await;
    for claim in claimed.expect("jobs can be claimed") {
        if claim.token.job() != &JobKey::Extract(id.clone()) {
            continue;
        }
        let window = (claim.after + 1, claim.upto);
        let extraction = extraction(id, window, observations.clone());
        let _ = store
            .finish_extraction(&claim.token, &extraction, at(9_000))
            .await
            .expect("an extraction can be stored");
    }
}

pub async fn events_come_back_in_order_and_whole(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut call = event("cargo test")
        .said_by(Origin::ToolCall)
        .in_place("/home/ada/engine");
    call.tool = Some("Bash".to_owned());
    call.call = Some("call-1".to_owned());
    let mut result = event("failed")
        .said_by(Origin::ToolResult)
        .said_at(Timestamp::ZERO);
    result.status = Some(ToolStatus::Failed);
    result.sidechain = true;
    result.place = Some(Place {
        root: "/home/ada/engine".to_owned(),
        branch: None,
    });
    let given = vec![event("run the tests"), call, result];
    add(store, append(&id, given.clone())).await;
    let events = log(store, &id).await;
    assert_eq!(events.len(), given.len());
    for (n, (event, given)) in events.iter().zip(given).enumerate() {
        assert_eq!(event.seq, EventSeq(n as u64 + 1));
        assert_eq!(event.origin, given.origin);
        assert_eq!(event.at, given.at);
        assert_eq!(event.text, given.text);
        assert_eq!(event.tool, given.tool);
        assert_eq!(event.call, given.call);
        assert_eq!(event.status, given.status);
        assert_eq!(event.sidechain, given.sidechain);
        assert_eq!(event.place, given.place);
    }
}

pub async fn an_event_seen_twice_is_one_event(store: &dyn Store) {
    let id = session("7f78aa01");
    let first = add(store, append(&id, events("word", 3))).await;
    assert_eq!((first.added, first.known, first.last), (3, 0, EventSeq(3)));
    let mut again = events("word", 5);
    again.push(again[4].clone());
    let second = add(store, append(&id, again)).await;
    assert_eq!(
        (second.added, second.known, second.last),
        (2, 4, EventSeq(5))
    );
    assert_eq!(
        texts(store, &id).await,
        ["word 1", "word 2", "word 3", "word 4", "word 5"]
    );
    let ids: Vec<EventId> = events("word", 7).iter().map(|event| event.id).collect();
    let known = store.event_ids(&id).await.unwrap();
    assert_eq!(
        known.iter().map(|(seq, _)| seq.0).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    assert!(known.iter().zip(&ids).all(|((_, known), id)| known == id));
    // The same event in another session is another event.
    assert_eq!(store.event_ids(&session("other")).await.unwrap(), []);
    assert_eq!(
        add(store, append(&session("other"), events("word", 1)))
            .await
            .added,
        1
    );
}

pub async fn an_append_without_events_still_creates_its_session(store: &dyn Store) {
    let id = session("7f78aa01");
    let appended = add(store, append(&id, Vec::new())).await;
    assert_eq!(
        (appended.added, appended.known, appended.last),
        (0, 0, EventSeq(0))
    );
    let found = store
        .session(&id)
        .await
        .unwrap()
        .expect("the session exists");
    assert_eq!(
        (found.events, found.first_at),
        (EventSeq(0), Timestamp::ZERO)
    );
    assert!(store.session(&session("other")).await.unwrap().is_none());
    assert!(store.jobs(JobKind::Extract).await.unwrap().is_empty());
}

pub async fn an_append_that_is_too_large_is_refused_whole(store: &dyn Store) {
    let id = session("7f78aa01");
    let many = append(&id, events("word", APPEND_EVENTS as u64 + 1));
    assert!(matches!(
        store.append(&many).await,
        Err(StoreError::Refused(_))
    ));
    let half = "x".repeat(APPEND_BYTES / 3);
    let heavy = ["a", "b", "c", "d"].map(|name| event(&format!("{name}{half}")));
    let heavy = append(&id, heavy.to_vec());
    assert!(matches!(
        store.append(&heavy).await,
        Err(StoreError::Refused(_))
    ));
    assert!(store.session(&id).await.unwrap().is_none());
    let whole = append(&id, events("word", APPEND_EVENTS as u64));
    assert_eq!(add(store, whole).await.added, APPEND_EVENTS as u64);
}

pub async fn a_window_is_bounded_by_count_and_bytes_but_never_empty(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 9))).await;
    let window = async |after, upto, limit, bytes| {
        let read = store
            .events(&id, EventSeq(after), EventSeq(upto), limit, bytes)
            .await;
        let events = read.unwrap();
        events.iter().map(|event| event.seq.0).collect::<Vec<_>>()
    };
    assert_eq!(window(2, 5, 10, 1000).await, [3, 4, 5]);
    assert_eq!(window(2, 9, 2, 1000).await, [3, 4]);
    assert_eq!(window(2, 9, 10, 13).await, [3, 4]);
    assert_eq!(window(2, 9, 10, 0).await, [3]);
    assert_eq!(window(9, 20, 10, 1000).await, [0; 0]);
}

pub async fn several_events_of_one_line_share_its_number(store: &dyn Store) {
    let id = session("7f78aa01");
    let source = Some(source("/logs/a.jsonl", &id, 3));
    let lines = [
        event("a").on_line(1),
        event("b").on_line(4),
        event("c").on_line(4),
    ];
    let first = append(&id, lines.to_vec());
    add(
        store,
        Append {
            source: source.clone(),
            ..first
        },
    )
    .await;
    let rest = append(&id, vec![event("d").on_line(4), event("e").on_line(9)]);
    add(store, Append { source, ..rest }).await;
    assert_eq!(
        numbers(store, &id).await,
        [(1, 1), (2, 4), (3, 4), (4, 4), (5, 9)]
    );
}

pub async fn lines_of_a_second_file_are_moved_behind_the_first(store: &dyn Store) {
    let id = session("7f78aa01");
    let from = |path: &str, events| Append {
        source: Some(source(path, &id, 1)),
        ..append(&id, events)
    };
    add(
        store,
        from(
            "/logs/main",
            vec![event("a").on_line(1), event("b").on_line(10)],
        ),
    )
    .await;
    let side = vec![
        event("c").on_line(2),
        event("d").on_line(2),
        event("e").on_line(5),
    ];
    add(store, from("/logs/side", side)).await;
    assert_eq!(numbers(store, &id).await[2..], [(3, 11), (4, 11), (5, 14)]);
    // The same line of another file is a coincidence; a greater one needs no move.
    add(store, from("/logs/other", vec![event("f").on_line(14)])).await;
    add(
        store,
        from(
            "/logs/other",
            vec![event("g").on_line(40), event("h").on_line(41)],
        ),
    )
    .await;
    assert_eq!(numbers(store, &id).await[5..], [(6, 15), (7, 40), (8, 41)]);
    add(
        store,
        from(
            "/logs/main",
            vec![event("i").on_line(11), event("j").on_line(12)],
        ),
    )
    .await;
    assert_eq!(numbers(store, &id).await[8..], [(9, 42), (10, 43)]);
}

pub async fn events_from_no_file_count_on(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 2))).await;
    let mixed = vec![event("a").on_line(7), event("b"), event("c").on_line(7)];
    add(store, append(&id, mixed)).await;
    let numbers = numbers(store, &id).await;
    assert_eq!(numbers, [(1, 1), (2, 2), (3, 7), (4, 8), (5, 9)]);
}

pub async fn lines_find_their_events(store: &dyn Store) {
    let id = session("7f78aa01");
    let lines = [1, 3, 3, 3, 8, 9, 20];
    let events = lines.iter().enumerate();
    let events = events.map(|(n, &line)| event(&format!("word {n}")).on_line(line));
    add(store, append(&id, events.collect())).await;
    add(
        store,
        append(&session("7f79"), vec![event("elsewhere").on_line(5)]),
    )
    .await;
    let cited = async |from, to, limit| {
        let read = store.events_at(&id, (from, to), limit).await;
        read.unwrap()
            .iter()
            .map(|event| event.seq.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(cited(3, 3, 10).await, [2, 3, 4]);
    assert_eq!(cited(2, 8, 10).await, [2, 3, 4, 5]);
    assert_eq!(cited(0, 100, 3).await, [1, 2, 3]);
    assert_eq!(cited(20, 20, 10).await, [7]);
    assert_eq!(cited(10, 19, 10).await, [0; 0]);
    assert_eq!(cited(21, u32::MAX, 10).await, [0; 0]);
}

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
        let said = event("word").said_at(at(seconds));
        add(store, append(&session(host_id), vec![said])).await;
    }
    let listed = async |limit| {
        let sessions = store.sessions(&Tenant::local(), limit).await.unwrap();
        sessions
            .into_iter()
            .map(|session| session.id.host_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(10).await, ["c", "a", "b", "d"]);
    assert_eq!(listed(2).await, ["c", "a"]);
    let old = event("an older one").said_at(at(2));
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
        let sessions = store.sessions(&tenant, 10).await.unwrap();
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

pub async fn an_append_makes_an_eligible_session_due_once_it_rests(store: &dyn Store) {
    let id = session("7f78aa01");
    let key = JobKey::Extract(id.clone());
    let patience = append(&id, Vec::new()).patience;
    add(store, append(&id, events("word", 2))).await;
    let job = store
        .job(&key)
        .await
        .unwrap()
        .expect("the append marked it");
    assert_eq!((job.input, job.done), (2, 0));
    assert_eq!(job.due_at(), Some(at(2).plus(patience.idle)));
    add(store, append(&id, vec![event("later").said_at(at(500))])).await;
    let job = store.job(&key).await.unwrap().unwrap();
    assert_eq!(job.input, 3);
    assert_eq!(job.due_at(), Some(at(2).plus(patience.dirty)));
}

pub async fn an_urgent_append_makes_a_session_due_at_once_and_before_others(store: &dyn Store) {
    let id = session("7f78aa01");
    let urgent = Append {
        urgent: Some(Priority::High),
        now: at(77),
        ..append(&id, events("word", 2))
    };
    add(store, urgent).await;
    let job = store.job(&JobKey::Extract(id)).await.unwrap().unwrap();
    assert_eq!((job.input, job.priority), (2, Priority::High));
    assert_eq!(job.due_at(), Some(at(77)));
}

pub async fn an_event_without_a_time_counts_from_now(store: &dyn Store) {
    let id = session("7f78aa01");
    let undated = append(&id, vec![event("word").said_at(Timestamp::ZERO)]);
    let undated = Append {
        now: at(77),
        ..undated
    };
    let idle = undated.patience.idle;
    add(store, undated).await;
    let job = store.job(&JobKey::Extract(id)).await.unwrap().unwrap();
    assert_eq!(job.due_at(), Some(at(77).plus(idle)));
}

pub async fn repeating_an_append_marks_nothing(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 2))).await;
    extract(store, &id, Vec::new()).await;
    let done = store.job(&JobKey::Extract(id.clone())).await.unwrap();
    add(store, append(&id, events("word", 2))).await;
    assert_eq!(store.job(&JobKey::Extract(id)).await.unwrap(), done);
}

pub async fn an_ineligible_session_is_never_marked(store: &dyn Store) {
    for kind in [
        SessionKind::Ephemeral,
        SessionKind::SubAgent,
        SessionKind::MemoryAgent,
    ] {
        let mut said = append(&session(kind.word()), events("word", 1));
        said.session.kind = kind;
        add(store, said).await;
    }
    let mut off = append(&session("off"), events("word", 1));
    off.session.memory_off = true;
    add(store, off).await;
    assert!(store.jobs(JobKind::Extract).await.unwrap().is_empty());
}

pub async fn switching_memory_on_makes_the_whole_session_due(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut off = append(&id, events("word", 3));
    off.session.memory_off = true;
    add(store, off).await;
    let on = append(&id, Vec::new());
    let idle = on.patience.idle;
    add(store, on).await;
    let job = store
        .job(&JobKey::Extract(id))
        .await
        .unwrap()
        .expect("it is due");
    assert_eq!((job.input, job.due_at()), (3, Some(at(3).plus(idle))));
}

pub async fn what_is_said_while_memory_is_switched_off_is_passed_over(store: &dyn Store) {
    let id = session("7f78aa01");
    let key = JobKey::Extract(id.clone());
    let waiting = async || store.job(&key).await.unwrap().expect("a job");
    let off = Switches {
        off: [(ScopeKind::Agent, id.agent.clone())].into(),
        ..Switches::default()
    };
    let private = Append {
        switches: off,
        ..append(&id, events("private", 3))
    };
    add(store, append(&id, events("said", 1))).await;
    add(store, private).await;
    let job = waiting().await;
    assert_eq!((job.input, job.done, job.due_at()), (4, 4, None));
    add(store, append(&id, events("open", 2))).await;
    let job = waiting().await;
    assert_eq!((job.input, job.done), (6, 4));
    let known = store.session(&id).await.unwrap().unwrap();
    assert_eq!(known.passed, [(1, 4)]);
    store.redo(&key, at(9_000)).await.unwrap();
    assert_eq!(store.session(&id).await.unwrap().unwrap().passed, [(1, 4)]);
}

pub async fn a_session_is_switched_off_and_on_whatever_its_host_says(store: &dyn Store) {
    let id = session("7f78aa01");
    let key = JobKey::Extract(id.clone());
    let ahead = async || store.job(&key).await.unwrap().expect("a job").is_ahead();
    assert!(!store.switch_memory(&id, false).await.unwrap());
    add(store, append(&id, events("word", 2))).await;
    assert!(ahead().await);
    assert!(store.switch_memory(&id, false).await.unwrap());
    assert!(!ahead().await);
    add(store, append(&id, events("private", 2))).await;
    assert!(store.session(&id).await.unwrap().unwrap().switched_off);
    assert!(store.switch_memory(&id, true).await.unwrap());
    assert!(!ahead().await);
    add(store, append(&id, events("open", 1))).await;
    assert!(ahead().await);
    assert_eq!(store.job(&key).await.unwrap().unwrap().done, 4);
}

pub async fn with_the_sixth_turn_a_busy_session_is_due(store: &dyn Store) {
    let id = session("7f78aa01");
    let due = async || store.next_due(JobKind::Extract).await.unwrap();
    for n in 1..=5 {
        let turn = event(&format!("turn {n}")).said_at(at(n));
        let answer = event(&format!("answer {n}"))
            .said_at(at(n))
            .said_by(Origin::Assistant);
        add(store, append(&id, vec![turn, answer])).await;
    }
    let idle = append(&id, Vec::new()).patience.idle;
    assert_eq!(due().await, Some(at(5).plus(idle)));
    add(store, append(&id, vec![event("turn 6").said_at(at(6))])).await;
    assert_eq!(due().await, Some(at(6)));
}

pub async fn sessions_are_found_by_their_last_activity(store: &dyn Store) {
    for n in 1..=4 {
        let said = vec![event("word").said_at(at(n * 10))];
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

pub async fn a_file_moves_on_with_its_events(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut first = source("/logs/a", &id, 10);
    add(
        store,
        Append {
            source: Some(first.clone()),
            ..append(&id, events("word", 1))
        },
    )
    .await;
    let mut unread = source("/logs/0", &id, 0);
    unread.session = None;
    unread.first_bad = None;
    store
        .put_source(&Tenant::local(), &unread, None)
        .await
        .unwrap();
    first.offset = 20;
    first.state = "{\"turn\":2}".to_owned();
    store
        .put_source(&Tenant::local(), &first, None)
        .await
        .unwrap();
    assert_eq!(
        store.sources(&Tenant::local()).await.unwrap(),
        [unread, first]
    );
}

pub async fn places_belong_to_projects_once_they_are_assigned(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut elsewhere = event("b").in_place("/home/ada/engine");
    elsewhere.place = Some(Place {
        root: "/home/ada/engine".to_owned(),
        branch: None,
    });
    let said = vec![
        event("a").in_place("/home/ada/engine"),
        elsewhere,
        event("c").in_place("/elsewhere"),
    ];
    add(store, append(&id, said)).await;
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            at(1),
        )
        .await
        .unwrap();
    let bare = Place {
        root: "/home/ada/engine".to_owned(),
        branch: None,
    };
    let engine = Some("engine".to_owned());
    let expected = [
        (place("/elsewhere"), None),
        (bare, engine.clone()),
        (place("/home/ada/engine"), engine),
    ];
    assert_eq!(store.places(&Tenant::local()).await.unwrap(), expected);
    let mut known = project("engine");
    known.identity = "example.org/ada/moved".to_owned();
    store
        .assign_root(&Tenant::local(), "/elsewhere", &known, at(2))
        .await
        .unwrap();
    // Another identity joins the project; the first still stands for it.
    let both = [project("engine"), known];
    assert_eq!(store.projects(&Tenant::local()).await.unwrap(), both);
    // A root without events is not a place that events happened in.
    assert_eq!(store.places(&Tenant::local()).await.unwrap().len(), 3);
}

fn seen_at(root: &str, evidence: Evidence) -> Evidence {
    Evidence {
        root: Some(root.to_owned()),
        ..evidence
    }
}

/// A session with two events at `/home/ada/engine`, whose project is still guessed.
async fn guessed_project(store: &dyn Store, id: &SessionId) {
    let there = events("word", 2)
        .into_iter()
        .map(|event| event.in_place("/home/ada/engine"));
    add(store, append(id, there.collect())).await;
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("guess"),
            at(1),
        )
        .await
        .unwrap();
}

pub async fn assigning_a_root_moves_what_was_observed_there(store: &dyn Store) {
    let id = session("7f78aa01");
    guessed_project(store, &id).await;
    let (guess, engine) = (project_scope("guess"), project_scope("engine"));
    let here = seen_at("/home/ada/engine", evidence(&id, &[1]));
    let there = seen_at("/home/ada/other", evidence(&id, &[2]));
    let both = observation(&guess, "use tabs", vec![here.clone(), there.clone()]);
    let mine = observation(&user_scope("ada"), "be brief", vec![here.clone()]);
    extract(store, &id, vec![both, mine.clone()]).await;
    let before = store.scopes(&Tenant::local()).await.unwrap();
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            at(2),
        )
        .await
        .unwrap();
    let left = observation(&guess, "use tabs", vec![there]);
    let moved = observation(&engine, "use tabs", vec![here]);
    assert_eq!(store.observations(&guess).await.unwrap(), [left]);
    assert_eq!(store.observations(&engine).await.unwrap(), [moved]);
    assert_eq!(store.observations(&mine.scope).await.unwrap(), [mine]);
    let after = store.scopes(&Tenant::local()).await.unwrap();
    let revision = |states: &[daybook_domain::seams::ScopeState], scope| {
        states
            .iter()
            .find(|state| &state.scope == scope)
            .map_or(0, |state| state.revision)
    };
    assert_eq!(revision(&after, &guess), revision(&before, &guess) + 1);
    assert_eq!(revision(&after, &engine), 1);
    assert_eq!(revision(&after, &user_scope("ada")), 1);
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            at(3),
        )
        .await
        .unwrap();
    assert_eq!(store.scopes(&Tenant::local()).await.unwrap(), after);
}

pub async fn what_was_taken_back_stays_so_under_a_new_project(store: &dyn Store) {
    let id = session("7f78aa01");
    guessed_project(store, &id).await;
    let (guess, engine) = (project_scope("guess"), project_scope("engine"));
    let here = seen_at("/home/ada/engine", evidence(&id, &[1]));
    let said = observation(&guess, "use tabs", vec![here.clone()]);
    extract(store, &id, vec![said.clone()]).await;
    assert!(store.retract(&guess, said.id, at(3)).await.unwrap());
    store
        .assign_root(
            &Tenant::local(),
            "/home/ada/engine",
            &project("engine"),
            at(4),
        )
        .await
        .unwrap();
    let again = observation(&engine, "use tabs", vec![here]);
    store.observe(&[again], at(5)).await.unwrap();
    assert!(store.observations(&engine).await.unwrap().is_empty());
}

pub async fn an_import_counts_what_it_adds(store: &dyn Store) {
    let no = store
        .begin_import(&Tenant::local(), "~/.claude", at(0))
        .await
        .unwrap();
    let (a, b) = (session("7f78aa01"), session("8000"));
    add(store, imported(&a, events("word", 3), "/logs/a", no)).await;
    add(store, imported(&a, events("word", 5), "/logs/a", no)).await;
    add(store, imported(&b, events("word", 1), "/logs/b", no)).await;
    store
        .put_source(&Tenant::local(), &source("/logs/empty", &b, 0), Some(no))
        .await
        .unwrap();
    store.end_import(&Tenant::local(), no, at(9)).await.unwrap();
    let later = store
        .begin_import(&Tenant::local(), "again", at(10))
        .await
        .unwrap();
    let imports = store.imports(&Tenant::local(), 10).await.unwrap();
    assert_eq!((imports[0].no, imports[0].ended_at), (later, None));
    assert_eq!((imports[1].no, imports[1].ended_at), (no, Some(at(9))));
    assert_eq!((imports[1].events, imports[1].files), (6, 3));
    assert_eq!(
        (imports[1].what.as_str(), imports[1].began_at),
        ("~/.claude", at(0))
    );
    assert_eq!(store.imports(&Tenant::local(), 1).await.unwrap().len(), 1);
}

pub async fn undoing_an_import_removes_whole_sessions(store: &dyn Store) {
    let id = session("7f78aa01");
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    let there = events("word", 3)
        .into_iter()
        .map(|event| event.in_place("/tmp"));
    add(store, imported(&id, there.collect(), "/logs/a", no)).await;
    add(store, append(&session("8000"), events("kept", 1))).await;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9))
        .await
        .unwrap();
    let expected = Undone {
        events: 3,
        sessions: 1,
        shortened: 0,
        observations: 0,
    };
    assert_eq!(undone, expected);
    assert!(store.session(&id).await.unwrap().is_none());
    assert!(log(store, &id).await.is_empty());
    assert!(store.sources(&Tenant::local()).await.unwrap().is_empty());
    assert!(
        store
            .imports(&Tenant::local(), 10)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(store.places(&Tenant::local()).await.unwrap().is_empty());
    assert!(store.job(&JobKey::Extract(id)).await.unwrap().is_none());
    assert_eq!(store.sessions(&Tenant::local(), 10).await.unwrap().len(), 1);
    assert_eq!(texts(store, &session("8000")).await, ["kept 1"]);
}

pub async fn undoing_an_import_keeps_older_events_and_has_them_extracted_anew(store: &dyn Store) {
    let id = session("7f78aa01");
    let first = Append {
        source: Some(source("/logs/a", &id, 2)),
        ..append(&id, events("word", 2))
    };
    add(store, first).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 5), "/logs/a", no)).await;
    extract(store, &id, Vec::new()).await;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9_100))
        .await
        .unwrap();
    assert_eq!(
        (undone.events, undone.sessions, undone.shortened),
        (3, 0, 1)
    );
    assert_eq!(texts(store, &id).await, ["word 1", "word 2"]);
    let kept = store.session(&id).await.unwrap().unwrap();
    assert_eq!((kept.events, kept.last_at), (EventSeq(2), at(2)));
    assert_eq!(
        store.sources(&Tenant::local()).await.unwrap(),
        [source("/logs/a", &id, 2)]
    );
    let job = store
        .job(&JobKey::Extract(id.clone()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((job.input, job.done, job.due_at()), (2, 0, Some(at(9_100))));
    assert!(
        store
            .extractions(&Tenant::local(), None)
            .await
            .unwrap()
            .is_empty()
    );
}

pub async fn undoing_an_import_withdraws_what_rests_on_it(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 2))).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 4), "/logs/a", no)).await;
    let scope = user_scope("ada");
    let gone = observation(&scope, "use tabs", vec![evidence(&id, &[3, 4])]);
    let both = observation(&scope, "be brief", vec![evidence(&id, &[2, 3])]);
    extract(store, &id, vec![gone, both]).await;
    let before = store.scopes(&Tenant::local()).await.unwrap()[0].revision;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9_100))
        .await
        .unwrap();
    assert_eq!(undone.observations, 1);
    let left = observation(&scope, "be brief", vec![evidence(&id, &[2])]);
    assert_eq!(store.observations(&scope).await.unwrap(), [left]);
    assert!(store.scopes(&Tenant::local()).await.unwrap()[0].revision > before);
}

pub async fn undoing_an_import_frees_the_lease_of_whoever_reads_it(store: &dyn Store) {
    let id = session("7f78aa01");
    add(store, append(&id, events("word", 2))).await;
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 4), "/logs/a", no)).await;
    let claimed = store
        .claim(claim_of(JobKind::Extract, at(9_000), 1))
        .await
        .unwrap();
    store
        .undo_import(&Tenant::local(), no, at(9_001))
        .await
        .unwrap();
    let said = observation(&user_scope("ada"), "use tabs", vec![evidence(&id, &[4])]);
    let stale = extraction(&id, (1, 4), vec![said.clone()]);
    let ended = store
        .finish_extraction(&claimed[0].token, &stale, at(9_002))
        .await
        .unwrap();
    assert_eq!(ended, daybook_domain::FinishOutcome::LeaseLost);
    assert!(store.observations(&said.scope).await.unwrap().is_empty());
}

pub async fn undoing_an_import_keeps_later_events_and_their_numbers(store: &dyn Store) {
    let id = session("7f78aa01");
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 2), "/logs/a", no)).await;
    add(store, append(&id, events("word", 3))).await;
    let undone = store
        .undo_import(&Tenant::local(), no, at(9))
        .await
        .unwrap();
    assert_eq!((undone.events, undone.shortened), (2, 1));
    assert_eq!(numbers(store, &id).await, [(3, 3)]);
    assert_eq!(
        store.session(&id).await.unwrap().unwrap().events,
        EventSeq(3)
    );
    assert_eq!(
        add(store, append(&id, events("word", 3))).await.last,
        EventSeq(5)
    );
}

pub async fn after_an_undo_the_same_import_adds_the_same_again(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut results = Vec::new();
    for _ in 0..2 {
        let no = store
            .begin_import(&Tenant::local(), "all", at(0))
            .await
            .unwrap();
        // Enough for several steps.
        for part in events("word", 600).chunks(APPEND_EVENTS / 2) {
            add(store, imported(&id, part.to_vec(), "/logs/a", no)).await;
        }
        let session = store.session(&id).await.unwrap().unwrap();
        results.push((
            session,
            log(store, &id).await,
            store.sources(&Tenant::local()).await.unwrap(),
        ));
        assert_eq!(
            store
                .undo_import(&Tenant::local(), no, at(9))
                .await
                .unwrap()
                .events,
            600
        );
        assert!(log(store, &id).await.is_empty());
    }
    assert_eq!(results[0], results[1]);
}

pub async fn undoing_the_first_of_two_imports_forgets_the_file_for_both(store: &dyn Store) {
    let id = session("7f78aa01");
    let first = store
        .begin_import(&Tenant::local(), "first", at(0))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 2), "/logs/a", first)).await;
    let second = store
        .begin_import(&Tenant::local(), "second", at(1))
        .await
        .unwrap();
    add(store, imported(&id, events("word", 4), "/logs/a", second)).await;
    store
        .undo_import(&Tenant::local(), first, at(2))
        .await
        .unwrap();
    assert!(store.sources(&Tenant::local()).await.unwrap().is_empty());
    store
        .undo_import(&Tenant::local(), second, at(3))
        .await
        .unwrap();
    // What the first one read is not there any more, so the file must be read from its start.
    assert!(store.sources(&Tenant::local()).await.unwrap().is_empty());
    assert!(store.session(&id).await.unwrap().is_none());
}

pub async fn an_unknown_import_is_refused(store: &dyn Store) {
    let id = session("7f78aa01");
    let no = daybook_domain::source::ImportNo(7);
    let not_found = |outcome: Result<(), StoreError>| {
        assert!(matches!(outcome, Err(StoreError::NotFound(_))));
    };
    let adding = imported(&id, events("word", 2), "/logs/a", no);
    not_found(store.append(&adding).await.map(|_| ()));
    not_found(
        store
            .put_source(&Tenant::local(), &source("/logs/a", &id, 1), Some(no))
            .await,
    );
    not_found(store.end_import(&Tenant::local(), no, at(1)).await);
    not_found(
        store
            .undo_import(&Tenant::local(), no, at(1))
            .await
            .map(|_| ()),
    );
    assert!(store.session(&id).await.unwrap().is_none());
    let begun = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    store
        .undo_import(&Tenant::local(), begun, at(0))
        .await
        .unwrap();
    assert!(
        store
            .begin_import(&Tenant::local(), "next", at(0))
            .await
            .unwrap()
            > begun
    );
}
