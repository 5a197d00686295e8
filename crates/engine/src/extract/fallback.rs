//! Fills in with another extractor where a cap has no room for the one that was asked.
//!
//! The extraction's provenance names both and when the cap has room again ([`FallbackFor`]), so that the session can
//! be redone then. The fallback is used only if the end of the cap's period brings room, and never in a redo: there
//! the earlier results still hold, and the extractions since its beginning would be paid for once more.
//!
//! Not here: when a session is redone (`jobs::redo`).

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::calendar::Day;
use daybook_domain::{FailureClass, FallbackFor, Provenance, RetryWait, SessionId};

use super::{ExtractError, Extractor, ExtractorOutput, LookBack, TokenForecast, Window};

/// Extracts with a primary extractor, and with a fallback where a cap has no room for it.
pub struct FallbackExtractor {
    primary: Arc<dyn Extractor>,
    fallback: Arc<dyn Extractor>,
}

impl FallbackExtractor {
    /// Extracts with `primary`, and at a cap with `fallback`.
    #[must_use]
    pub fn new(primary: Arc<dyn Extractor>, fallback: Arc<dyn Extractor>) -> Self {
        Self { primary, fallback }
    }
}

#[async_trait]
impl Extractor for FallbackExtractor {
    fn name(&self) -> &str {
        self.primary.name()
    }

    fn name_for(&self, session: &SessionId) -> &str {
        self.primary.name_for(session)
    }

    fn wants_known(&self) -> bool {
        self.primary.wants_known()
    }

    fn look_back(&self) -> LookBack {
        self.primary.look_back().max(self.fallback.look_back())
    }

    fn forecast(&self, window: Window<'_>) -> Option<TokenForecast> {
        self.primary
            .forecast(window.with_look_back(self.primary.look_back()))
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let shown = window.with_look_back(self.primary.look_back());
        let at_cap = match self.primary.extract(shown).await {
            Err(error) if error.class == FailureClass::AtCap && !window.is_redone => error,
            done => return done,
        };
        let RetryWait::Until(until) = at_cap.wait else {
            return Err(at_cap);
        };
        let extracted = self.fallback.extract(window).await?;
        let fallback_for = FallbackFor {
            extractor: self.primary.name_for(&window.session.id).to_owned(),
            until: Day::of(until).begins(),
        };
        Ok(ExtractorOutput {
            provenance: Some(Provenance {
                extractor: self.fallback.name().to_owned(),
                fallback_for: Some(fallback_for),
            }),
            ..extracted
        })
    }
}
