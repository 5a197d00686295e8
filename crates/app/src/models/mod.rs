//! Models made from settings: chat models, extractors and embedders, with the keys and limits of their providers; and
//! the mem0 server that keeps the memory of some agents.
//!
//! Not here: what models are prompted with (the engine), and how providers are reached (`daybook_llm`).

mod consolidation;
pub(crate) mod embedders;
pub(crate) mod embedding;
mod extractors;
mod keys;
pub(crate) mod mem0_server;
mod provider_limit;
mod providers;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::Result;
use daybook_domain::Tenant;
use daybook_domain::model::Model;
use daybook_domain::seams::{SpendStore, Store};
use daybook_domain::time::Clock;

use crate::settings::Settings;
use embedding::EmbeddingState;
use mem0_server::Mem0Server;

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
    mem0_server: OnceLock<Mem0Server>,
}

impl ModelContext<'_> {
    /// The mem0 server of settings, made at the first use. Sends nothing.
    pub(crate) fn mem0_server(&self) -> Result<Option<Mem0Server>> {
        let Some(settings) = &self.settings.mem0 else {
            return Ok(None);
        };
        let made = &self.cache.mem0_server;
        if let Some(server) = made.get() {
            return Ok(Some(server.clone()));
        }
        let server = Mem0Server::new(settings)?;
        Ok(Some(made.get_or_init(|| server).clone()))
    }
}
