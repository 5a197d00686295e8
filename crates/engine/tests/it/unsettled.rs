//! Workers may be faster than whoever takes a session in.

use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::{Scope, ScopeKind, SessionId, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::jobs::{Progress, WorkLimits, Workshop, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{EventShape, append, at, event, session};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::stores;

struct Unseen;

impl Progress for Unseen {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

/// An import says which project its folders belong to when it has read everything.
#[test]
fn what_is_learned_before_its_folder_has_a_project_is_filed_in_one() {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let root = TempDir::new().unwrap();
        let shop = Workshop {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            root: root.path().to_owned(),
            clock: Arc::new(ManualClock::at(at(10_000))),
            extractor: Arc::new(Extractive),
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            limits: WorkLimits::default(),
        };
        run(async {
            let said = event("set the cache limit to 50 entries").in_place("/nowhere/ada/tidepool");
            let append = append(&session("aaaa"), vec![said]);
            shop.store.append(&append).await.unwrap();
            work(&shop, &Stop::default(), &Unseen).await.unwrap();
            let scopes = shop.store.scopes(&shop.tenant).await.unwrap();
            let told = scopes.iter().filter(|state| state.observations > 0);
            let told: Vec<_> = told
                .map(|s| (s.scope.kind, s.scope.name.as_str()))
                .collect();
            assert_eq!(told, [(ScopeKind::Project, "tidepool")]);
        });
    }
}
