//! The routes about what is remembered, how it came to be, and what a person wants changed.
//!
//! Not here: rules. A route checks only the bounds of HTTP.

use anyhow::Result;
use axum::Json;
use daybook_engine::jobs::memories::Memory;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::bounds::{QUESTION, within};
use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody, QueryParams};
use crate::service::caller::{named_caller, reach_of};
use crate::service::history::{
    self, DiffStates, HistoryCommit, StateDiff, commits_after, parse_file,
};
use crate::service::line_origin::{self, LineOrigin};
use crate::service::memories::{self, ListQuery, MemoryList, find_exact, find_one, parse_kind};
use crate::service::memory_changes::{self, MemoryChange, RequestedBy};
use crate::service::scope_choice::{ScopeChoice, open_folder};
use crate::wiring::Daybook;

/// Most changes or memories in one answer.
const ITEMS: usize = 1000;

described_routes!(list, why, changes, diff, forget, edit);

/// The scope that a request names, for the caller that it names.
macro_rules! choice {
    ($asked:ident) => {
        ScopeChoice {
            scope: $asked.scope.clone(),
            project: None,
            caller: Some(named_caller!($asked)),
        }
    };
}

/// Which memories to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParams {
    /// Whose memory; the person's when left out.
    #[param(example = "project/tidepool")]
    scope: Option<String>,
    /// Only this kind: `correction`, `preference`, `fact`, `decision`, `value`, `fix`, `open_end` or `note`.
    kind: Option<String>,
    /// Only memories that contain these words.
    #[param(max_length = 4096)]
    query: Option<String>,
    /// Most memories.
    #[param(minimum = 1, maximum = 1000)]
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

/// List what is remembered, with ids, sources and the lines that show it
#[utoipa::path(
    get,
    path = "/v1/memories",
    operation_id = "listMemories",
    params(ListParams),
    responses(
        (status = OK, description = "What files show first, then the rest", body = MemoryList),
        (status = "default", description = "It could not be listed", body = ErrorBody),
    ),
)]
async fn list(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<ListParams>,
) -> Result<Json<MemoryList>, HttpFault> {
    let limit = asked.limit.unwrap_or(20);
    within("limit", limit, ITEMS, "memories")?;
    let listed = executor
        .run(move |daybook| async move {
            let kind = asked.kind.as_deref().map(parse_kind).transpose()?;
            let scope = choice!(asked).one(&daybook, None).await?;
            let query = ListQuery {
                kinds: kind.into_iter().collect(),
                words: asked.query,
                limit,
                after: asked.after,
            };
            memories::list(&daybook, &scope, &query).await
        })
        .await?;
    Ok(Json(listed))
}

/// Which line to explain.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WhyParams {
    /// A part of the line's words, an id of `/v1/memories`, or `MEMORY.md:12`.
    #[param(min_length = 1, max_length = 4096, example = "write the test first")]
    line: String,
    /// Whose memory; all memories when left out.
    scope: Option<String>,
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

/// Show where a line of memory comes from
#[utoipa::path(
    get,
    path = "/v1/why",
    operation_id = "explainLine",
    params(WhyParams),
    responses(
        (status = OK, description = "Its observations, the original words, and its past", body = LineOrigin),
        (status = "default", description = "It could not be explained", body = ErrorBody),
    ),
)]
async fn why(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<WhyParams>,
) -> Result<Json<LineOrigin>, HttpFault> {
    within("line", asked.line.len(), QUESTION, "bytes")?;
    let origin = executor
        .run(move |daybook| async move {
            let choice = choice!(asked);
            let memory = find_one(&daybook, &choice, None, &asked.line).await?;
            let reach = reach_of(&daybook, choice.caller.as_ref()).await?;
            line_origin::why(&daybook, &memory, &reach).await
        })
        .await?;
    Ok(Json(origin))
}

/// Which changes to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HistoryParams {
    /// Whose memory; the person's when left out.
    #[param(example = "project/tidepool")]
    scope: Option<String>,
    /// Only changes of this file.
    #[param(example = "MEMORY.md")]
    file: Option<String>,
    /// Most changes.
    #[param(minimum = 1, maximum = 1000)]
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

/// The changes of a memory's files.
#[derive(Serialize, ToSchema)]
pub(super) struct HistoryAnswer {
    /// Whose memory it is.
    pub(super) scope: String,
    /// The changes, newest first.
    pub(super) commits: Vec<HistoryCommit>,
    /// The value of `after` for the next page; `null` on the last.
    pub(super) next: Option<String>,
}

/// List the changes of memory files, newest first
#[utoipa::path(
    get,
    path = "/v1/history",
    operation_id = "listFileChanges",
    params(HistoryParams),
    responses(
        (status = OK, description = "The changes", body = HistoryAnswer),
        (status = "default", description = "They could not be read", body = ErrorBody),
    ),
)]
async fn changes(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<HistoryParams>,
) -> Result<Json<HistoryAnswer>, HttpFault> {
    let limit = asked.limit.unwrap_or(20);
    within("limit", limit, ITEMS, "changes")?;
    let answer = executor
        .run(move |daybook| async move {
            let scope = choice!(asked).one(&daybook, None).await?;
            let folder = open_folder(&daybook, &scope).await?;
            let file = asked.file.map(|file| parse_file(&daybook, &scope, &file));
            let (file, after) = (file.transpose()?, asked.after.as_deref());
            let (commits, next) = commits_after(&folder, file.as_ref(), after, limit)?;
            Ok(HistoryAnswer {
                scope: scope.to_string(),
                commits,
                next,
            })
        })
        .await?;
    Ok(Json(answer))
}

/// Which states to compare: two of them, or the change made at one.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DiffParams {
    /// Whose memory; the person's when left out.
    #[param(example = "project/tidepool")]
    scope: Option<String>,
    /// The earlier state: the first digits of a change's id, or a time such as `2026-02-04` or RFC 3339.
    from: Option<String>,
    /// The later state; the newest when left out.
    to: Option<String>,
    /// Instead of both: what was changed at this state.
    at: Option<String>,
    /// Only this file.
    file: Option<String>,
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

/// Show what changed in memory files between two states
#[utoipa::path(
    get,
    path = "/v1/diff",
    operation_id = "diffFiles",
    params(DiffParams),
    responses(
        (status = OK, description = "The removed and added lines", body = StateDiff),
        (status = "default", description = "They could not be compared", body = ErrorBody),
    ),
)]
async fn diff(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<DiffParams>,
) -> Result<Json<StateDiff>, HttpFault> {
    let states = DiffStates {
        from: asked.from,
        to: asked.to,
        at: asked.at,
    };
    let diff = executor
        .run(move |daybook| async move {
            let scope = choice!(asked).one(&daybook, None).await?;
            let folder = open_folder(&daybook, &scope).await?;
            let file = asked.file.map(|file| parse_file(&daybook, &scope, &file));
            let file = file.transpose()?;
            history::diff(&daybook, (&scope, &folder), &states, file.as_ref())
        })
        .await?;
    Ok(Json(diff))
}

/// What to forget.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ForgetRequest {
    /// An id of `/v1/memories`, or the exact text.
    #[schema(min_length = 1, max_length = 4096)]
    memory: String,
    /// Whose memory; all memories when left out.
    scope: Option<String>,
    /// The agent that asks: it reads its own memory, and that of its teams.
    #[schema(max_length = 512, example = "harbour-bot")]
    agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[schema(max_length = 512, example = "ada")]
    user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is read.
    #[schema(max_length = 512, example = "!pier:example.org")]
    room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[schema(max_length = 512, example = "alpha+beta")]
    team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[schema(max_length = 512, example = "tidepool")]
    project: Option<String>,
}

/// What was forgotten.
#[derive(Serialize, ToSchema)]
pub(super) struct ForgetAnswer {
    /// The ids of what was forgotten.
    forgotten: Vec<String>,
    /// The changes of memory files, which `daybook undo` takes back.
    changes: Vec<MemoryChange>,
}

/// Forget something, in every file and in recall
///
/// Takes an id or the exact text. Other matches are not forgotten: the error names them.
#[utoipa::path(
    post,
    path = "/v1/forget",
    operation_id = "forgetMemory",
    request_body = ForgetRequest,
    responses(
        (status = OK, description = "It is forgotten", body = ForgetAnswer),
        (status = "default", description = "Nothing was forgotten", body = ErrorBody),
    ),
)]
async fn forget(
    executor: RequestExecutor,
    JsonBody(asked): JsonBody<ForgetRequest>,
) -> Result<Json<ForgetAnswer>, HttpFault> {
    within("memory", asked.memory.len(), QUESTION, "bytes")?;
    let answer = executor
        .run(move |daybook| async move {
            let (choice, named) = (choice!(asked), (asked.memory.as_str(), "forget"));
            if let Some(there) = forgotten_there(&daybook, &choice, &asked.memory).await? {
                return Ok(there);
            }
            let found = find_exact(&daybook, &choice, named).await?;
            forgotten(&daybook, &found).await
        })
        .await?;
    Ok(Json(answer))
}

/// Forgets a memory that a mem0 server keeps; `None` where it keeps none of this name.
pub(super) async fn forgotten_there(
    daybook: &Daybook,
    choice: &ScopeChoice,
    name: &str,
) -> Result<Option<ForgetAnswer>> {
    let there = memory_changes::forget_there(daybook, choice, None, name).await?;
    Ok(there.map(|(id, change)| ForgetAnswer {
        forgotten: vec![id],
        changes: vec![change],
    }))
}

/// Forgets memories, and names them.
pub(super) async fn forgotten(daybook: &Daybook, memories: &[Memory]) -> Result<ForgetAnswer> {
    let changes = memory_changes::forget(daybook, memories, RequestedBy::Agent).await?;
    let observations = memories.iter().flat_map(|memory| &memory.observations);
    Ok(ForgetAnswer {
        forgotten: observations.map(|one| one.id.to_string()).collect(),
        changes,
    })
}

/// A line, and its new words.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EditRequest {
    /// An id of `/v1/memories`, a part of the line's words, or `MEMORY.md:12`.
    #[schema(min_length = 1, max_length = 4096)]
    line: String,
    /// The new words.
    #[schema(min_length = 1, max_length = 16384)]
    words: String,
    /// Whose memory; all memories when left out.
    scope: Option<String>,
    /// The agent that asks: it reads its own memory, and that of its teams.
    #[schema(max_length = 512, example = "harbour-bot")]
    agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[schema(max_length = 512, example = "ada")]
    user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is read.
    #[schema(max_length = 512, example = "!pier:example.org")]
    room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[schema(max_length = 512, example = "alpha+beta")]
    team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[schema(max_length = 512, example = "tidepool")]
    project: Option<String>,
}

/// What was changed.
#[derive(Serialize, ToSchema)]
pub(super) struct EditAnswer {
    /// The change of memory files, which `daybook undo` takes back.
    change: MemoryChange,
    /// How many secrets in the words were hidden before they were kept.
    secrets_hidden: usize,
}

impl From<(MemoryChange, usize)> for EditAnswer {
    fn from((change, secrets_hidden): (MemoryChange, usize)) -> Self {
        Self {
            change,
            secrets_hidden,
        }
    }
}

/// Give a line of memory other words, in every file that shows it
#[utoipa::path(
    post,
    path = "/v1/edit",
    operation_id = "editLine",
    request_body = EditRequest,
    responses(
        (status = OK, description = "It is changed", body = EditAnswer),
        (status = "default", description = "It is not changed", body = ErrorBody),
    ),
)]
async fn edit(
    executor: RequestExecutor,
    JsonBody(asked): JsonBody<EditRequest>,
) -> Result<Json<EditAnswer>, HttpFault> {
    within("line", asked.line.len(), QUESTION, "bytes")?;
    let answer = executor
        .run(move |daybook| async move {
            let memory = find_one(&daybook, &choice!(asked), None, &asked.line).await?;
            let by = RequestedBy::Agent;
            let edited = memory_changes::edit(&daybook, &memory, &asked.words, by).await?;
            Ok(EditAnswer::from(edited))
        })
        .await?;
    Ok(Json(answer))
}
