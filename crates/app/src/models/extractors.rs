//! Builds the extractor that settings choose, with its fallbacks and its meter.
//!
//! Not here: reaching a model (`providers`), prompting it (the engine).

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use daybook_domain::Session;
use daybook_domain::model::Model;
use daybook_engine::extract::Extractor;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::extract::fallback::FallbackExtractor;
use daybook_engine::extract::model::agent::MemoryAgents;
use daybook_engine::extract::model::{Dialect, ModelExtractor, Rendering};
use daybook_engine::extract::per_agent::AgentExtractors;
use daybook_engine::extract::tenant_denylist::TenantDenylist;
use daybook_engine::extract::time_limit::TimeLimited;
use daybook_engine::jobs::PersonEntityRepositories;
use daybook_engine::spend::SpendMeter;
use daybook_llm::ChatModel;

use super::ModelContext;
use super::mem0_server::conversations::ConversationSender;
use super::provider_limit::ConcurrencyLimited;
use super::providers::chat_model;
use crate::settings::Settings;
use crate::settings::chosen_model::ChosenModel;
use crate::settings::models::ModelChoices;

/// The stage that calls of the extraction model are charged to.
const EXTRACT: &str = "extract";

impl Settings {
    /// The model that reads the tenant's sessions; `None` where settings or the tenant choose none.
    pub(crate) fn extraction_model(&self) -> Option<&ChosenModel> {
        let uses_model = self.profile.extractor.prompt_format().is_some();
        let chosen = self.models.extract.as_ref().filter(|_| uses_model)?;
        (!chosen.forbidden.contains(&self.tenant)).then_some(chosen)
    }

    /// The models that read the tenant's sessions of single agents in its place, by agent.
    pub(crate) fn agents_extraction_models(&self) -> impl Iterator<Item = (&str, &ChosenModel)> {
        let uses_model = self.profile.extractor.prompt_format().is_some();
        let own = self.models.extract_for.iter();
        own.filter_map(move |(agent, chosen)| {
            let chosen = chosen.as_ref().filter(|_| uses_model)?;
            let may_ask = !chosen.forbidden.contains(&self.tenant);
            may_ask.then_some((agent.as_str(), chosen))
        })
    }
}

impl ModelContext<'_> {
    /// Whether extraction calls a model, which may take minutes.
    pub(crate) fn extracts_with_model(&self) -> bool {
        let models = &self.settings.models;
        let for_agents = models.extract_for.values().any(Option::is_some);
        let uses_model = self.settings.profile.extractor.prompt_format().is_some();
        uses_model && (models.extract.is_some() || for_agents)
    }

    /// Builds the extractor. Its calls are counted together, under `run`.
    pub(crate) fn extractor(&self, run: &str) -> Result<Arc<dyn Extractor>> {
        let readers = self.readers(run)?;
        Ok(match self.mem0_server()? {
            Some(server) => Arc::new(ConversationSender::new(server, self.settings, readers)),
            None => readers,
        })
    }

    /// Builds the extractor of sessions whose memory is kept here.
    fn readers(&self, run: &str) -> Result<Arc<dyn Extractor>> {
        let models = &self.settings.models;
        let others = self.extractor_with(models.extract.as_ref(), run)?;
        if models.extract_for.is_empty() {
            return Ok(others);
        }
        let of_agent = |(agent, model): (&String, &Option<ChosenModel>)| {
            Ok((agent.clone(), self.extractor_with(model.as_ref(), run)?))
        };
        let agents = models.extract_for.iter().map(of_agent);
        let agents: BTreeMap<_, _> = agents.collect::<Result<_>>()?;
        Ok(Arc::new(AgentExtractors::new(others, agents)))
    }

    /// Builds the extractor that asks `model`; the one that asks none without it.
    fn extractor_with(&self, model: Option<&ChosenModel>, run: &str) -> Result<Arc<dyn Extractor>> {
        let extractive: Arc<dyn Extractor> = Arc::new(Extractive);
        let form = self.settings.profile.extractor.prompt_format();
        let (Some(chosen), Some(form)) = (model, form) else {
            return Ok(extractive);
        };
        let limit = self.settings.profile.work.extraction;
        let asking = self.model_extractor(chosen, form, run)?;
        let mut extractor: Arc<dyn Extractor> = Arc::new(TimeLimited::new(asking, limit));
        if self.settings.models.stand_in {
            extractor = Arc::new(FallbackExtractor::new(extractor, Arc::clone(&extractive)));
        }
        if !chosen.forbidden.is_empty() {
            extractor = Arc::new(TenantDenylist::new(
                extractor,
                extractive,
                chosen.forbidden.clone(),
            ));
        }
        Ok(extractor)
    }

    /// Builds an extractor that calls the chosen model, and charges each call to its session.
    fn model_extractor(
        &self,
        chosen: &ChosenModel,
        (dialect, rendering): (Dialect, Rendering),
        run: &str,
    ) -> Result<Arc<dyn Extractor>> {
        let model = self.cached_extraction_model(chosen)?;
        let (meter, person) = (self.meter(run), self.settings.person.clone());
        let charged_model = Arc::clone(&model);
        let charged = Arc::new(move |session: &Session| {
            let metered =
                meter.budgeted_for_session(Arc::clone(&charged_model), EXTRACT, session, &person);
            Arc::new(metered) as Arc<dyn Model>
        });
        let ModelChoices {
            guidance,
            limits,
            no_reply,
            ..
        } = self.settings.models.clone();
        if dialect == Dialect::MemoryAgent {
            let shelves = PersonEntityRepositories {
                store: Arc::clone(self.store),
                root: self.root.to_owned(),
                person: self.settings.person.clone(),
            };
            let agents = MemoryAgents::new(model, Arc::new(shelves), Arc::clone(self.clock));
            let agents = agents
                .with_guidance(guidance)
                .with_limits(limits)
                .with_session_model(charged);
            return Ok(Arc::new(agents));
        }
        let extractor = ModelExtractor::new(model, dialect).with_rendering(rendering);
        let extractor = extractor
            .with_guidance(guidance)
            .with_limits(limits)
            .with_no_reply(&no_reply)
            .with_session_model(charged);
        Ok(Arc::new(extractor))
    }

    fn cached_extraction_model(&self, chosen: &ChosenModel) -> Result<Arc<dyn Model>> {
        let mut made = self.cache.extraction.lock();
        let made = made.as_mut().unwrap_or_else(|poisoned| poisoned.get_mut());
        if let Some(model) = made.get(&chosen.name()) {
            return Ok(Arc::clone(model));
        }
        let model = self.limited_model(chosen)?;
        made.insert(chosen.name(), Arc::clone(&model));
        Ok(model)
    }

    /// Makes the chosen model, within its provider's limit on concurrent requests.
    pub(crate) fn limited_model(&self, chosen: &ChosenModel) -> Result<Arc<dyn Model>> {
        Ok(self.limit_concurrency(chosen, chat_model(chosen)?))
    }

    /// Puts a provider's limit on concurrent requests before one of its models.
    pub(super) fn limit_concurrency(
        &self,
        chosen: &ChosenModel,
        model: ChatModel,
    ) -> Arc<dyn Model> {
        let (provider, model) = (&chosen.provider, Arc::new(model));
        let (root, limit) = (self.root, provider.concurrency);
        Arc::new(ConcurrencyLimited::new(model, root, &provider.name, limit))
    }

    /// The meter that counts the calls of `run` and keeps them within caps.
    pub(crate) fn meter(&self, run: &str) -> SpendMeter {
        SpendMeter {
            store: Arc::clone(self.spending),
            clock: Arc::clone(self.clock),
            prices: self.settings.prices.clone(),
            caps: self.settings.caps.clone(),
            run: run.to_owned(),
        }
    }
}
