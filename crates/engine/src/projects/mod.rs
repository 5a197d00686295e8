//! Which project each folder belongs to.
//!
//! [`mod@assign`] decides it, as a pure function of all evidence; [`settle`] compares the result with the store.
//!
//! Not here: moving observations along with a folder (`jobs`).

pub mod assign;
pub mod settle;
