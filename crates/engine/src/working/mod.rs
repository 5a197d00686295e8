//! Working memory: a thread's live state, from its events to what its agent's model is sent (seed 003).
//!
//! Not here: what chunks and states are (`daybook_domain::working`), where threads are kept, models.

pub mod context;
