//! Conformance suites, a simulator, a manual clock and fixtures for everything that implements a Daybook seam.
//!
//! A store of threads shows that it keeps the promises of [`daybook_domain::working::ThreadStore`] with one
//! line in its tests, which makes a test of each promise; [`language_model_suite!`] does the same for a language model
//! of your own, [`store_suite!`] for a store of everything:
//!
//! ```
//! # mod your_tests {
//! use daybook_store::MemoryStore; // or your own
//! daybook_testkit::thread_store_suite!(|| Box::new(MemoryStore::new()));
//! # }
//! ```
//!
//! The closure makes an empty store; what it returns is dropped after the test and dereferences to
//! the store, so it may own a folder or a server. A promise is a function, and can be checked alone:
//!
//! ```
//! use daybook_testkit::{run, suites};
//! let store = daybook_store::MemoryStore::new();
//! run(suites::thread_store::a_thread_is_blocked_once(&store));
//! ```
//!
//! [`model`] drives a store with random operations and
//! compares all that can be seen of it with a small model. [`suites::tenant_isolation`] lets two tenants share a store.
//! [`llm_server`] is a provider of language models that follows a test's script.
//! [`embedder`] is an embedding model with predictable vectors.
//! [`homes`] writes folders as Codex, MindRoom and Daycare keep them.
//! [`mutation`] damages documents for parsers to read.
//! [`simulation`] interleaves everything that happens to jobs, and checks what must hold after each call.
//!
//! Never a normal dependency: tests alone use this.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "for tests alone, which use this machine's clock, folders and processes"
)]

pub mod clock;
pub mod embedder;
pub mod fixtures;
pub mod homes;
pub mod llm_server;
pub mod model;
pub mod mutation;
#[cfg(unix)]
pub mod postgres;
pub mod simulation;
pub mod suites;

pub use clock::ManualClock;
pub use embedder::FakeEmbedder;

/// Runs a future to its end, on a runtime of its own with one thread.
///
/// # Panics
/// When the runtime cannot be built.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the system lets a runtime watch its clock and its sockets")
        .block_on(future)
}
