//! An extractor that turns each human event into one fact. It takes several steps, and fails as the events
//! demand.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use daybook_domain::{Digest, FailureClass, ObservationKind, RetryWait};
use daybook_engine::extract::{ExtractError, Extractor, ExtractorOutput, ObservationDraft, Window};
use daybook_testkit::simulation::{CallGate, yields_observation};

use super::sessions::{FLAKY, POISON};

/// How often an event with a transient fault makes the extractor fail.
const FLAKY_TRIES: u32 = 2;

/// State shared by all extractors.
#[derive(Debug, Default)]
pub(super) struct SimulatedProvider {
    /// Whether every call fails.
    pub(super) is_out: AtomicBool,
    /// How often each event has failed.
    failed: Mutex<BTreeMap<String, u32>>,
}

/// One worker's extractor.
pub(super) struct FactExtractor {
    pub(super) gate: CallGate,
    pub(super) provider: Arc<SimulatedProvider>,
}

#[async_trait]
impl Extractor for FactExtractor {
    fn name(&self) -> &str {
        "scripted/1"
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        for _ in 0..window.events.len() % 3 {
            self.gate.pause().await;
        }
        if self.provider.is_out.load(Ordering::SeqCst) {
            return Err(failed(FailureClass::Outage, "the provider is out"));
        }
        for event in window.events {
            if event.text.contains(POISON) || self.provider.fails_at(&event.text) {
                return Err(failed(FailureClass::Content, "no usable answer"));
            }
        }
        let heard = window
            .events
            .iter()
            .filter(|event| yields_observation(event));
        let drafts: Vec<ObservationDraft> = heard
            .map(|event| ObservationDraft {
                kind: ObservationKind::Fact,
                general: false,
                text: event.text.clone(),
                context: None,
                subject: None,
                stated: true,
                quoted: true,
                events: vec![event.seq],
                lines: vec![event.line],
                at: event.at,
            })
            .collect();
        let last = window.events.last();
        let digest = Digest {
            root: last.and_then(|event| Some(event.place.as_ref()?.root.clone())),
            from_at: window
                .events
                .first()
                .map_or(Default::default(), |first| first.at),
            to_at: last.map_or(Default::default(), |last| last.at),
            ..Digest::default()
        };
        let digest = (!drafts.is_empty()).then_some(digest);
        Ok(ExtractorOutput {
            drafts,
            digest,
            ..ExtractorOutput::default()
        })
    }
}

impl SimulatedProvider {
    fn fails_at(&self, text: &str) -> bool {
        if !text.contains(FLAKY) {
            return false;
        }
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let times = failed.entry(text.to_owned()).or_default();
        *times += 1;
        *times <= FLAKY_TRIES
    }
}

fn failed(class: FailureClass, message: &str) -> ExtractError {
    ExtractError {
        class,
        message: message.to_owned(),
        wait: RetryWait::Unspecified,
    }
}
