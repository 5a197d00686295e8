//! One worker serves all tenants, and keeps their data apart.

use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::page::read_all;
use daybook_domain::seams::Store;
use daybook_domain::{Scope, SessionId, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::{WorkLimits, WorkerContext, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{EventFixture, append, at, event, project, project_scope, session};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

const ROOT: &str = "/home/ada/engine";

/// The same folder belongs to another project for each tenant.
#[test]
fn what_is_learned_is_filed_by_the_places_of_its_own_tenant() {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        run(check(Arc::clone(&made.store), TempDir::new().unwrap()));
    }
}

async fn check(store: Arc<dyn Store>, root: TempDir) {
    let own = Tenant::local();
    let other = Tenant("other".to_owned());
    let scopes = [(&own, "tidepool"), (&other, "harbour")].map(|(tenant, key)| Scope {
        tenant: tenant.clone(),
        ..project_scope(key)
    });
    for scope in &scopes {
        let id = SessionId {
            tenant: scope.tenant.clone(),
            ..session("aaaa")
        };
        let said = event("set the cache limit to 50 entries").with_place(ROOT);
        store.append(&append(&id, vec![said])).await.unwrap();
        let project = project(&scope.name);
        let assigned = store.assign_root(&scope.tenant, ROOT, &project, at(1));
        assigned.await.unwrap();
    }
    let worker = WorkerContext {
        store: Arc::clone(&store),
        trees: None,
        before_files: None,
        root: root.path().to_owned(),
        clock: Arc::new(ManualClock::at(at(10_000))),
        extractor: Arc::new(Extractive),
        consolidation_model: None,
        holder: "worker".to_owned(),
        person: "ada".to_owned(),
        zone: TimeZone::UTC,
        tenant: own,
        switches: Switches::default(),
        redactor: daybook_text::redact::Redactor::standard(),
        limits: WorkLimits::default(),
    };
    let report = work(&worker, &Stop::default(), &SilentProgress)
        .await
        .unwrap();
    assert_eq!(report.observations, 2);
    for scope in &scopes {
        assert_eq!(store.observations(scope).await.unwrap().len(), 1);
        let page = folder(root.path(), scope).join("MEMORY.md");
        let text = std::fs::read_to_string(page).unwrap();
        assert!(text.contains("cache limit"), "{text}");
        let theirs = read_all(|page| store.scopes(&scope.tenant, page))
            .await
            .unwrap();
        let projects = theirs.iter().filter(|s| s.scope.kind == scope.kind);
        let names: Vec<&str> = projects.map(|s| s.scope.name.as_str()).collect();
        assert_eq!(names, [&scope.name]);
    }
}
