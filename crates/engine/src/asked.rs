//! Who is asked about a session.
//!
//! What is asked about different sessions may be charged to different people, or kept from some model: so
//! whoever asks is told anew each time whom to ask.
//!
//! Not here: how a model is charged for (`spend`).

use std::sync::Arc;

use daybook_domain::Session;
use daybook_domain::model::Model;

/// The model that is asked about a session.
pub type AskedAbout = dyn Fn(&Session) -> Arc<dyn Model> + Send + Sync;
