//! Builds the manager of threads from settings.
//!
//! Not here: requests about threads (`threads`), and how threads are kept (the engine).

use std::sync::Arc;

use anyhow::Result;
use daybook_domain::model::Model;
use daybook_domain::{Session, SessionKind};
use daybook_engine::extract::model::ModelForSession;
use daybook_llm::{TokenVocabulary, Tokenizer};
use daybook_text::redact::Redactor;
use daybook_working::compact::{Count, LlmConfig};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_working::reduce::ReducerRegistry;

use crate::settings::chosen_model::ChosenModel;
use crate::wiring::Daybook;

/// The stage that calls for compactions are charged to.
const COMPACT: &str = "compact";
/// The agent of threads that name none.
pub(crate) const DEFAULT_AGENT: &str = "agent";

impl Daybook {
    /// The manager of the tenant's threads.
    ///
    /// # Errors
    /// When the configuration of the compaction model is invalid.
    pub(crate) fn thread_manager(&self) -> Result<MemoryManager> {
        if let Some(manager) = self.thread_manager.get() {
            return Ok(manager.clone());
        }
        let manager = self.new_thread_manager(self.settings.models.compacting.auto)?;
        Ok(self.thread_manager.get_or_init(|| manager).clone())
    }

    /// A manager of the caller's own, which compacts by itself if `auto` is set.
    pub(crate) fn new_thread_manager(&self, auto: bool) -> Result<MemoryManager> {
        let model = match self.compaction_model() {
            Some(chosen) => Some(self.models().limited_model(chosen)?),
            None => None,
        };
        let config = self.manager_config(model.clone(), auto);
        let manager = MemoryManager::new(
            Arc::clone(&self.threads),
            ReducerRegistry::default(),
            model.clone(),
            Arc::clone(&self.clock),
            config,
        );
        Ok(match model {
            Some(model) => manager.with_model_for(self.charge_sessions(model)),
            None => manager,
        })
    }

    /// The model that writes compactions for this tenant, if any.
    fn compaction_model(&self) -> Option<&ChosenModel> {
        let chosen = self.settings.models.compact.as_ref();
        chosen.filter(|chosen| !chosen.forbidden.contains(&self.tenant))
    }

    fn manager_config(&self, model: Option<Arc<dyn Model>>, auto: bool) -> MemoryManagerConfig {
        let compacting = &self.settings.models.compacting;
        let defaults = MemoryManagerConfig::default();
        let compact_model = model.as_ref().map(|model| model.name().to_owned());
        let count: Count = match model {
            Some(model) => Arc::new(move |text: &str| model.count_tokens(text)),
            None => Arc::new(|text: &str| TokenVocabulary::Other.count(text)),
        };
        MemoryManagerConfig {
            llm: LlmConfig {
                compact_model,
                ..compacting.llm.clone()
            },
            auto_compact_enabled: auto,
            auto_compact_threshold: compacting.threshold,
            auto_compact_tokens: compacting.tokens,
            // The setting says what the agent's model can read, too: it is four fifths of the window.
            window_tokens: compacting
                .tokens
                .map_or(defaults.window_tokens, |tokens| tokens / 4 * 5),
            count,
            tenant: self.tenant.clone(),
            agent: DEFAULT_AGENT.to_owned(),
            user: None,
            kind: SessionKind::Root,
            patience: self.settings.profile.triggers.patience,
            switches: self.switches(),
            redactor: Redactor::current(),
            ..defaults
        }
    }

    /// Puts a meter before the model, which charges each call to the session of its thread.
    fn charge_sessions(&self, model: Arc<dyn Model>) -> Arc<ModelForSession> {
        let run = format!("threads-{}-{}", std::process::id(), self.clock.now().0);
        let (meter, person) = (self.models().meter(&run), self.settings.person.clone());
        Arc::new(move |session: &Session| {
            Arc::new(meter.budgeted_for_session(Arc::clone(&model), COMPACT, session, &person))
                as Arc<dyn Model>
        })
    }
}
