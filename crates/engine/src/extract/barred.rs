//! Tenants whose sessions a provider must never see: another extractor reads them.
//!
//! Not here: which tenants these are.

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::Tenant;

use super::{Expected, ExtractError, Extracted, Extractor, LookBack, Window};

/// An extractor that is asked, and one for the tenants who may not ask it.
pub struct Barred {
    asked: Arc<dyn Extractor>,
    other: Arc<dyn Extractor>,
    tenants: Vec<Tenant>,
}

impl Barred {
    /// Asks `asked`, but about sessions of `tenants` only `other`.
    #[must_use]
    pub fn new(asked: Arc<dyn Extractor>, other: Arc<dyn Extractor>, tenants: Vec<Tenant>) -> Self {
        Self {
            asked,
            other,
            tenants,
        }
    }
}

#[async_trait]
impl Extractor for Barred {
    fn name(&self) -> &str {
        self.asked.name()
    }

    fn wants_known(&self) -> bool {
        self.asked.wants_known()
    }

    fn look_back(&self) -> LookBack {
        self.asked.look_back().max(self.other.look_back())
    }

    fn forecast(&self, window: Window<'_>) -> Option<Expected> {
        let may_ask = !self.tenants.contains(&window.session.id.tenant);
        let shown = window.shown(self.asked.look_back());
        may_ask.then(|| self.asked.forecast(shown)).flatten()
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
        if !self.tenants.contains(&window.session.id.tenant) {
            let shown = window.shown(self.asked.look_back());
            return self.asked.extract(shown).await;
        }
        let extracted = self.other.extract(window).await?;
        Ok(Extracted {
            made_by: Some(self.other.name().to_owned()),
            ..extracted
        })
    }
}
