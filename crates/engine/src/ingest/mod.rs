//! Taking transcripts in: told apart by content, read as a stream, redacted before anything is kept.
pub mod checkout;
pub mod projects;
pub mod redact;
