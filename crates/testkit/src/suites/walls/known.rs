//! Meetings of two tenants that chance seldom arranges.

use daybook_domain::seams::Store;
use daybook_domain::{Evidence, Observation, Scope, SessionId, Tenant};

use crate::fixtures::{
    EventShape, append, at, event, events, evidence, imported, observation, project, source,
};
use crate::model::view;

const ROOT: &str = "/home/ada/engine";

/// A session of each tenant, of the same name.
fn sessions() -> [SessionId; 2] {
    ["left", "right"].map(|name| {
        let [session, ..] = view::sessions_of(&Tenant(name.to_owned()));
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
        let last = store.imports(tenant, 1).await.unwrap()[0].no;
        store.undo_import(tenant, last, at(9)).await.unwrap();
    }
    assert_eq!(store.sources(&own.tenant).await.unwrap(), []);
    let before = [source("/logs/a", &other, 2)];
    assert_eq!(store.sources(&other.tenant).await.unwrap(), before);
}

/// Assigning a root moves what was observed there, and what was taken back, for its own tenant.
pub async fn assigning_a_root_leaves_the_same_root_of_another_tenant(store: &dyn Store) {
    let ids = sessions();
    for id in &ids {
        let said = vec![event("use tabs").in_place(ROOT)];
        store.append(&append(id, said)).await.unwrap();
        let guess = project("guess");
        let assigned = store.assign_root(&id.tenant, ROOT, &guess, at(1)).await;
        assigned.unwrap();
        let (kept, gone) = (seen(id, "kept"), seen(id, "gone"));
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
        let (kept, gone) = (seen(&id, "kept"), seen(&id, "gone"));
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

/// Something said under the root, filed in the project that it is guessed to be.
fn seen(id: &SessionId, text: &str) -> Observation {
    let [scope, ..] = view::scopes_of(&id.tenant);
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
