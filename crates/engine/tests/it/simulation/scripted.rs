//! An extractor without judgement: each human event is one fact. It takes several steps, and fails as the
//! events say.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use daybook_domain::{Digest, FailureClass, ObservationKind, Wait};
use daybook_engine::extract::{Draft, ExtractError, Extracted, Extractor, Window};
use daybook_testkit::simulation::{Gate, teaches};

use super::sessions::{FLAKY, POISON};

/// How often an event makes the extractor fail that does not for good.
const FLAKY_TRIES: u32 = 2;

/// What all extractors share.
#[derive(Debug, Default)]
pub(super) struct Provider {
    /// It answers nobody.
    pub(super) is_out: AtomicBool,
    /// How often each event has failed.
    failed: Mutex<BTreeMap<String, u32>>,
}

/// One worker's extractor.
pub(super) struct Scripted {
    pub(super) gate: Gate,
    pub(super) provider: Arc<Provider>,
}

#[async_trait]
impl Extractor for Scripted {
    fn name(&self) -> &str {
        "scripted/1"
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
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
        let heard = window.events.iter().filter(|event| teaches(event));
        let drafts: Vec<Draft> = heard
            .map(|event| Draft {
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
        Ok(Extracted {
            drafts,
            digest,
            ..Extracted::default()
        })
    }
}

impl Provider {
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
        wait: Wait::Unsaid,
    }
}
