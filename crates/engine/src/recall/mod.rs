//! Finding what is remembered.
pub mod rank;
pub mod tokens;
