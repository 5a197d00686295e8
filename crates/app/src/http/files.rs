//! The routes about memory files: listed, read, written, deleted, their past, and their states brought back.
//!
//! The name of a file is one segment of the path, so that `notes/tides.md` is sent as `notes%2Ftides.md`.
//!
//! Not here: rules. A route checks only the bounds of HTTP.

use anyhow::Result;
use axum::Json;
use axum::extract::Path;
use daybook_domain::Scope;
use daybook_engine::files::path::FilePath;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::bounds::within;
use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody, QueryParams};
use super::memories::HistoryAnswer;
use super::scope_params::ScopeParams;
use crate::service::caller::named_caller;
use crate::service::file_changes::{
    FileChange, FileList, FileText, delete_file, list_files, read_file, restore_file, write_file,
};
use crate::service::history::{commits_after, parse_file};
use crate::service::memory_changes::{MemoryChange, RequestedBy};
use crate::service::scope_choice::{ScopeChoice, open_folder};
use crate::wiring::Daybook;

/// Most files or changes in one answer.
const ITEMS: usize = 1000;
/// Longest text of a file, in bytes. The rest of the largest body is for its frame.
const TEXT: usize = 1000 * 1024;
/// Longest name of a state, in bytes.
const STATE: usize = 128;

described_routes!(list, read, write, delete, history, restore);

/// Which files to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParams {
    /// Whose memory; the person's when left out.
    #[param(max_length = 512, example = "project/tidepool")]
    scope: Option<String>,
    /// Most files.
    #[param(minimum = 1, maximum = 1000, example = 100)]
    limit: Option<usize>,
    /// The value of `next` of the page before.
    after: Option<String>,
    /// The agent that asks: it reads its own memory, and that of its teams.
    #[param(max_length = 512, example = "harbour-bot")]
    agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[param(max_length = 512, example = "ada")]
    user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is read.
    #[param(max_length = 512, example = "!pier:example.org")]
    room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[param(max_length = 512, example = "alpha+beta")]
    team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[param(max_length = 512, example = "tidepool")]
    project: Option<String>,
}

/// List the files of a memory, by name
#[utoipa::path(
    get,
    path = "/v1/files",
    operation_id = "listFiles",
    params(ListParams),
    responses(
        (status = OK, description = "The files of the last change", body = FileList),
        (status = "default", description = "They could not be listed", body = ErrorBody),
    ),
)]
async fn list(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<ListParams>,
) -> Result<Json<FileList>, HttpFault> {
    let limit = asked.limit.unwrap_or(100);
    within("limit", limit, ITEMS, "files")?;
    let choice = ScopeChoice {
        scope: asked.scope.clone(),
        project: None,
        caller: Some(named_caller!(asked)),
    };
    let answer = executor
        .run(move |daybook| async move {
            let scope = choice.one(&daybook, None).await?;
            list_files(&daybook, &scope, asked.after.as_deref(), limit).await
        })
        .await?;
    Ok(Json(answer))
}

/// Which state of a file to read.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadParams {
    /// Whose memory; the person's when left out.
    #[param(max_length = 512, example = "project/tidepool")]
    scope: Option<String>,
    /// As it was: the first digits of a change's id, or a time such as `2026-02-04` or RFC 3339.
    #[param(max_length = 128, example = "2026-02-04")]
    at: Option<String>,
    /// The agent that asks: it reads its own memory, and that of its teams.
    #[param(max_length = 512, example = "harbour-bot")]
    agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[param(max_length = 512, example = "ada")]
    user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is read.
    #[param(max_length = 512, example = "!pier:example.org")]
    room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[param(max_length = 512, example = "alpha+beta")]
    team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[param(max_length = 512, example = "tidepool")]
    project: Option<String>,
}

/// Read a memory file, as it is or as it was
#[utoipa::path(
    get,
    path = "/v1/files/{file}",
    operation_id = "readFile",
    params(
        ("file" = String, Path, description = "Its name in the memory folder, with %2F for each slash", example = "MEMORY.md"),
        ReadParams,
    ),
    responses(
        (status = OK, description = "Its text, in which secrets are hidden", body = FileText),
        (status = "default", description = "It could not be read", body = ErrorBody),
    ),
)]
async fn read(
    executor: RequestExecutor,
    Path(file): Path<String>,
    QueryParams(asked): QueryParams<ReadParams>,
) -> Result<Json<FileText>, HttpFault> {
    let choice = ScopeChoice {
        scope: asked.scope.clone(),
        project: None,
        caller: Some(named_caller!(asked)),
    };
    let answer = executor
        .run(move |daybook| async move {
            let scope = choice.one(&daybook, None).await?;
            let file = parse_file(&daybook, &scope, &file)?;
            read_file(&daybook, &scope, &file, asked.at.as_deref()).await
        })
        .await?;
    Ok(Json(answer))
}

/// The new text of a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WriteRequest {
    /// All of it. A line that comes back as it was read keeps the person's words, secrets included.
    #[schema(max_length = 1024000)]
    text: String,
    /// The state that you read, as the id of a change or a time: refused where the file has changed since.
    #[schema(max_length = 128)]
    since: Option<String>,
}

/// Write a memory file, or create one
///
/// It is a change of the person's through an agent, which `daybook undo` takes back. What the person edited by hand is
/// kept in the history first.
#[utoipa::path(
    put,
    path = "/v1/files/{file}",
    operation_id = "writeFile",
    params(
        ("file" = String, Path, description = "Its name in the memory folder, with %2F for each slash", example = "tides.md"),
        ScopeParams,
    ),
    request_body = WriteRequest,
    responses(
        (status = OK, description = "It is written", body = FileChange),
        (status = "default", description = "Nothing was written", body = ErrorBody),
    ),
)]
async fn write(
    executor: RequestExecutor,
    Path(file): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
    JsonBody(new): JsonBody<WriteRequest>,
) -> Result<Json<FileChange>, HttpFault> {
    super::bounds::at_most("text", new.text.len(), TEXT, "bytes")?;
    let answer = executor
        .run(move |daybook| async move {
            let (scope, file) = named(&daybook, &asked, &file).await?;
            let written = (&file, new.text.as_str());
            write_file(
                &daybook,
                &scope,
                written,
                new.since.as_deref(),
                RequestedBy::Agent,
            )
            .await
        })
        .await?;
    Ok(Json(answer))
}

/// Delete a memory file; its past stays in the history
#[utoipa::path(
    delete,
    path = "/v1/files/{file}",
    operation_id = "deleteFile",
    params(
        ("file" = String, Path, description = "Its name in the memory folder, with %2F for each slash", example = "tides.md"),
        ScopeParams,
    ),
    responses(
        (status = OK, description = "It is deleted", body = MemoryChange),
        (status = "default", description = "Nothing was deleted", body = ErrorBody),
    ),
)]
async fn delete(
    executor: RequestExecutor,
    Path(file): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
) -> Result<Json<MemoryChange>, HttpFault> {
    let answer = executor
        .run(move |daybook| async move {
            let (scope, file) = named(&daybook, &asked, &file).await?;
            delete_file(&daybook, &scope, &file, RequestedBy::Agent).await
        })
        .await?;
    Ok(Json(answer))
}

/// List the changes of a memory file, newest first
///
/// At most 1000; `/v1/history` goes on from there.
#[utoipa::path(
    get,
    path = "/v1/files/{file}/history",
    operation_id = "listFileHistory",
    params(
        ("file" = String, Path, description = "Its name in the memory folder, with %2F for each slash", example = "MEMORY.md"),
        ScopeParams,
    ),
    responses(
        (status = OK, description = "The changes", body = HistoryAnswer),
        (status = "default", description = "They could not be read", body = ErrorBody),
    ),
)]
async fn history(
    executor: RequestExecutor,
    Path(file): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
) -> Result<Json<HistoryAnswer>, HttpFault> {
    let answer = executor
        .run(move |daybook| async move {
            let scope = asked.choice().one(&daybook, None).await?;
            let folder = open_folder(&daybook, &scope).await?;
            let file = parse_file(&daybook, &scope, &file)?;
            let (commits, next) = commits_after(&folder, Some(&file), None, ITEMS)?;
            Ok(HistoryAnswer {
                scope: scope.to_string(),
                commits,
                next,
            })
        })
        .await?;
    Ok(Json(answer))
}

/// The state to bring back.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RestoreRequest {
    /// The first digits of a change's id, or a time such as `2026-02-04` or RFC 3339.
    #[schema(min_length = 1, max_length = 128)]
    at: String,
}

/// Bring a memory file back to an earlier state
#[utoipa::path(
    post,
    path = "/v1/files/{file}/restore",
    operation_id = "restoreFile",
    params(
        ("file" = String, Path, description = "Its name in the memory folder, with %2F for each slash", example = "MEMORY.md"),
        ScopeParams,
    ),
    request_body = RestoreRequest,
    responses(
        (status = OK, description = "It is as it was", body = MemoryChange),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn restore(
    executor: RequestExecutor,
    Path(file): Path<String>,
    QueryParams(asked): QueryParams<ScopeParams>,
    JsonBody(state): JsonBody<RestoreRequest>,
) -> Result<Json<MemoryChange>, HttpFault> {
    within("at", state.at.len(), STATE, "bytes")?;
    let answer = executor
        .run(move |daybook| async move {
            let (scope, file) = named(&daybook, &asked, &file).await?;
            restore_file(&daybook, &scope, &file, &state.at, RequestedBy::Agent).await
        })
        .await?;
    Ok(Json(answer))
}

/// The scope and the file of a change.
async fn named(daybook: &Daybook, asked: &ScopeParams, file: &str) -> Result<(Scope, FilePath)> {
    let scope = asked.choice().for_writing(daybook).await?;
    let file = parse_file(daybook, &scope, file)?;
    Ok((scope, file))
}
