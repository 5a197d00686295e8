//! Threads over HTTP: working memory for agents in any language.
//!
//! Not here: rules. A route checks the bounds of HTTP, and converts requests and answers.

use std::time::Duration;

use anyhow::Result;
use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use daybook_domain::Timestamp;
use daybook_domain::limits::APPEND_EVENTS;
use daybook_domain::working::{ChunkId, StateId, ThreadEvent};
use serde_json::{Value, json};

use super::bounds::{QUESTION, at_most, invalid_request, within};
use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody, QueryParams};
use super::thread_shapes::{
    CompactRequest, ContextRequest, CreateRequest, DeletedAnswer, DispatchAnswer, DispatchQuery,
    EventBody, ListAnswer, ListQuery, PausedAnswer, StateQuery,
};
use crate::service::append_api::ReportedVenue;
use crate::threads::{
    self, CreatedThread, LISTED, ThreadChange, ThreadContextQuery, ThreadPage, ThreadRequest,
};

/// Longest wait for a compaction, a little less than a request may take.
const WAIT: Duration = Duration::from_secs(8);
/// Most chunks that a compaction names.
const CHUNKS: usize = 1_000;

described_routes!(
    create, list, delete, state, dispatch, compact, context, pause, resume, end
);

/// Create a thread
///
/// An existing thread is returned unchanged. With a session's name, the thread continues that session.
#[utoipa::path(
    post,
    path = "/v1/threads",
    operation_id = "createThread",
    request_body = CreateRequest,
    responses(
        (status = OK, description = "The thread exists", body = CreatedThread),
        (status = "default", description = "The thread was not created", body = ErrorBody),
    ),
)]
async fn create(
    executor: RequestExecutor,
    JsonBody(request): JsonBody<CreateRequest>,
) -> Result<Json<CreatedThread>, HttpFault> {
    let wanted = ThreadRequest {
        name: request.name,
        agent: request.agent,
        user: request.user,
        held: ReportedVenue {
            room_id: request.room_id,
            thread_id: request.thread_id,
            team: request.team,
            scope: request.scope,
        },
        from: request
            .from
            .map(|from| (from, request.state.as_deref().map(StateId::from))),
    };
    let created =
        executor.run(move |daybook| async move { threads::create(&daybook, &wanted).await });
    Ok(Json(created.await?))
}

/// List the threads, newest activity first
#[utoipa::path(
    get,
    path = "/v1/threads",
    operation_id = "listThreads",
    params(ListQuery),
    responses(
        (status = OK, description = "The threads", body = ListAnswer),
        (status = "default", description = "They could not be read", body = ErrorBody),
    ),
)]
async fn list(
    executor: RequestExecutor,
    QueryParams(request): QueryParams<ListQuery>,
) -> Result<Json<ListAnswer>, HttpFault> {
    within("limit", request.limit, LISTED, "threads")?;
    let page = executor.run(move |daybook| async move {
        threads::page(&daybook, request.after.as_deref(), request.limit).await
    });
    let ThreadPage { threads, next } = page.await?;
    Ok(Json(ListAnswer { threads, next }))
}

/// Delete a thread; its session stays
#[utoipa::path(
    delete,
    path = "/v1/threads/{thread}",
    operation_id = "deleteThread",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides")),
    responses(
        (status = OK, description = "The thread is deleted", body = DeletedAnswer),
        (status = "default", description = "The thread was not deleted", body = ErrorBody),
    ),
)]
async fn delete(
    executor: RequestExecutor,
    Path(name): Path<String>,
) -> Result<Json<DeletedAnswer>, HttpFault> {
    let deleted = executor.run(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        threads::delete(&daybook, &thread).await?;
        Ok(thread.to_string())
    });
    let thread = deleted.await?;
    Ok(Json(DeletedAnswer {
        thread,
        deleted: true,
    }))
}

/// Show what a thread holds
///
/// With Team9's names: `id`, `chunkIds`, `chunks`, `metadata`; with `history`, `states` from the
/// first one on, each with the event that produced it.
#[utoipa::path(
    get,
    path = "/v1/threads/{thread}/state",
    operation_id = "getThreadState",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides"), StateQuery),
    responses(
        (status = OK, description = "The state", body = Value),
        (status = "default", description = "It could not be read", body = ErrorBody),
    ),
)]
async fn state(
    executor: RequestExecutor,
    Path(name): Path<String>,
    QueryParams(request): QueryParams<StateQuery>,
) -> Result<Json<Value>, HttpFault> {
    let shown = executor.run(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        if request.history {
            return Ok(json!({ "states": threads::history(&daybook, &thread).await? }));
        }
        let id = request.state.as_deref().map(StateId::from);
        let state = threads::state(&daybook, &thread, id.as_ref()).await?;
        Ok(serde_json::to_value(state)?)
    });
    Ok(Json(shown.await?))
}

/// Store events, and return the result of each
///
/// One event, an array of them, or one on each line, with Team9's names. Answers once all are on disk
/// and applied; an event that waits for the end of a pause, or for a compaction of more than a few seconds,
/// is marked as waiting, and is applied in its turn. Of a request with a bad event nothing is stored.
/// `metadata.eventId` makes sending an event again safe.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/events",
    operation_id = "dispatchEvent",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides"), DispatchQuery),
    request_body(
        content((EventBody = "application/json"), (String = "application/x-ndjson")),
        description = "1 to 512 events",
    ),
    responses(
        (status = OK, description = "All of it is on disk", body = DispatchAnswer),
        (status = "default", description = "Nothing was acknowledged", body = ErrorBody),
    ),
)]
async fn dispatch(
    executor: RequestExecutor,
    Path(name): Path<String>,
    QueryParams(request): QueryParams<DispatchQuery>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<DispatchAnswer>, HttpFault> {
    json_or_lines(&headers)?;
    let results = executor.run(move |daybook| async move {
        let events = events(&body, daybook.clock.now())?;
        let thread = threads::find(&daybook, &name).await?;
        let manager = daybook.thread_manager()?;
        match request.wait {
            true => threads::dispatch(&daybook, &manager, &thread, &events, WAIT).await,
            false => threads::append(&daybook, &manager, &thread, &events).await,
        }
    });
    let results = results.await?;
    Ok(Json(DispatchAnswer { results }))
}

/// Compact a thread, now
///
/// Answers 202 when it takes longer than a few seconds; the compaction then continues in the background.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/compact",
    operation_id = "compactThread",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides")),
    request_body = CompactRequest,
    responses(
        (status = OK, description = "The result of the compaction", body = ThreadChange),
        (status = ACCEPTED, description = "The compaction continues in the background"),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn compact(
    executor: RequestExecutor,
    Path(name): Path<String>,
    JsonBody(request): JsonBody<CompactRequest>,
) -> Result<Response, HttpFault> {
    at_most("chunks", request.chunks.len(), CHUNKS, "ids")?;
    let compacted = executor.run(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        let chunks: Vec<ChunkId> = request.chunks.iter().map(|id| id.as_str().into()).collect();
        threads::compact(&daybook.thread_manager()?, &thread, &chunks, WAIT).await
    });
    Ok(match compacted.await? {
        Some(compacted) => Json(compacted).into_response(),
        None => (StatusCode::ACCEPTED, Json(json!({ "waits": "COMPACTING" }))).into_response(),
    })
}

/// Build the messages for an agent's model, within its window
///
/// `messages` in the format that `wire` names, for `anthropic` with `system` beside them; `tokens`, never more than
/// fit; `included`, `shortened` and `left_out` list the chunks.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/context",
    operation_id = "getThreadContext",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides")),
    request_body = ContextRequest,
    responses(
        (status = OK, description = "The messages, and what is in them", body = Value),
        (status = "default", description = "The messages could not be assembled", body = ErrorBody),
    ),
)]
async fn context(
    executor: RequestExecutor,
    Path(name): Path<String>,
    JsonBody(request): JsonBody<ContextRequest>,
) -> Result<Json<Value>, HttpFault> {
    if let Some(question) = &request.recall {
        within("recall", question.len(), QUESTION, "bytes")?;
    }
    let request = ThreadContextQuery::try_from(request)?;
    let context = executor.run(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        threads::context(&daybook, &thread, &request).await
    });
    Ok(Json(context.await?))
}

/// Pause a thread: events are stored, and wait
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/pause",
    operation_id = "pauseThread",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides")),
    responses(
        (status = OK, description = "The thread is paused", body = PausedAnswer),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn pause(
    executor: RequestExecutor,
    Path(name): Path<String>,
) -> Result<Json<PausedAnswer>, HttpFault> {
    let paused = executor.run(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        threads::pause(&daybook, &thread).await?;
        Ok(thread.to_string())
    });
    let thread = paused.await?;
    Ok(Json(PausedAnswer {
        thread,
        paused: true,
        was_paused: false,
    }))
}

/// Resume a paused thread
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/resume",
    operation_id = "resumeThread",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides")),
    responses(
        (status = OK, description = "What waited is applied", body = PausedAnswer),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn resume(
    executor: RequestExecutor,
    Path(name): Path<String>,
) -> Result<Json<PausedAnswer>, HttpFault> {
    let resumed = executor.run(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        let was_paused = threads::resume(&daybook, &thread).await?;
        Ok((thread.to_string(), was_paused))
    });
    let (thread, was_paused) = resumed.await?;
    Ok(Json(PausedAnswer {
        thread,
        paused: false,
        was_paused,
    }))
}

/// End the session
///
/// Ephemeral chunks are removed, and the session becomes due for extraction.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/end",
    operation_id = "endThread",
    params(("thread" = String, Path, description = "`agent:id`, or its label", example = "harbour-bot:2026-03-02-tides")),
    responses(
        (status = OK, description = "The session has ended", body = ThreadChange),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn end(
    executor: RequestExecutor,
    Path(name): Path<String>,
) -> Result<Json<ThreadChange>, HttpFault> {
    let ended = executor.run(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        threads::end(&daybook, &thread).await
    });
    Ok(Json(ended.await?))
}

fn json_or_lines(headers: &HeaderMap) -> Result<(), HttpFault> {
    let given = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let given = given.and_then(|it| it.split(';').next()).map(str::trim);
    match given {
        Some("application/json" | "application/x-ndjson" | "application/jsonl") => Ok(()),
        _ => Err(HttpFault::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not_json",
            "the body must be JSON, or JSON lines; send the header \"Content-Type: \
             application/json\" or \"application/x-ndjson\"",
        )),
    }
}

/// One event, an array of them, or one on each line: all, or the first fault.
fn events(body: &[u8], now: Timestamp) -> Result<Vec<ThreadEvent>> {
    let mut values = Vec::new();
    for (n, value) in serde_json::Deserializer::from_slice(body)
        .into_iter::<Value>()
        .enumerate()
    {
        match value {
            Ok(Value::Array(several)) if n == 0 => values = several,
            Ok(value) => values.push(value),
            Err(error) => {
                return Err(invalid_request(format!(
                    "events[{}]: {error}",
                    values.len()
                )));
            }
        }
        if values.len() > APPEND_EVENTS {
            break;
        }
    }
    if values.is_empty() || values.len() > APPEND_EVENTS {
        return Err(invalid_request(format!(
            "send 1 to {APPEND_EVENTS} events in one request"
        )));
    }
    let read = values.into_iter().enumerate().map(|(n, value)| {
        threads::event_from_json(value, now)
            .map_err(|why| invalid_request(format!("events[{n}]: {why}")))
    });
    read.collect()
}
