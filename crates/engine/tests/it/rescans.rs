//! What a weaker redactor stored is redacted again by a stronger one, on every store, in windows that may be interrupted.

use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::page::read_all;
use daybook_domain::seams::Append;
use daybook_domain::{EventSeq, Job, JobKind, NewEvent, Observation, Place, SessionId, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::jobs::{WorkLimits, WorkerContext, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{EventFixture, append, at, event, session};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::{OwnRule, OwnRules, RedactionConfig, Redactor};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

const CODE: &str = "DC-481516";
/// More events than one window holds.
const EVENTS: usize = 2_500;

/// A redactor that also hides codes of doors.
fn stronger() -> Redactor {
    let rule = OwnRule {
        id: "door-code".to_owned(),
        pattern: r"\bDC-\d{6}\b".to_owned(),
        ..OwnRule::default()
    };
    let own = OwnRules::compile(&[rule], &[]).unwrap();
    Redactor::new(RedactionConfig {
        own,
        ..RedactionConfig::default()
    })
}

async fn store_events(worker: &WorkerContext, id: &SessionId) {
    let all: Vec<NewEvent> = (0..EVENTS)
        .map(|n| {
            let mut event = event(&format!("event {n}"));
            if n % 500 == 0 {
                event = daybook_testkit::fixtures::event(&format!(
                    "Always use the code {CODE} for gate {n}."
                ));
                event.tool = Some(format!("tool {CODE}"));
                event.place = Some(Place {
                    root: "/nowhere/ada/tidepool".to_owned(),
                    branch: Some(format!("try/{CODE}")),
                });
            }
            event.with_time(at(n as u64))
        })
        .collect();
    for part in all.chunks(500) {
        let append = Append {
            rules: Redactor::standard().revision(),
            ..append(id, part.to_vec())
        };
        worker.store.append(&append).await.unwrap();
    }
}

/// All that is stored of the session, as text.
async fn stored(worker: &WorkerContext, id: &SessionId) -> String {
    let (from, upto) = (EventSeq(0), EventSeq(u64::MAX));
    let store = &worker.store;
    let events = store.log_entries(id, from, upto, 9_999, usize::MAX).await;
    let texts = store.session_texts(id).await.unwrap();
    let observations = observations(worker).await;
    let places = store.places(&id.tenant).await.unwrap();
    let events = events.unwrap();
    format!("{events:?} {texts:?} {observations:?} {places:?}")
}

async fn observations(worker: &WorkerContext) -> Vec<Observation> {
    let mut all = Vec::new();
    let scopes = read_all(|page| worker.store.scopes(&worker.tenant, page)).await;
    for state in scopes.unwrap() {
        all.extend(worker.store.observations(&state.scope).await.unwrap());
    }
    all
}

async fn rescan_of(worker: &WorkerContext) -> Job {
    let jobs = worker.store.jobs_of_all_tenants(JobKind::Redact).await;
    jobs.unwrap().remove(0)
}

async fn update(worker: &WorkerContext) {
    let report = work(worker, &Stop::default(), &SilentProgress).await;
    let failed = report.unwrap().failed;
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn what_was_stored_under_weaker_rules_is_redacted_by_stronger_ones_and_once() {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let root = TempDir::new().unwrap();
        let mut worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: None,
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::new(ManualClock::at(at(100_000))),
            extractor: Arc::new(Extractive),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: Redactor::standard(),
            limits: WorkLimits::default(),
        };
        run(async {
            let id = session("aaaa");
            store_events(&worker, &id).await;
            update(&worker).await;
            assert!(
                worker
                    .store
                    .jobs_of_all_tenants(JobKind::Redact)
                    .await
                    .unwrap()
                    .is_empty()
            );
            assert!(stored(&worker, &id).await.matches(CODE).count() > 10);
            let held = observations(&worker).await;
            assert!(held.iter().any(|o| o.text.contains(CODE)), "{held:?}");

            worker.redactor = stronger();
            update(&worker).await;
            let after = stored(&worker, &id).await;
            assert!(!after.contains(CODE));
            let held = observations(&worker).await;
            assert!(
                held.iter().any(|o| o.text.contains("[REDACTED:door-code]")),
                "{held:?}"
            );
            let job = rescan_of(&worker).await;
            assert_eq!(
                (job.done, job.input),
                (EVENTS as u64 + 1, EVENTS as u64 + 1)
            );
            // Two windows and a half, and what is stored beside the events.
            assert_eq!(job.claims, 4);

            update(&worker).await;
            assert_eq!(stored(&worker, &id).await, after);
            assert_eq!(rescan_of(&worker).await, job);
        });
    }
}
