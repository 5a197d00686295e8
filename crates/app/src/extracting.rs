//! Who tells what is worth keeping: what settings choose, put together.
//!
//! Not here: reaching a model (`models`), asking it (the engine).

use std::sync::Arc;

use anyhow::Result;
use daybook_domain::Session;
use daybook_domain::model::Model;
use daybook_engine::extract::Extractor;
use daybook_engine::extract::barred::Barred;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::extract::model::agent::MemoryAgents;
use daybook_engine::extract::model::{Dialect, ModelExtractor, Rendering};
use daybook_engine::extract::stand_in::StandIn;
use daybook_engine::jobs::PersonShelves;
use daybook_engine::spend::Meter;

use crate::models;
use crate::settings::Settings;
use crate::settings::models::{Chosen, Models};
use crate::turns::InTurn;
use crate::wiring::Daybook;

/// The stage that asking what is worth keeping is charged to.
const EXTRACT: &str = "extract";

impl Settings {
    /// The model that the tenant's sessions are read by; `None` where no model is asked.
    pub(crate) fn asked_model(&self) -> Option<&Chosen> {
        let is_asked = self.profile.extractor.manner().is_some();
        let chosen = self.models.extract.as_ref().filter(|_| is_asked)?;
        (!chosen.forbidden.contains(&self.tenant)).then_some(chosen)
    }
}

impl Daybook {
    /// Whether reading a session asks a model, which may take minutes.
    pub(crate) fn asks_model(&self) -> bool {
        let is_asked = self.settings.profile.extractor.manner().is_some();
        is_asked && self.settings.models.extract.is_some()
    }

    /// What tells what is worth keeping; the calls of `run` count together.
    pub(crate) fn extractor(&self, run: &str) -> Result<Arc<dyn Extractor>> {
        let quotes: Arc<dyn Extractor> = Arc::new(Extractive);
        let (Some(chosen), Some(manner)) = (
            &self.settings.models.extract,
            self.settings.profile.extractor.manner(),
        ) else {
            return Ok(quotes);
        };
        let mut asks = self.asking(chosen, manner, run)?;
        if self.settings.models.stand_in {
            asks = Arc::new(StandIn::new(asks, Arc::clone(&quotes)));
        }
        if !chosen.forbidden.is_empty() {
            asks = Arc::new(Barred::new(asks, quotes, chosen.forbidden.clone()));
        }
        Ok(asks)
    }

    /// An extractor that asks the model that was chosen, and charges each call to its session.
    fn asking(
        &self,
        chosen: &Chosen,
        (dialect, rendering): (Dialect, Rendering),
        run: &str,
    ) -> Result<Arc<dyn Extractor>> {
        let model = self.extract_model(chosen)?;
        let (meter, person) = (self.meter(run), self.settings.person.clone());
        let asked = Arc::clone(&model);
        let charged = Arc::new(move |session: &Session| {
            let metered = meter.about(Arc::clone(&asked), EXTRACT, session, &person);
            Arc::new(metered) as Arc<dyn Model>
        });
        let Models {
            guidance, limits, ..
        } = self.settings.models.clone();
        if dialect == Dialect::MemoryAgent {
            let shelves = PersonShelves {
                store: Arc::clone(&self.store),
                root: self.root.clone(),
                person: self.settings.person.clone(),
            };
            let agents = MemoryAgents::new(model, Arc::new(shelves), Arc::clone(&self.clock));
            let agents = agents.guided(guidance).limited(limits).asking(charged);
            return Ok(Arc::new(agents));
        }
        let extractor = ModelExtractor::new(model, dialect).rendering(rendering);
        let extractor = extractor.guided(guidance).limited(limits).asking(charged);
        Ok(Arc::new(extractor))
    }

    fn extract_model(&self, chosen: &Chosen) -> Result<Arc<dyn Model>> {
        if let Some(made) = self.extract_model.get() {
            return Ok(Arc::clone(made));
        }
        let model = self.in_turn(chosen)?;
        Ok(Arc::clone(self.extract_model.get_or_init(|| model)))
    }

    /// A model whose questions wait for their turn at its provider.
    pub(crate) fn in_turn(&self, chosen: &Chosen) -> Result<Arc<dyn Model>> {
        let (provider, model) = (&chosen.provider, Arc::new(models::model(chosen)?));
        let in_turn = InTurn::new(model, &self.root, &provider.name, provider.concurrency);
        Ok(Arc::new(in_turn))
    }

    /// What the calls of `run` are counted and bounded by.
    pub(crate) fn meter(&self, run: &str) -> Meter {
        Meter {
            store: Arc::clone(&self.spending),
            clock: Arc::clone(&self.clock),
            prices: self.settings.prices.clone(),
            caps: self.settings.caps.clone(),
            run: run.to_owned(),
        }
    }
}
