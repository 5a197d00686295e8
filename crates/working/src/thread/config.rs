//! Settings of the manager (Team9's `MemoryManagerConfig`).

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{SessionKind, Tenant};

use crate::compact::{Count, LlmConfig, RecentLimits, estimate};
use daybook_text::redact::Redactor;

/// How a [`MemoryManager`](crate::manager::MemoryManager) keeps its threads. The defaults are Team9's where it has any.
///
/// ```
/// use daybook_working::compact::LlmConfig;
/// use daybook_working::manager::MemoryManagerConfig;
/// let config = MemoryManagerConfig {
///     llm: LlmConfig { compact_max_tokens: 2_000, ..LlmConfig::default() },
///     auto_compact_enabled: true,
///     auto_compact_threshold: 20,
///     ..MemoryManagerConfig::default()
/// };
/// assert_eq!(config.keep_recent.chunks, 6);
/// ```
#[derive(Clone)]
pub struct MemoryManagerConfig {
    /// The model that condenses, and parameters of the requests to it.
    pub llm: LlmConfig,
    /// Whether chunks are compacted without being asked. `true`.
    pub auto_compact_enabled: bool,
    /// Number of compactable `WORKING_FLOW` chunks from which they are compacted. 20.
    pub auto_compact_threshold: usize,
    /// Number of tokens in a state from which its chunks are compacted, long outcomes first; `None` for never.
    /// 80,000.
    pub auto_compact_tokens: Option<u64>,
    /// Number of tokens in a state from which a compaction is suggested to those who ask for
    /// [`token_usage`](crate::manager::MemoryManager::token_usage); `None` for never. 50,000.
    pub suggest_compact_tokens: Option<u64>,
    /// Tokens of the window of the agent's model. At four fifths of it chunks are compacted, too, and the emptier it is,
    /// the more of the originals a summary keeps. 100,000.
    pub window_tokens: u64,
    /// The newest chunks that an automatic compaction keeps; in a small window, of at most a quarter of its tokens.
    /// 6 chunks, 8,000 tokens.
    pub keep_recent: RecentLimits,
    /// How long one compactor may take. 60 s.
    pub compact_timeout: Duration,
    /// How long a model is not asked after it failed: at first, and at most. Chunks are condensed without it
    /// meanwhile. 30 s and 1 h.
    pub back_off: (Duration, Duration),
    /// How long a compaction's block outlives the process that made it. 15 s.
    pub block_lease: Duration,
    /// Most threads that are loaded at once; beyond, the ones that rested longest are unloaded. 1,024.
    pub max_loaded: usize,
    /// Number of entries after which a snapshot is stored, so that opening a thread folds no more than these. 256.
    pub snapshot_every: u64,
    /// Counts the tokens of a text; never fewer than it has.
    pub count: Count,
    /// The tenant of the threads.
    pub tenant: Tenant,
    /// The agent of new threads.
    pub agent: String,
    /// Whose words the human events are, where that is not the person of the data folder.
    pub user: Option<String>,
    /// The kind of the sessions of new threads.
    pub kind: SessionKind,
    /// How long a session may rest before it is extracted.
    pub patience: DueLimits,
    /// Where memory is switched off.
    pub switches: Switches,
    /// Hides secrets.
    pub redactor: Redactor,
    /// Random numbers, for the ids of threads and of events without one. From the operating system.
    pub random: RandomNumbers,
}

impl MemoryManagerConfig {
    /// The number of tokens from which a state is compacted, if any: the smaller of the set number and four fifths of the
    /// window.
    pub(crate) fn forced_from(&self) -> Option<u64> {
        let of_window = self.window_tokens / 5 * 4;
        self.auto_compact_tokens.map(|most| most.min(of_window))
    }

    /// The number of tokens from which a compaction is suggested, if any; never more than [`Self::forced_from`].
    pub(crate) fn suggested_from(&self) -> Option<u64> {
        let forced = self.forced_from().unwrap_or(u64::MAX);
        let of_window = self.window_tokens / 2;
        self.suggest_compact_tokens
            .map(|from| from.min(of_window).min(forced))
    }

    /// The newest chunks that an automatic compaction keeps in this window.
    pub(crate) fn recent(&self) -> RecentLimits {
        RecentLimits {
            tokens: self.keep_recent.tokens.min(self.window_tokens / 4),
            ..self.keep_recent
        }
    }
}

/// A source of random numbers.
pub type RandomNumbers = Arc<dyn Fn() -> u128 + Send + Sync>;

/// Two keyed hashes, whose keys the standard library draws from the operating system.
fn system_random() -> u128 {
    let half = || u128::from(std::hash::RandomState::new().build_hasher().finish());
    half() << 64 | half()
}

impl Default for MemoryManagerConfig {
    fn default() -> Self {
        Self {
            llm: LlmConfig::default(),
            auto_compact_enabled: true,
            auto_compact_threshold: 20,
            auto_compact_tokens: Some(80_000),
            suggest_compact_tokens: Some(50_000),
            window_tokens: 100_000,
            keep_recent: RecentLimits {
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
            patience: DueLimits::default(),
            switches: Switches::default(),
            redactor: Redactor::current(),
            random: Arc::new(system_random),
        }
    }
}
