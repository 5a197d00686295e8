//! Tenants whose sessions a provider must never see: another extractor reads them.
//!
//! Not here: which tenants these are.

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::Tenant;

use super::{Expected, ExtractError, Extracted, Extractor, Window};

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

    fn forecast(&self, window: Window<'_>) -> Option<Expected> {
        let may_ask = !self.tenants.contains(&window.session.id.tenant);
        may_ask.then(|| self.asked.forecast(window)).flatten()
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
        if !self.tenants.contains(&window.session.id.tenant) {
            return self.asked.extract(window).await;
        }
        let extracted = self.other.extract(window).await?;
        Ok(Extracted {
            made_by: Some(self.other.name().to_owned()),
            ..extracted
        })
    }
}
