//! Ends an extraction that takes too long.
//!
//! What takes too long is a failed try of its window, and no outage: a window that is narrowed takes less time, and the
//! limit on an answer of its provider detects an outage.
//!
//! Not here: the limit, which settings name.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::{FailureClass, RetryWait, SessionId};

use super::{ExtractError, Extractor, ExtractorOutput, LookBack, TokenForecast, Window};

/// Extracts with another extractor, for a bounded time.
pub struct TimeLimited {
    inner: Arc<dyn Extractor>,
    limit: Duration,
}

impl TimeLimited {
    /// Extracts with `inner`, each window for at most `limit`.
    #[must_use]
    pub fn new(inner: Arc<dyn Extractor>, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

#[async_trait]
impl Extractor for TimeLimited {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn name_for(&self, session: &SessionId) -> &str {
        self.inner.name_for(session)
    }

    fn wants_known(&self) -> bool {
        self.inner.wants_known()
    }

    fn look_back(&self) -> LookBack {
        self.inner.look_back()
    }

    fn forecast(&self, window: Window<'_>) -> Option<TokenForecast> {
        self.inner.forecast(window)
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let extracting = self.inner.extract(window);
        let Ok(extracted) = tokio::time::timeout(self.limit, extracting).await else {
            // The last word of its name is the model's, as in messages about the model itself.
            let name = self.inner.name_for(&window.session.id);
            let model = name.rsplit(' ').next().unwrap_or(name);
            let limit = self.limit;
            return Err(ExtractError {
                class: FailureClass::Content,
                message: format!(
                    "{model} took longer than {limit:?}, the limit of one extraction (extraction_timeout)"
                ),
                wait: RetryWait::Unspecified,
            });
        };
        extracted
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::Event;

    use super::*;
    use crate::extract::KnownMemory;
    use crate::extract::per_agent::test_support::{Named, session_of};

    #[tokio::test(start_paused = true)]
    async fn an_extraction_that_takes_too_long_is_a_failed_try() {
        let slow = Arc::new(Named::taking(
            "silent_turn/2 model/1",
            Duration::from_secs(31),
        ));
        let session = session_of("codex");
        let events: [Event; 0] = [];
        let window = Window {
            session: &session,
            before: &[],
            events: &events,
            known: KnownMemory::default(),
            is_redone: false,
        };
        let within = |limit| TimeLimited::new(Arc::clone(&slow) as _, Duration::from_secs(limit));
        assert!(within(32).extract(window).await.is_ok());
        let error = within(30)
            .extract(window)
            .await
            .expect_err("it takes too long");
        assert_eq!(error.class, FailureClass::Content);
        assert_eq!(
            error.message,
            "model/1 took longer than 30s, the limit of one extraction (extraction_timeout)"
        );
    }
}
