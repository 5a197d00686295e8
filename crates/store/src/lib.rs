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
//! Two stores keep the promises of [`daybook_domain::seams`]: [`SqliteStore`] on one file that any
//! number of processes share, and [`MemoryStore`], which forgets everything when it is dropped.
//! Both run the suites of `daybook-testkit`, so what one answers the other answers too. Files of
//! the same name in `sqlite` and `memory` keep the same promises.
//!
//! Not here: rules about when work is due (`domain`), the text of anything, model calls.

mod blocking;
mod bounds;
mod documents;
mod evidence;
pub mod flush_state;
mod labels;
mod lines;
mod log;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
mod ranges;
mod schema_history;
mod spend;
pub mod sqlite;
mod staged;
mod threads;
pub mod transfer;

pub use flush_state::{JobRows, Ledgered};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore, Trust};
pub use sqlite::{Durability, SqliteOptions, SqliteStore};
