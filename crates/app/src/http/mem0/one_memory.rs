//! What the routes of mem0's platform and those of its own server have in common: one memory, by its id.
//!
//! Not here: the bodies in which the two say that something was done.

use axum::Json;
use axum::extract::Path;
use serde_json::json;

use super::{Answer, Mem0Fault, run};
use crate::http::executor::RequestExecutor;
use crate::service::mem0::Mem0Memory;
use crate::service::mem0::changing::{self, Update};
use crate::service::mem0::reading;

pub(super) async fn show(executor: RequestExecutor, Path(memory): Path<String>) -> Answer {
    let shown = run(&executor, |daybook| async move {
        reading::get(&daybook, &memory).await
    });
    Ok(Json(json!(shown.await?)))
}

pub(super) async fn history(executor: RequestExecutor, Path(memory): Path<String>) -> Answer {
    let past = run(&executor, |daybook| async move {
        reading::history(&daybook, &memory).await
    });
    Ok(Json(json!(past.await?)))
}

/// Changes a memory, and returns it as it is now.
pub(super) async fn update(
    executor: &RequestExecutor,
    memory: String,
    new: Update,
) -> Result<Mem0Memory, Mem0Fault> {
    let updated = run(executor, |daybook| async move {
        changing::update(&daybook, &memory, new).await
    });
    updated.await
}

/// Forgets a memory.
pub(super) async fn forget(executor: &RequestExecutor, memory: String) -> Result<(), Mem0Fault> {
    let deleted = run(executor, |daybook| async move {
        changing::delete(&daybook, &memory).await
    });
    deleted.await
}
