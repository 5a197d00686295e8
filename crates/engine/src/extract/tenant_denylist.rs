//! Keeps the sessions of denied tenants away from a provider.
//!
//! Another extractor reads them.
//!
//! Not here: the list of these tenants, which settings name.

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::{Provenance, SessionId, Tenant};

use super::{ExtractError, Extractor, ExtractorOutput, LookBack, TokenForecast, Window};

/// Routes windows of denied tenants to another extractor.
pub struct TenantDenylist {
    primary: Arc<dyn Extractor>,
    fallback: Arc<dyn Extractor>,
    tenants: Vec<Tenant>,
}

impl TenantDenylist {
    /// Extracts with `primary`, and sessions of `tenants` with `fallback` alone.
    #[must_use]
    pub fn new(
        primary: Arc<dyn Extractor>,
        fallback: Arc<dyn Extractor>,
        tenants: Vec<Tenant>,
    ) -> Self {
        Self {
            primary,
            fallback,
            tenants,
        }
    }
}

#[async_trait]
impl Extractor for TenantDenylist {
    fn name(&self) -> &str {
        self.primary.name()
    }

    fn name_for(&self, session: &SessionId) -> &str {
        match self.tenants.contains(&session.tenant) {
            true => self.fallback.name_for(session),
            false => self.primary.name_for(session),
        }
    }

    fn wants_known(&self) -> bool {
        self.primary.wants_known()
    }

    fn look_back(&self) -> LookBack {
        self.primary.look_back().max(self.fallback.look_back())
    }

    fn forecast(&self, window: Window<'_>) -> Option<TokenForecast> {
        let is_allowed = !self.tenants.contains(&window.session.id.tenant);
        let shown = window.with_look_back(self.primary.look_back());
        is_allowed.then(|| self.primary.forecast(shown)).flatten()
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        if !self.tenants.contains(&window.session.id.tenant) {
            let shown = window.with_look_back(self.primary.look_back());
            return self.primary.extract(shown).await;
        }
        let extracted = self.fallback.extract(window).await?;
        Ok(ExtractorOutput {
            provenance: Some(Provenance::of(self.fallback.name())),
            ..extracted
        })
    }
}
