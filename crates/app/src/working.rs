//! What keeps threads, put together from what settings choose.
//!
//! Not here: what is asked of threads (`threads`), how they are kept (the engine).

use std::sync::Arc;

use anyhow::Result;
use daybook_domain::model::Model;
use daybook_domain::{Session, SessionKind};
use daybook_engine::extract::model::AskedAbout;
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::working::compact::Count;
use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_engine::working::reduce::ReducerRegistry;
use daybook_llm::{Tokenizer, Vocabulary};

use crate::settings::models::Chosen;
use crate::wiring::Daybook;

/// The stage that condensing chunks is charged to.
const COMPACT: &str = "compact";
/// Whose threads are that name no agent.
pub(crate) const AGENT: &str = "agent";

impl Daybook {
    /// What keeps the tenant's threads.
    ///
    /// # Errors
    /// When the model that condenses cannot be asked as it is configured.
    pub(crate) fn manager(&self) -> Result<MemoryManager> {
        if let Some(made) = self.manager.get() {
            return Ok(made.clone());
        }
        let manager = self.manager_with(self.settings.models.compacting.auto)?;
        Ok(self.manager.get_or_init(|| manager).clone())
    }

    /// One of its own, that compacts without being asked or does not.
    pub(crate) fn manager_with(&self, auto: bool) -> Result<MemoryManager> {
        let model = match self.compact_model() {
            Some(chosen) => Some(self.in_turn(chosen)?),
            None => None,
        };
        let config = self.working(model.clone(), auto);
        let manager = MemoryManager::new(
            Arc::clone(&self.threads),
            ReducerRegistry::default(),
            model.clone(),
            Arc::clone(&self.clock),
            config,
        );
        Ok(match model {
            Some(model) => manager.asking(self.charged(model)),
            None => manager,
        })
    }

    /// The model that condenses for this tenant, if there is one.
    fn compact_model(&self) -> Option<&Chosen> {
        let chosen = self.settings.models.compact.as_ref();
        chosen.filter(|chosen| !chosen.forbidden.contains(&self.tenant))
    }

    fn working(&self, model: Option<Arc<dyn Model>>, auto: bool) -> MemoryManagerConfig {
        let compacting = self.settings.models.compacting;
        let count: Count = match model {
            Some(model) => Arc::new(move |text: &str| model.count_tokens(text)),
            None => Arc::new(|text: &str| Vocabulary::Other.count(text)),
        };
        MemoryManagerConfig {
            llm: compacting.llm,
            auto_compact_enabled: auto,
            auto_compact_threshold: compacting.threshold,
            auto_compact_tokens: compacting.tokens,
            count,
            tenant: self.tenant.clone(),
            agent: AGENT.to_owned(),
            user: None,
            kind: SessionKind::Root,
            patience: self.settings.profile.triggers.patience,
            switches: self.switches(),
            redactor: Redactor::standard(),
            ..MemoryManagerConfig::default()
        }
    }

    /// Charges each call to the session of its thread.
    fn charged(&self, model: Arc<dyn Model>) -> Arc<AskedAbout> {
        let run = format!("threads-{}-{}", std::process::id(), self.clock.now().0);
        let (meter, person) = (self.meter(&run), self.settings.person.clone());
        Arc::new(move |session: &Session| {
            Arc::new(meter.about(Arc::clone(&model), COMPACT, session, &person)) as Arc<dyn Model>
        })
    }
}
