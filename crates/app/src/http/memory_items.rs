//! The routes about one memory, by its id: what it is, how it came to be, and its changes.
//!
//! Not here: rules. A route checks only the bounds of HTTP.

use anyhow::Result;
use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use utoipa::ToSchema;

use super::bounds::{EDIT, QUESTION, within};
use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody, QueryParams};
use super::memories::{EditAnswer, ForgetAnswer, forgotten, forgotten_there};
use super::notes::saved_note;
use super::scope_params::ScopeParams;
use super::shapes::{RememberAnswer, RememberRequest};
use crate::service::memories::{self, ListedMemory, listed};
use crate::service::memory_changes::{self, RequestedBy};
use crate::service::memory_history::{MemoryHistory, history_of};

described_routes!(add, get, update, delete, history);

/// Add a memory in your own words
///
/// The same as `/v1/remember`. Recall finds it at once; the memory files show it after the next update.
#[utoipa::path(
    post,
    path = "/v1/memories",
    operation_id = "addMemory",
    request_body = RememberRequest,
    responses(
        (status = OK, description = "It is kept", body = RememberAnswer),
        (status = "default", description = "It is not kept", body = ErrorBody),
    ),
)]
async fn add(
    executor: RequestExecutor,
    JsonBody(asked): JsonBody<RememberRequest>,
) -> Result<Json<RememberAnswer>, HttpFault> {
    saved_note(&executor, asked).await
}

/// Show one memory, with its sources and the lines that show it
#[utoipa::path(
    get,
    path = "/v1/memories/{memory}",
    operation_id = "getMemory",
    params(
        ("memory" = String, Path, description = "Its id, of which eight digits are enough", example = "9f31ac2e5d1b4a77"),
        ScopeParams,
    ),
    responses(
        (status = OK, description = "The memory", body = ListedMemory),
        (status = "default", description = "It could not be read", body = ErrorBody),
    ),
)]
async fn get(
    executor: RequestExecutor,
    Path(id): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
) -> Result<Json<ListedMemory>, HttpFault> {
    within("memory", id.len(), QUESTION, "bytes")?;
    let found =
        executor
            .run(move |daybook| async move {
                memories::listed_by_id(&daybook, &asked.choice(), &id).await
            })
            .await?;
    Ok(Json(found))
}

/// New words for a memory.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UpdateRequest {
    /// The new words, which every file and recall show from now on.
    #[schema(min_length = 1, max_length = 16384)]
    text: String,
}

/// Give a memory other words, in every file and in recall
#[utoipa::path(
    patch,
    path = "/v1/memories/{memory}",
    operation_id = "updateMemory",
    params(
        ("memory" = String, Path, description = "Its id, of which eight digits are enough", example = "9f31ac2e5d1b4a77"),
        ScopeParams,
    ),
    request_body = UpdateRequest,
    responses(
        (status = OK, description = "It has the new words", body = EditAnswer),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn update(
    executor: RequestExecutor,
    Path(id): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
    JsonBody(new): JsonBody<UpdateRequest>,
) -> Result<Json<EditAnswer>, HttpFault> {
    within("memory", id.len(), QUESTION, "bytes")?;
    within("text", new.text.len(), EDIT, "bytes")?;
    let answer = executor
        .run(move |daybook| async move {
            let (named, by) = ((id.as_str(), new.text.as_str()), RequestedBy::Agent);
            let edited = memory_changes::edit_by_id(&daybook, &asked.choice(), named, by).await?;
            Ok(EditAnswer::from(edited))
        })
        .await?;
    Ok(Json(answer))
}

/// Forget a memory, in every file and in recall
///
/// `daybook undo` brings it back. The message that it came from stays in the log of its session; `/v1/purge` removes that,
/// too.
#[utoipa::path(
    delete,
    path = "/v1/memories/{memory}",
    operation_id = "deleteMemory",
    params(
        ("memory" = String, Path, description = "Its id, of which eight digits are enough", example = "9f31ac2e5d1b4a77"),
        ScopeParams,
    ),
    responses(
        (status = OK, description = "It is forgotten", body = ForgetAnswer),
        (status = "default", description = "Nothing was forgotten", body = ErrorBody),
    ),
)]
async fn delete(
    executor: RequestExecutor,
    Path(id): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
) -> Result<Json<ForgetAnswer>, HttpFault> {
    within("memory", id.len(), QUESTION, "bytes")?;
    let answer = executor
        .run(move |daybook| async move {
            if let Some(there) = forgotten_there(&daybook, &asked.choice(), &id).await? {
                return Ok(there);
            }
            let memory = memories::by_id(&daybook, &asked.choice(), &id).await?;
            forgotten(&daybook, &[memory]).await
        })
        .await?;
    Ok(Json(answer))
}

/// Show what became of a memory in the files, newest first
#[utoipa::path(
    get,
    path = "/v1/memories/{memory}/history",
    operation_id = "getMemoryHistory",
    params(
        ("memory" = String, Path, description = "Its id, of which eight digits are enough", example = "9f31ac2e5d1b4a77"),
        ScopeParams,
    ),
    responses(
        (status = OK, description = "Its past; empty before a file shows it", body = MemoryHistory),
        (status = "default", description = "It could not be read", body = ErrorBody),
    ),
)]
async fn history(
    executor: RequestExecutor,
    Path(id): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
) -> Result<Json<MemoryHistory>, HttpFault> {
    within("memory", id.len(), QUESTION, "bytes")?;
    let answer = executor
        .run(move |daybook| async move {
            let memory = memories::by_id(&daybook, &asked.choice(), &id).await?;
            let id = listed(&memory)?.id;
            history_of(&daybook, &memory, id).await
        })
        .await?;
    Ok(Json(answer))
}
