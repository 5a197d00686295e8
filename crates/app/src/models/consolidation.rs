//! Makes the model that consolidations ask, with its meter.
//!
//! Not here: what it is asked (the engine).

use std::sync::Arc;

use anyhow::Result;
use daybook_domain::Scope;
use daybook_domain::model::Model;
use daybook_engine::jobs::ModelForScope;

use super::ModelContext;
use crate::settings::Settings;
use crate::settings::chosen_model::ChosenModel;

/// The stage that calls about a memory are charged to.
const CONSOLIDATE: &str = "consolidate";

impl Settings {
    /// The model that the tenant's consolidations ask; `None` where settings or the tenant choose none.
    pub(crate) fn consolidation_model(&self) -> Option<&ChosenModel> {
        let chosen = self.models.consolidate.as_ref()?;
        (!chosen.forbidden.contains(&self.tenant)).then_some(chosen)
    }
}

impl ModelContext<'_> {
    /// Chooses the model for each scope, and charges its calls to the scope. They are counted together, under `run`.
    /// `None` where no model is chosen.
    ///
    /// # Errors
    /// When the configuration of its provider is invalid.
    pub(crate) fn consolidation_model(&self, run: &str) -> Result<Option<Arc<ModelForScope>>> {
        let Some(chosen) = &self.settings.models.consolidate else {
            return Ok(None);
        };
        let model = match self.cache.consolidation.get() {
            Some(made) => Arc::clone(made),
            None => {
                let model = self.limited_model(chosen)?;
                Arc::clone(self.cache.consolidation.get_or_init(|| model))
            }
        };
        let (meter, person) = (self.meter(run), self.settings.person.clone());
        let forbidden = chosen.forbidden.clone();
        Ok(Some(Arc::new(move |scope: &Scope| {
            if forbidden.contains(&scope.tenant) {
                return None;
            }
            let model = Arc::clone(&model);
            let charged = meter.budgeted_for_scope(model, CONSOLIDATE, scope, &person);
            Some(Arc::new(charged) as Arc<dyn Model>)
        })))
    }
}
