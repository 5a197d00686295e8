//! Where Daybook remembers: sessions, jobs, extractions and the index.
//!
//! ```
//! use daybook_domain::{seams::SessionStore, Tenant};
//! use daybook_store::{SqliteOptions, SqliteStore};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! # let folder = tempfile::tempdir().unwrap();
//! let store = SqliteStore::open(&folder.path().join("daybook.db"), SqliteOptions::default())?;
//! assert!(store.sessions(&Tenant::local(), 10).await?.is_empty());
//! # Ok::<(), daybook_domain::StoreError>(())
//! # }).unwrap();
//! ```
//!
//! These stores keep the promises of [`daybook_domain::seams`]: [`SqliteStore`] (feature `sqlite`, on by
//! default) on one file that any number of processes share, `PostgresStore` (feature `postgres`) on a server,
//! and [`MemoryStore`], which is always there and forgets everything when it is dropped. All run the suites
//! of `daybook-testkit`, so what one answers the others answer too. Files of the same name keep the same
//! promises.
//!
//! Not here: rules about when work is due (`domain`), the text of anything, model calls.

mod blocking;
#[cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "databases use the rest")
)]
mod bounds;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub mod damage;
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
mod nearest;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod ranges;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod schema_history;
#[cfg(feature = "sqlite")]
mod signs;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod spend;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod staged;
mod threads;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub mod transfer;

pub use flush_state::{JobRows, Ledgered};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore, Trust, WaitObserver};
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, SqliteOptions, SqliteStore};
