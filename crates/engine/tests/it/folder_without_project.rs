//! A worker may extract a session before its importer assigns its folders to projects.

use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::page::read_all;
use daybook_domain::{ScopeKind, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::jobs::{WorkLimits, WorkerContext, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{EventFixture, append, at, event, session};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

/// An import assigns its folders to projects after it has read everything.
#[test]
fn what_is_learned_before_its_folder_has_a_project_is_filed_in_one() {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let root = TempDir::new().unwrap();
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::new(ManualClock::at(at(10_000))),
            extractor: Arc::new(Extractive),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits::default(),
        };
        run(async {
            let said =
                event("set the cache limit to 50 entries").with_place("/nowhere/ada/tidepool");
            let append = append(&session("aaaa"), vec![said]);
            worker.store.append(&append).await.unwrap();
            work(&worker, &Stop::default(), &SilentProgress)
                .await
                .unwrap();
            let scopes = read_all(|page| worker.store.scopes(&worker.tenant, page))
                .await
                .unwrap();
            let told = scopes.iter().filter(|state| state.observations > 0);
            let told: Vec<_> = told
                .map(|s| (s.scope.kind, s.scope.name.as_str()))
                .collect();
            assert_eq!(told, [(ScopeKind::Project, "tidepool")]);
        });
    }
}
