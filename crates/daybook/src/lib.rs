//! Daybook gives your agent a memory that stays small, true and fast: every event is on disk before anything
//! else happens, and old chunks are condensed in the background before the context overflows.
//!
//! # Quick start
//!
//! ```
//! use daybook::{Clock, EventType, SystemClock, ThreadEvent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # #[cfg(feature = "sqlite")] {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("agent.db");
//! let memory = daybook::open(&path)?;
//! let (thread, _) = memory.create_thread().await?;
//! let hello = ThreadEvent::new(EventType::user("Hello, agent!"), SystemClock.now());
//! let result = memory.dispatch(&thread.id, &hello).await?;
//! assert_eq!(result.state.len(), 1);
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! A *thread* is one conversation. Its events come in as [`ThreadEvent`]s; reducers turn them into [`Chunk`]s;
//! the live chunks are the thread's [`ThreadState`]; [`context::build`] turns a state into the messages that a
//! model reads, within its window. Twenty chunks of conversation, or 80,000 tokens, are compacted automatically
//! ([`MemoryManagerConfig`]), by the model or, without one, by a compactor that calls no model. Compaction
//! loses nothing: the log keeps every event, and [`MemoryManager::originals`] returns the chunks that a summary
//! replaced.
//!
//! # A complete agent
//!
//! `model` is any [`Model`], `run` your tools. The conversation may go on for days.
//!
//! ```
//! # use std::sync::atomic::{AtomicUsize, Ordering};
//! # use daybook::model::{FinishReason, ModelFailure, ModelReply, Tool, ToolCall};
//! use std::sync::Arc;
//!
//! use daybook::model::{Model, ModelRequest};
//! use daybook::{Clock, ContextOptions, EventType, MemoryStore, SystemClock, ThreadEvent, context};
//!
//! # /// Reads a file, then answers how many lines it has.
//! # #[derive(Default)]
//! # struct Scripted(AtomicUsize);
//! #
//! # #[async_trait::async_trait]
//! # impl Model for Scripted {
//! #     fn name(&self) -> &str { "scripted" }
//! #     fn context_tokens(&self) -> u32 { 8_192 }
//! #     fn count_tokens(&self, text: &str) -> u32 { text.len() as u32 }
//! #     async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
//! #         let last = request.messages.last().unwrap();
//! #         let (text, calls) = match self.0.fetch_add(1, Ordering::Relaxed) {
//! #             0 => {
//! #                 assert_eq!(last.text, "How many lines has notes.txt?");
//! #                 let arguments = r#"{"path":"notes.txt"}"#.to_owned();
//! #                 ("", vec![ToolCall { id: "c1".into(), name: "read".into(), arguments }])
//! #             }
//! #             1 => {
//! #                 assert_eq!(last.answers.as_deref(), Some("c1"));
//! #                 assert!(last.text.contains("milk"), "{last:?}");
//! #                 ("It has two lines.", vec![])
//! #             }
//! #             _ => unreachable!("it has answered"),
//! #         };
//! #         let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::Tools };
//! #         Ok(ModelReply { text: text.into(), answer: None, calls, finish, usage: None, requests: 1 })
//! #     }
//! # }
//! #
//! # fn tools() -> Vec<Tool> {
//! #     let arguments = serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}});
//! #     vec![Tool { name: "read".into(), description: "Reads a file.".into(), arguments }]
//! # }
//! #
//! # async fn run(call: &ToolCall) -> Result<serde_json::Value, String> {
//! #     match call.name.as_str() {
//! #         "read" => Ok("milk\nbread".into()),
//! #         other => Err(format!("there is no tool {other}")),
//! #     }
//! # }
//! #
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     # let model = Scripted::default();
//!     let model: Arc<dyn Model> = Arc::new(model);
//!     let memory = daybook::manager(Arc::new(MemoryStore::new()), Some(Arc::clone(&model)));
//!     let (thread, _) = memory.create_thread().await?;
//!     let mut news = vec![EventType::user("How many lines has notes.txt?")];
//!     let mut answer = None;
//!     loop {
//!         for event in news.drain(..) {
//!             let event = ThreadEvent::new(event, SystemClock.now());
//!             memory.dispatch(&thread.id, &event).await?;
//!         }
//!         if let Some(answer) = answer {
//!             println!("{answer}");
//!             # assert_eq!(answer, "It has two lines.");
//!             return Ok(());
//!         }
//!         let options = ContextOptions {
//!             system: Some("You help Ada with her notes."),
//!             ..ContextOptions::new(model.context_tokens(), 1_024)
//!         };
//!         let state = memory.current_state(&thread.id).await?;
//!         let context = context::build(&state, &options, &|text| model.count_tokens(text))?;
//!         let question = ModelRequest {
//!             tools: tools(),
//!             ..ModelRequest::new(context.messages, 1_024)
//!         };
//!         let reply = model.ask(&question).await?;
//!         news.extend(EventType::reply(&reply, model.name()));
//!         for call in &reply.calls {
//!             news.push(EventType::outcome(call, run(call).await));
//!         }
//!         answer = reply.calls.is_empty().then_some(reply.text);
//!     }
//! }
//! ```
//!
//! # Tasks with tools
//!
//! [`tool_loop`] runs a task that a model performs with tools, and bounds it in requests, calls, tokens, bytes and
//! time: old turns are left out of what is sent again, an answer is validated and corrected, and what ended the task is
//! a value. Its [example](tool_loop::ToolLoop) is complete.
//!
//! # Memory beyond one conversation
//!
//! With the feature `memory`, `memory::DataFolder` opens a data folder of the command `daybook` in this process: it imports
//! transcripts, appends events, learns from them, recalls, and assembles the context of an agent.
//!
//! # Bring your own
//!
//! Stores and models are traits, [`ThreadStore`] and [`Model`], and so is what condenses, what reduces and what
//! watches: [`Compactor`], [`Reducer`], [`ThreadObserver`]. `daybook-testkit` has the suites that our own stores and
//! models pass: `daybook_testkit::thread_store_suite!` and `daybook_testkit::language_model_suite!` make a test of each
//! promise in your crate. [`domain`] is the whole vocabulary of both seams.
//!
//! # Features
//!
//! | feature | gives | default |
//! |---|---|---|
//! | `sqlite` | `SqliteStore`: one file that any number of processes share | yes |
//! | `memory` | `memory::DataFolder`: a data folder in this process, with import, append, recall, remember, context | |
//! | `postgres` | `PostgresStore`: a server that any number of machines share | |
//! | `models` | `Provider`: OpenAI and compatible services, Anthropic, Ollama | |
//!
//! [`MemoryStore`] is always available. Without `sqlite` nothing links SQLite, so the crate builds beside
//! `sqlx` or another version of `rusqlite`. Vectors (`embed`) are not part of this version.
//!
//! # What it leaves to you
//!
//! It needs a tokio runtime with time, be it of one thread, and starts none; `SqliteStore` has one thread that
//! commits. It installs no subscriber and no handler of signals, and reads no environment; spans and events go
//! to whichever `tracing` subscriber you have. The feature `memory` alone reads settings from the environment, and does
//! each request on a thread of its own.
//!
//! Versions follow [Semantic Versioning](https://semver.org/spec/v2.0.0.html): before 1.0 a breaking change
//! raises the second number. Rust 1.95 or newer; raising that counts as a breaking change.

mod clock;
#[cfg(feature = "memory")]
pub mod memory;

use std::sync::Arc;

pub use clock::SystemClock;

#[doc(no_inline)]
pub use daybook_domain as domain;
pub use daybook_domain::model;
pub use daybook_working::{compact, context, reduce, tool_loop};

#[doc(inline)]
pub use daybook_domain::model::Model;
pub use daybook_domain::time::Clock;
pub use daybook_domain::working::{
    BlockingReason, Chunk, ChunkContent, ChunkId, ChunkMetadata, ChunkType, ContentPart, EventType,
    Operation, OperationKind, RetentionStrategy, StateId, StateMetadata, Thread, ThreadBlock,
    ThreadEvent, ThreadState, ThreadStore, TodoItem, TodoStatus, WorkingFlowSubType,
};
pub use daybook_domain::{BoxError, EventSeq, SessionId, StoreError, Tenant, Timestamp};
#[cfg(feature = "models")]
pub use daybook_llm::{
    ChatModel, ConfigError, Key, KeySource, ModelConfig, Provider, ProviderConfig, RetryConfig,
    TokenVocabulary, Wire,
};
pub use daybook_store::MemoryStore;
#[cfg(feature = "sqlite")]
pub use daybook_store::{Durability, SqliteOptions, SqliteStore};
#[cfg(feature = "postgres")]
pub use daybook_store::{PostgresOptions, PostgresStore, Trust};
pub use daybook_text::citation_block::{CitationBlock, CitationStream, CitedLines};
pub use daybook_text::redact::Redactor;
pub use daybook_working::compact::{
    CompactionContext, CompactionResult, Compactor, ExtractiveCompactor, LlmConfig,
    WorkingHistoryCompactor,
};
pub use daybook_working::context::{ContextError, ContextOptions, ThreadContext};
pub use daybook_working::manager::{
    CompactionOutcome, CreateThread, DispatchReceipt, DispatchResult, MemoryManager,
    MemoryManagerConfig, ObserverGuard, StateChange, ThreadObserver, ThreadSnapshot, TokenUsage,
    WorkingError,
};
pub use daybook_working::reduce::{
    DefaultReducer, ReduceContext, Reduced, Reducer, ReducerRegistry,
};

/// Opens a manager of the threads in a SQLite file. Creates the file when it is missing; its folder must exist.
/// The manager calls no model. [`manager`] takes another store or a model, [`MemoryManager::new`] everything
/// else.
///
/// # Errors
/// [`StoreError::TooNew`] when a newer Daybook wrote it, [`StoreError::Corrupt`] when it is something else,
/// [`StoreError::Unavailable`] when it cannot be opened.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("agent.db");
/// let (thread, _) = daybook::open(&path)?.create_thread().await?;
/// // Another process, or this one after it was killed.
/// let again = daybook::open(&path)?;
/// assert!(again.thread(&thread.id).await?.is_some());
/// # Ok::<(), daybook::WorkingError>(())
/// # }).unwrap();
/// ```
#[cfg(feature = "sqlite")]
pub fn open(path: impl AsRef<std::path::Path>) -> Result<MemoryManager, StoreError> {
    let store = SqliteStore::open(path.as_ref(), SqliteOptions::default())?;
    Ok(manager(Arc::new(store), None))
}

/// A manager of the threads in `store`, with defaults for everything else: Team9's reducers, the machine's
/// clock, [`MemoryManagerConfig::default`]. `model` writes the compactions; without one a compactor that calls
/// no model does.
///
/// ```
/// use std::sync::Arc;
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let memory = daybook::manager(Arc::new(daybook::MemoryStore::new()), None);
/// let (thread, state) = memory.create_thread().await?;
/// assert!(state.is_empty() && !memory.is_blocked(&thread.id));
/// # Ok::<(), daybook::WorkingError>(())
/// # }).unwrap();
/// ```
#[must_use]
pub fn manager(store: Arc<dyn ThreadStore>, model: Option<Arc<dyn Model>>) -> MemoryManager {
    let clock = Arc::new(SystemClock);
    let registry = ReducerRegistry::default();
    MemoryManager::new(
        store,
        registry,
        model,
        clock,
        MemoryManagerConfig::default(),
    )
}

/// A manager of the threads in `store` with a config of its own. `models` makes the model that the config names
/// (`llm.compact_model`, Team9's `llm.compactModel`), which writes the compactions; where it names none, a compactor that
/// calls no model does.
///
/// With the feature `models`, `|name| Some(Arc::new(provider.model(ModelConfig::new(name, 128_000))))` makes it.
///
/// # Errors
/// [`UnknownModel`] when `models` has no model of that name.
///
/// ```
/// use std::sync::Arc;
/// use daybook::{LlmConfig, MemoryManagerConfig, MemoryStore, UnknownModel, manager_with};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let config = MemoryManagerConfig {
///     llm: LlmConfig { compact_model: Some("gpt-4o-mini".to_owned()), ..LlmConfig::default() },
///     ..MemoryManagerConfig::default()
/// };
/// let refused = manager_with(Arc::new(MemoryStore::new()), |_| None, config).map(|_| ());
/// assert_eq!(refused, Err(UnknownModel("gpt-4o-mini".to_owned())));
/// # });
/// ```
pub fn manager_with(
    store: Arc<dyn ThreadStore>,
    models: impl FnOnce(&str) -> Option<Arc<dyn Model>>,
    config: MemoryManagerConfig,
) -> Result<MemoryManager, UnknownModel> {
    let model = match &config.llm.compact_model {
        Some(name) => Some(models(name).ok_or_else(|| UnknownModel(name.clone()))?),
        None => None,
    };
    let clock = Arc::new(SystemClock);
    let registry = ReducerRegistry::default();
    Ok(MemoryManager::new(store, registry, model, clock, config))
}

/// There is no model of the name that a config gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownModel(
    /// The name.
    pub String,
);

impl std::fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no model {} to write compactions", self.0)
    }
}

impl std::error::Error for UnknownModel {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use daybook_domain::model::{FinishReason, Model, ModelFailure, ModelReply, ModelRequest};

    use super::{
        LlmConfig, MemoryManagerConfig, MemoryStore, ThreadEvent, Timestamp, manager_with,
    };

    /// Writes the same summary each time.
    struct Summaries(String);

    #[async_trait::async_trait]
    impl Model for Summaries {
        fn name(&self) -> &str {
            &self.0
        }

        fn context_tokens(&self) -> u32 {
            128_000
        }

        fn count_tokens(&self, text: &str) -> u32 {
            u32::try_from(text.len()).unwrap_or(u32::MAX)
        }

        async fn ask(&self, _: &ModelRequest) -> Result<ModelReply, ModelFailure> {
            Ok(ModelReply {
                text: "## Progress Summary\n\n### Key Information\n\n- Much was asked.".to_owned(),
                answer: None,
                calls: Vec::new(),
                finish: FinishReason::Stop,
                usage: None,
                requests: 1,
            })
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn the_model_that_a_config_names_writes_the_compactions() {
        let config = MemoryManagerConfig {
            llm: LlmConfig {
                compact_model: Some("small-1".to_owned()),
                ..LlmConfig::default()
            },
            ..MemoryManagerConfig::default()
        };
        let named = |name: &str| Some(Arc::new(Summaries(name.to_owned())) as Arc<dyn Model>);
        let memory = manager_with(Arc::new(MemoryStore::new()), named, config).expect("a manager");
        let (thread, _) = memory.create_thread().await.expect("a thread");
        for number in 0..6 {
            let text = format!("Is part {number} fine? {}", "It is long. ".repeat(20));
            let event = ThreadEvent::new(super::EventType::user(text), Timestamp(1));
            memory.dispatch(&thread.id, &event).await.expect("a result");
        }
        let compacted = memory
            .trigger_compaction(&thread.id, None)
            .await
            .expect("done");
        assert_eq!(compacted.compaction.expect("a compaction").by, "small-1");
    }
}

/// The examples of the README, compiled and run.
#[cfg(all(doctest, feature = "memory"))]
#[doc = include_str!("../README.md")]
struct Readme;
