//! Stores sessions, jobs, extractions and the index.
//!
//! ```
//! use daybook_domain::{PageRequest, Tenant, seams::SessionCatalog};
//! use daybook_store::{SqliteOptions, SqliteStore};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! let store = SqliteStore::open(&folder.path().join("daybook.db"), SqliteOptions::default())?;
//! let newest = store.sessions(&Tenant::local(), PageRequest::first(10)).await?;
//! assert!(newest.items.is_empty());
//! # Ok::<(), daybook_domain::StoreError>(())
//! # }).unwrap();
//! ```
//!
//! These stores keep the promises of [`daybook_domain::seams`]: [`SqliteStore`] (feature `sqlite`, on by
//! default) on one file that any number of processes share, `PostgresStore` (feature `postgres`) on a server,
//! and [`MemoryStore`], which is always available and loses everything when it is dropped. All run the suites
//! of `daybook-testkit`, so all give the same answers. Files of the same name in each store keep the same
//! promises.
//!
//! Not here: rules about when work is due (`domain`), the text of anything, model calls.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

mod blocking;
#[cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "databases use the rest")
)]
mod bounds;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub mod damage;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod digests;
#[cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "databases use the rest")
)]
mod documents;
#[cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "databases use the rest")
)]
mod evidence;
pub mod flush_state;
mod labels;
mod lines;
mod log;
pub mod memory;
mod page_keys;
mod pollution;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod provenance;
mod purge;
#[cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "databases use the rest")
)]
mod quarantine;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod ranges;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod rescan;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod schema_history;
#[cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "databases use the rest")
)]
mod selections;
#[cfg(feature = "sqlite")]
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod spend;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod staged;
mod supersessions;
mod threads;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub mod transfer;
mod uses;

pub use flush_state::{JobRows, Ledgered};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore, Trust, VectorSearch, WaitObserver};
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, PageCache, SqliteOptions, SqliteStore};
