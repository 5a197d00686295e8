//! The places of events, and the projects that these belong to.

use super::*;

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
    first.reading = 1;
    first.failure = Some("refused: too long".to_owned());
    store
        .put_source(&Tenant::local(), &first, None)
        .await
        .unwrap();
    assert_eq!(
        store
            .sources(&Tenant::local(), PageRequest::first(1000))
            .await
            .unwrap()
            .items,
        [unread, first]
    );
}

pub async fn places_belong_to_projects_once_they_are_assigned(store: &dyn Store) {
    let id = session("7f78aa01");
    let mut elsewhere = event("b").with_place("/home/ada/engine");
    elsewhere.place = Some(Place {
        root: "/home/ada/engine".to_owned(),
        branch: None,
    });
    let said = vec![
        event("a").with_place("/home/ada/engine"),
        elsewhere,
        event("c").with_place("/elsewhere"),
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
    // Another identity joins the project; the first one still names it.
    let both = [project("engine"), known];
    assert_eq!(
        store
            .projects(&Tenant::local(), PageRequest::first(100))
            .await
            .unwrap()
            .items,
        both
    );
    // A root without events is not listed among the places.
    assert_eq!(store.places(&Tenant::local()).await.unwrap().len(), 3);
}

fn with_root(root: &str, evidence: Evidence) -> Evidence {
    Evidence {
        root: Some(root.to_owned()),
        ..evidence
    }
}

/// A session with two events at `/home/ada/engine`, whose project is still guessed.
async fn guessed_project(store: &dyn Store, id: &SessionId) {
    let there = events("word", 2)
        .into_iter()
        .map(|event| event.with_place("/home/ada/engine"));
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
    let here = with_root("/home/ada/engine", evidence(&id, &[1]));
    let there = with_root("/home/ada/other", evidence(&id, &[2]));
    let both = observation(&guess, "use tabs", vec![here.clone(), there.clone()]);
    let mine = observation(&user_scope("ada"), "be brief", vec![here.clone()]);
    extract(store, &id, vec![both, mine.clone()]).await;
    let before = store
        .scopes(&Tenant::local(), PageRequest::first(100))
        .await
        .unwrap()
        .items;
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
    let after = store
        .scopes(&Tenant::local(), PageRequest::first(100))
        .await
        .unwrap()
        .items;
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
    assert_eq!(
        store
            .scopes(&Tenant::local(), PageRequest::first(100))
            .await
            .unwrap()
            .items,
        after
    );
}

pub async fn what_was_taken_back_stays_so_under_a_new_project(store: &dyn Store) {
    let id = session("7f78aa01");
    guessed_project(store, &id).await;
    let (guess, engine) = (project_scope("guess"), project_scope("engine"));
    let here = with_root("/home/ada/engine", evidence(&id, &[1]));
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

fn remote_evidence(event: Option<EventId>, remote: &str) -> RemoteEvidence {
    RemoteEvidence {
        event,
        root: "/home/ada/engine".to_owned(),
        remote: remote.to_owned(),
        source: RemoteSource::Output,
    }
}

async fn remotes(store: &dyn Store) -> Vec<(String, Vec<(String, u64)>)> {
    let roots = store.roots(&Tenant::local()).await.unwrap();
    let counts = |root: RootRecord| {
        let counts = root.remotes.into_iter();
        (
            root.root,
            counts.map(|count| (count.remote, count.sessions)).collect(),
        )
    };
    roots.into_iter().map(counts).collect()
}

pub async fn what_shows_a_remote_stays_with_its_event(store: &dyn Store) {
    let id = session("7f78aa01");
    let said = vec![event("a").with_place("/home/ada/engine"), event("b")];
    let (first, last) = (said[0].id, said[1].id);
    add(store, append(&id, said.clone())).await;
    let engine = "/home/ada/engine".to_owned();
    assert_eq!(remotes(store).await, [(engine.clone(), Vec::new())]);
    let no = store
        .begin_import(&Tenant::local(), "all", at(0))
        .await
        .unwrap();
    // Evidence of a known event, a new one, the last one, and one that does not exist.
    let mut more = said;
    more.push(event("c"));
    let new = more[2].id;
    add(
        store,
        Append {
            remotes: vec![
                remote_evidence(Some(first), "github.com/ada/engine"),
                remote_evidence(Some(last), "github.com/ada/engine"),
                remote_evidence(Some(new), "github.com/ada/fork"),
                remote_evidence(None, "github.com/ada/engine"),
                remote_evidence(Some(EventId(7)), "github.com/ada/none"),
            ],
            ..imported(&id, more, "/logs/a", no)
        },
    )
    .await;
    let both = |engine, fork| {
        vec![
            ("github.com/ada/engine".to_owned(), engine),
            ("github.com/ada/fork".to_owned(), fork),
        ]
    };
    assert_eq!(remotes(store).await, [(engine.clone(), both(1, 1))]);
    let other = event("d").with_place("/home/ada/engine");
    let told = Append {
        remotes: vec![remote_evidence(Some(other.id), "github.com/ada/fork")],
        ..append(&session("8000"), vec![other])
    };
    add(store, told.clone()).await;
    add(store, told).await;
    assert_eq!(remotes(store).await, [(engine.clone(), both(1, 2))]);
    store
        .undo_import(&Tenant::local(), no, at(9))
        .await
        .unwrap();
    assert_eq!(remotes(store).await, [(engine, both(1, 1))]);
}

pub async fn a_root_says_whether_its_project_follows_from_evidence(store: &dyn Store) {
    let (local, root) = (Tenant::local(), "/home/ada/engine");
    let said = vec![event("a").with_place(root)];
    add(store, append(&session("7f78aa01"), said)).await;
    let guess = Project {
        guessed: true,
        ..project("engine")
    };
    store
        .derive_root(&local, root, &guess, at(1))
        .await
        .unwrap();
    let record = store.roots(&local).await.unwrap().remove(0);
    assert_eq!(
        (record.project.as_deref(), record.derived),
        (Some("engine"), true)
    );
    store
        .assign_root(&local, root, &guess, at(2))
        .await
        .unwrap();
    let record = store.roots(&local).await.unwrap().remove(0);
    assert_eq!(
        (record.project.as_deref(), record.derived),
        (Some("engine"), false)
    );
    assert!(
        store
            .forget_identity(&local, &guess.identity)
            .await
            .unwrap()
    );
    assert!(
        !store
            .forget_identity(&local, &guess.identity)
            .await
            .unwrap()
    );
    assert_eq!(
        read_all(|page| store.projects(&local, page)).await.unwrap(),
        []
    );
}
