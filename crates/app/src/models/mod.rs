//! Models made from settings: chat models, extractors and embedders, with the keys and limits of their providers.
//!
//! Not here: what models are prompted with (the engine), and how providers are reached (`daybook_llm`).

mod consolidation;
pub(crate) mod embedders;
pub(crate) mod embedding;
mod extractors;
mod keys;
mod provider_limit;
mod providers;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use daybook_domain::Tenant;
use daybook_domain::model::Model;
use daybook_domain::seams::{SpendStore, Store};
use daybook_domain::time::Clock;

use crate::settings::Settings;
use embedding::EmbeddingState;

/// Everything that models of one tenant are made from.
#[derive(Clone, Copy)]
pub(crate) struct ModelContext<'a> {
    pub(crate) root: &'a Path,
    pub(crate) settings: &'a Settings,
    pub(crate) tenant: &'a Tenant,
    pub(crate) store: &'a Arc<dyn Store>,
    /// The store of what calls of models cost.
    pub(crate) spending: &'a Arc<dyn SpendStore>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) cache: &'a ModelCache,
}

/// Models of one tenant, made at the first use.
#[derive(Default)]
pub(crate) struct ModelCache {
    /// The models that extract, by name. Users of one share its connections, and its limit on concurrent requests.
    extraction: Mutex<BTreeMap<String, Arc<dyn Model>>>,
    /// The model that consolidations ask.
    consolidation: OnceLock<Arc<dyn Model>>,
    embedding: EmbeddingState,
}
