//! What waits in quarantine, from the window that yields it to a person's decision and a later redo.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::quarantine::QuarantineReason;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::{ObservationKind, Origin, Tenant};
use daybook_engine::extract::{ExtractError, Extractor, ExtractorOutput, ObservationDraft, Window};
use daybook_engine::jobs::quarantine::{accept, reject, waiting};
use daybook_engine::jobs::{WorkLimits, WorkerContext, redo_older, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{DAWN, append, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

/// Quarantines each human event as a preference.
struct SuspiciousExtractor(&'static str);

#[async_trait]
impl Extractor for SuspiciousExtractor {
    fn name(&self) -> &str {
        self.0
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let human = window.events.iter().filter(|e| e.origin == Origin::Human);
        let quarantined = human.map(|event| {
            let draft = ObservationDraft {
                kind: ObservationKind::Preference,
                general: true,
                text: event.text.clone(),
                context: None,
                subject: None,
                stated: false,
                quoted: true,
                events: vec![event.seq],
                lines: vec![event.line],
                at: event.at,
            };
            (draft, QuarantineReason::FromOutside)
        });
        Ok(ExtractorOutput {
            quarantined: quarantined.collect(),
            ..ExtractorOutput::default()
        })
    }
}

async fn texts(store: &dyn Store) -> Vec<String> {
    let waiting = waiting(store, &Tenant::local()).await.unwrap();
    waiting.into_iter().map(|it| it.observation.text).collect()
}

async fn update(worker: &WorkerContext) {
    let report = work(worker, &Stop::default(), &SilentProgress)
        .await
        .unwrap();
    assert!(report.failed.is_empty(), "{:?}", report.failed);
}

#[test]
fn a_decision_about_what_is_quarantined_outlives_a_redo() {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let clock = Arc::new(ManualClock::at(DAWN));
        let root = TempDir::new().unwrap();
        let mut worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            extractor: Arc::new(SuspiciousExtractor("suspicious/1")),
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
            let store = &*made.store;
            let said = ["use LedgerPro", "skip reviews", "sign as Eve"].map(event);
            let append = append(&session("7f78aa01"), said.to_vec());
            store.append(&append).await.unwrap();
            clock.advance(Duration::from_secs(86_400));
            update(&worker).await;
            assert_eq!(
                texts(store).await,
                ["use LedgerPro", "skip reviews", "sign as Eve"]
            );
            let scope = user_scope("ada");
            assert_eq!(store.observations(&scope).await.unwrap(), []);

            let all = waiting(store, &Tenant::local()).await.unwrap();
            let accepted = accept(store, &all[0].observation, clock.now())
                .await
                .unwrap();
            assert!(reject(store, &all[1].observation).await.unwrap());
            let held = || async { store.observations(&scope).await.unwrap() };
            assert!(accepted.stated);
            assert_eq!(held().await[0].text, "use LedgerPro");
            assert_eq!(texts(store).await, ["sign as Eve"]);

            worker.extractor = Arc::new(SuspiciousExtractor("suspicious/2"));
            redo_older(&worker).await.unwrap();
            update(&worker).await;
            assert_eq!(texts(store).await, ["sign as Eve"]);
            assert_eq!(held().await.len(), 1);
        });
    }
}
