//! When a session is due to be learned from.

use super::*;

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
    add(store, append(&id, vec![event("later").with_time(at(500))])).await;
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
    let undated = append(&id, vec![event("word").with_time(Timestamp::ZERO)]);
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
        let mut said = append(&session(kind.as_str()), events("word", 1));
        said.session.kind = kind;
        add(store, said).await;
    }
    let mut off = append(&session("off"), events("word", 1));
    off.session.memory_off = true;
    add(store, off).await;
    assert!(
        store
            .jobs_of_all_tenants(JobKind::Extract)
            .await
            .unwrap()
            .is_empty()
    );
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
    let switch = async |on| {
        let switches = Switches::default();
        store
            .switch_memory(&id, on, &switches, at(9))
            .await
            .unwrap()
    };
    assert!(!switch(false).await);
    add(store, append(&id, events("word", 2))).await;
    assert!(ahead().await);
    assert!(switch(false).await);
    assert!(!ahead().await);
    add(store, append(&id, events("private", 2))).await;
    assert!(store.session(&id).await.unwrap().unwrap().switched_off);
    assert!(switch(true).await);
    assert!(!ahead().await);
    add(store, append(&id, events("open", 1))).await;
    assert!(ahead().await);
    assert_eq!(store.job(&key).await.unwrap().unwrap().done, 4);
}

pub async fn with_the_sixth_turn_a_busy_session_is_due(store: &dyn Store) {
    let id = session("7f78aa01");
    let due = async || store.next_due(JobKind::Extract).await.unwrap();
    for n in 1..=5 {
        let turn = event(&format!("turn {n}")).with_time(at(n));
        let answer = event(&format!("answer {n}"))
            .with_time(at(n))
            .with_origin(Origin::Assistant);
        add(store, append(&id, vec![turn, answer])).await;
    }
    let idle = append(&id, Vec::new()).patience.idle;
    assert_eq!(due().await, Some(at(5).plus(idle)));
    add(store, append(&id, vec![event("turn 6").with_time(at(6))])).await;
    assert_eq!(due().await, Some(at(6)));
}
