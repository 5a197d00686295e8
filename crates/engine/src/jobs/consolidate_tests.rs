use std::sync::Arc;

use daybook_domain::{JobKind, Tenant};
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::{
    LEASE, at, claim_of, event, evidence, extraction, imported, observation, session, user_scope,
};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;

use super::*;
use crate::extract::extractive::Extractive;
use crate::jobs::WorkLimits;

const RULE: &str = "always write the test first";

/// Learns a rule, and is killed when its file is written and the job is not complete yet.
async fn killed_after_writing(worker: &WorkerContext, scope: &Scope) {
    let (store, id) = (&worker.store, session("aaaa"));
    let import = store.begin_import(&scope.tenant, "a", at(1)).await.unwrap();
    let events = imported(&id, vec![event(RULE)], "a.jsonl", import);
    store.append(&events).await.unwrap();
    let now = worker.clock.now();
    let claimed = store
        .claim(claim_of(JobKind::Extract, now, 1))
        .await
        .unwrap();
    let learned = observation(scope, RULE, vec![evidence(&id, &[1])]);
    let learned = extraction(&id, (1, 1), vec![learned]);
    let finished = store.finish_extraction(&claimed[0].token, &learned, now);
    let _ = finished.await.unwrap();
    let claimed = store
        .claim(claim_of(JobKind::Consolidate, now, 1))
        .await
        .unwrap();
    write_memory(worker, &claimed[0], scope).await.unwrap();
    store.undo_import(&scope.tenant, import, now).await.unwrap();
}

#[test]
fn a_line_that_no_longer_holds_goes_though_the_process_that_wrote_it_was_killed() {
    let root = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(at(10_000)));
    let worker = WorkerContext {
        store: Arc::new(MemoryStore::default()),
        trees: None,
        before_files: None,
        root: root.path().to_owned(),
        clock: Arc::clone(&clock) as Arc<_>,
        extractor: Arc::new(Extractive),
        consolidation_model: None,
        holder: "worker".to_owned(),
        person: "ada".to_owned(),
        zone: TimeZone::UTC,
        tenant: Tenant::local(),
        switches: daybook_domain::eligibility::Switches::default(),
        redactor: daybook_text::redact::Redactor::standard(),
        limits: WorkLimits::default(),
    };
    let scope = user_scope("ada");
    let file = folder(root.path(), &scope).join("MEMORY.md");
    run(async {
        killed_after_writing(&worker, &scope).await;
        assert!(std::fs::read_to_string(&file).unwrap().contains(RULE));
        let now = clock.advance(LEASE * 2);
        let claimed = worker
            .store
            .claim(claim_of(JobKind::Consolidate, now, 1))
            .await
            .unwrap();
        consolidate(&worker, &claimed[0], &scope).await.unwrap();
        // Nor is a heading left without a line.
        assert!(!file.exists());
    });
}
