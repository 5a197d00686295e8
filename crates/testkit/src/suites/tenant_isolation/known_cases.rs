//! Cases of two tenants in one store that random sequences seldom produce.

use daybook_domain::seams::Store;
use daybook_domain::{Evidence, Observation, PageRequest, Scope, SessionId, Tenant};

use crate::fixtures::{
    EventFixture, append, at, event, events, evidence, imported, observation, project, source,
};
use crate::model::subjects;

const ROOT: &str = "/home/ada/engine";

/// A session of each tenant, of the same name.
fn sessions() -> [SessionId; 2] {
    ["left", "right"].map(|name| {
        let [session, ..] = subjects::sessions_of(&Tenant(name.to_owned()));
        session
    })
}

/// Undoing an import puts files back as they were before, for its own tenant.
pub async fn undoing_an_import_leaves_the_same_file_of_another_tenant(store: &dyn Store) {
    let [own, other] = sessions();
    for (id, count) in [(&own, 2), (&other, 2), (&other, 3)] {
        let import = store.begin_import(&id.tenant, "all", at(0)).await.unwrap();
        let append = imported(id, events("word", count), "/logs/a", import);
        store.append(&append).await.unwrap();
    }
    for tenant in [&own.tenant, &other.tenant] {
        let last = store
            .imports(tenant, PageRequest::first(1))
            .await
            .unwrap()
            .items[0]
            .no;
        store.undo_import(tenant, last, at(9)).await.unwrap();
    }
    assert_eq!(
        store
            .sources(&own.tenant, PageRequest::first(1000))
            .await
            .unwrap()
            .items,
        []
    );
    let before = [source("/logs/a", &other, 2)];
    assert_eq!(
        store
            .sources(&other.tenant, PageRequest::first(1000))
            .await
            .unwrap()
            .items,
        before
    );
}

/// Assigning a root moves what was observed there, and what was taken back, for its own tenant.
pub async fn assigning_a_root_leaves_the_same_root_of_another_tenant(store: &dyn Store) {
    let ids = sessions();
    for id in &ids {
        let said = vec![event("use tabs").with_place(ROOT)];
        store.append(&append(id, said)).await.unwrap();
        let guess = project("guess");
        let assigned = store.assign_root(&id.tenant, ROOT, &guess, at(1)).await;
        assigned.unwrap();
        let (kept, gone) = (
            observation_under_root(id, "kept"),
            observation_under_root(id, "gone"),
        );
        let both = [kept, gone.clone()];
        store.observe(&both, at(2)).await.unwrap();
        assert!(store.retract(&gone.scope, gone.id, at(3)).await.unwrap());
    }
    let [own, other] = ids;
    let engine = project("engine");
    let assigned = store.assign_root(&own.tenant, ROOT, &engine, at(4)).await;
    assigned.unwrap();
    for (id, key) in [(own, "engine"), (other, "guess")] {
        let places = store.places(&id.tenant).await.unwrap();
        assert_eq!(places[0].1.as_deref(), Some(key));
        let (kept, gone) = (
            observation_under_root(&id, "kept"),
            observation_under_root(&id, "gone"),
        );
        let scope = Scope {
            name: key.to_owned(),
            ..kept.scope
        };
        let again = observation(&scope, "gone", gone.evidence);
        store.observe(&[again], at(5)).await.unwrap();
        let held = store.observations(&scope).await.unwrap();
        let texts: Vec<&str> = held.iter().map(|held| held.text.as_str()).collect();
        assert_eq!(texts, ["kept"], "{key}");
    }
}

/// An observation made under the root, filed in the project that is guessed for it.
fn observation_under_root(id: &SessionId, text: &str) -> Observation {
    let [scope, ..] = subjects::scopes_of(&id.tenant);
    let scope = Scope {
        name: "guess".to_owned(),
        ..scope
    };
    let evidence = Evidence {
        root: Some(ROOT.to_owned()),
        ..evidence(id, &[1])
    };
    observation(&scope, text, vec![evidence])
}
