//! How threads are kept (seed 003, "Configuration Reference").

use std::sync::Arc;
use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::Patience;
use daybook_domain::{SessionKind, Tenant};

use crate::ingest::redact::Redactor;
use crate::working::compact::{Count, LlmConfig, Recent, estimate};

/// How a [`MemoryManager`](super::MemoryManager) keeps its threads. The defaults are the seed's where it has any.
///
/// ```
/// use daybook_engine::working::compact::LlmConfig;
/// use daybook_engine::working::manager::MemoryManagerConfig;
/// let config = MemoryManagerConfig {
///     llm: LlmConfig { compact_temperature: 0.3, compact_max_tokens: 2_000 },
///     auto_compact_enabled: true,
///     auto_compact_threshold: 20,
///     ..MemoryManagerConfig::default()
/// };
/// assert_eq!(config.keep_recent.chunks, 6);
/// ```
#[derive(Clone)]
pub struct MemoryManagerConfig {
    /// How a model condenses.
    pub llm: LlmConfig,
    /// Whether chunks are compacted without being asked. `true`.
    pub auto_compact_enabled: bool,
    /// With so many compactable `WORKING_FLOW` chunks they are compacted. 20.
    pub auto_compact_threshold: usize,
    /// With so many tokens in a state its chunks are compacted, long outcomes first; nothing for never.
    /// 80,000.
    pub auto_compact_tokens: Option<u64>,
    /// What stays of the newest when compaction comes by itself. 6 chunks, 8,000 tokens.
    pub keep_recent: Recent,
    /// How long one compactor may take. 60 s.
    pub compact_timeout: Duration,
    /// After a model failed, it is left alone for so long at first and at the most; without it chunks are
    /// condensed meanwhile. 30 s and 1 h.
    pub back_off: (Duration, Duration),
    /// How long a compaction's block outlives the process that made it. 15 s.
    pub block_lease: Duration,
    /// Most threads that are loaded at once; beyond, the ones that rested longest are unloaded. 1,024.
    pub max_loaded: usize,
    /// A snapshot is kept after so many entries, so that opening a thread folds no more than these. 256.
    pub snapshot_every: u64,
    /// Tokens of a text; never less than there are.
    pub count: Count,
    /// Whose threads.
    pub tenant: Tenant,
    /// Which agent's.
    pub agent: String,
    /// Whose words the human events are, where that is not the person of the data folder.
    pub user: Option<String>,
    /// What sort of sessions new threads are.
    pub kind: SessionKind,
    /// How long a session may rest before it is extracted.
    pub patience: Patience,
    /// Where memory is switched off.
    pub switches: Switches,
    /// What hides secrets.
    pub redactor: Redactor,
}

impl Default for MemoryManagerConfig {
    fn default() -> Self {
        Self {
            llm: LlmConfig::default(),
            auto_compact_enabled: true,
            auto_compact_threshold: 20,
            auto_compact_tokens: Some(80_000),
            keep_recent: Recent {
                chunks: 6,
                tokens: 8_000,
            },
            compact_timeout: Duration::from_secs(60),
            back_off: (Duration::from_secs(30), Duration::from_secs(3_600)),
            block_lease: Duration::from_secs(15),
            max_loaded: 1_024,
            snapshot_every: 256,
            count: Arc::new(estimate),
            tenant: Tenant::local(),
            agent: "agent".to_owned(),
            user: None,
            kind: SessionKind::Root,
            patience: Patience::default(),
            switches: Switches::default(),
            redactor: Redactor::standard(),
        }
    }
}
