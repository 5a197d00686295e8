//! Threads over HTTP: working memory for agents in any language.
//!
//! Not here: rules. A route checks bounds that only HTTP has, and translates.

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
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::bounds::{QUESTION, at_most, unfit, within};
use super::counter::{Counter, Counters};
use super::fault::{Asked, ErrorBody, Fault, Queried};
use super::thread_shapes::{
    CompactRequest, ContextRequest, CreateRequest, DeletedAnswer, DispatchAnswer, DispatchQuery,
    EventBody, ListAnswer, ListQuery, PausedAnswer, StateQuery,
};
use crate::threads::{self, Changed, ContextAsked, Created, LISTED, Wanted};

/// Longest wait for a compaction, a little less than a request may take.
const WAIT: Duration = Duration::from_secs(8);
/// Most chunks that a compaction names.
const CHUNKS: usize = 1_000;

/// The routes of threads.
pub(super) fn all() -> OpenApiRouter<Counters> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(delete))
        .routes(routes!(state))
        .routes(routes!(dispatch))
        .routes(routes!(compact))
        .routes(routes!(context))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(end))
}

/// Make a thread
///
/// One that is there already is given back as it is. A session's name goes on with that session.
#[utoipa::path(
    post,
    path = "/v1/threads",
    request_body = CreateRequest,
    responses(
        (status = OK, description = "It is there", body = Created),
        (status = "default", description = "It was not made", body = ErrorBody),
    ),
)]
async fn create(
    counter: Counter,
    Asked(asked): Asked<CreateRequest>,
) -> Result<Json<Created>, Fault> {
    let wanted = Wanted {
        name: asked.name,
        agent: asked.agent,
        from: asked
            .from
            .map(|from| (from, asked.state.as_deref().map(StateId::from))),
    };
    let created =
        counter.serve(move |daybook| async move { threads::create(&daybook, &wanted).await });
    Ok(Json(created.await?))
}

/// The threads that there are, newest activity first
#[utoipa::path(
    get,
    path = "/v1/threads",
    params(ListQuery),
    responses(
        (status = OK, description = "The threads", body = ListAnswer),
        (status = "default", description = "They could not be told", body = ErrorBody),
    ),
)]
async fn list(
    counter: Counter,
    Queried(asked): Queried<ListQuery>,
) -> Result<Json<ListAnswer>, Fault> {
    within("limit", asked.limit, LISTED, "threads")?;
    let threads =
        counter.serve(move |daybook| async move { threads::list(&daybook, asked.limit).await });
    let threads = threads.await?;
    Ok(Json(ListAnswer { threads }))
}

/// Delete a thread; the session that it is stays
#[utoipa::path(
    delete,
    path = "/v1/threads/{thread}",
    params(("thread" = String, Path, description = "`agent:id`, or its label")),
    responses(
        (status = OK, description = "It is gone", body = DeletedAnswer),
        (status = "default", description = "It is not gone", body = ErrorBody),
    ),
)]
async fn delete(counter: Counter, Path(name): Path<String>) -> Result<Json<DeletedAnswer>, Fault> {
    let deleted = counter.serve(move |daybook| async move {
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

/// What a thread holds
///
/// With the seed's names: `id`, `chunkIds`, `chunks`, `metadata`; with `history`, `states` from the
/// first one on, each with what made it.
#[utoipa::path(
    get,
    path = "/v1/threads/{thread}/state",
    params(("thread" = String, Path, description = "`agent:id`, or its label"), StateQuery),
    responses(
        (status = OK, description = "The state", body = Value),
        (status = "default", description = "It could not be told", body = ErrorBody),
    ),
)]
async fn state(
    counter: Counter,
    Path(name): Path<String>,
    Queried(asked): Queried<StateQuery>,
) -> Result<Json<Value>, Fault> {
    let told = counter.serve(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        if asked.history {
            return Ok(json!({ "states": threads::history(&daybook, &thread).await? }));
        }
        let id = asked.state.as_deref().map(StateId::from);
        let state = threads::state(&daybook, &thread, id.as_ref()).await?;
        Ok(serde_json::to_value(state)?)
    });
    Ok(Json(told.await?))
}

/// Store events, and say what each came to
///
/// One event, an array of them, or one on each line, with the seed's names. Answers once all are on disk
/// and applied; what waits for a pause, or for a compaction of more than a few seconds, is said to wait,
/// and is applied in its turn. Of a request with a bad event nothing is stored. `metadata.eventId` makes
/// sending an event again safe.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/events",
    params(("thread" = String, Path, description = "`agent:id`, or its label"), DispatchQuery),
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
    counter: Counter,
    Path(name): Path<String>,
    Queried(asked): Queried<DispatchQuery>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<DispatchAnswer>, Fault> {
    json_or_lines(&headers)?;
    let results = counter.serve(move |daybook| async move {
        let events = events(&body, daybook.clock.now())?;
        let thread = threads::find(&daybook, &name).await?;
        let manager = daybook.manager()?;
        match asked.wait {
            true => threads::dispatch(&manager, &thread, &events, WAIT).await,
            false => threads::append(&manager, &thread, &events).await,
        }
    });
    let results = results.await?;
    Ok(Json(DispatchAnswer { results }))
}

/// Condense what a thread holds, now
///
/// Answers 202 when it takes longer than a few seconds: it goes on.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/compact",
    params(("thread" = String, Path, description = "`agent:id`, or its label")),
    request_body = CompactRequest,
    responses(
        (status = OK, description = "What it came to", body = Changed),
        (status = ACCEPTED, description = "It goes on"),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn compact(
    counter: Counter,
    Path(name): Path<String>,
    Asked(asked): Asked<CompactRequest>,
) -> Result<Response, Fault> {
    at_most("chunks", asked.chunks.len(), CHUNKS, "ids")?;
    let compacted = counter.serve(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        let chunks: Vec<ChunkId> = asked.chunks.iter().map(|id| id.as_str().into()).collect();
        threads::compact(&daybook.manager()?, &thread, &chunks, WAIT).await
    });
    Ok(match compacted.await? {
        Some(compacted) => Json(compacted).into_response(),
        None => (StatusCode::ACCEPTED, Json(json!({ "waits": "COMPACTING" }))).into_response(),
    })
}

/// What an agent's model is sent, within its window
///
/// `messages` as `wire` has them, for `anthropic` with `system` beside them; `tokens`, never more than fit;
/// `included`, `shortened` and `left_out` say which chunks are in it.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/context",
    params(("thread" = String, Path, description = "`agent:id`, or its label")),
    request_body = ContextRequest,
    responses(
        (status = OK, description = "The messages, and what is in them", body = Value),
        (status = "default", description = "They could not be put together", body = ErrorBody),
    ),
)]
async fn context(
    counter: Counter,
    Path(name): Path<String>,
    Asked(asked): Asked<ContextRequest>,
) -> Result<Json<Value>, Fault> {
    if let Some(question) = &asked.recall {
        within("recall", question.len(), QUESTION, "bytes")?;
    }
    let asked = ContextAsked::try_from(asked)?;
    let context = counter.serve(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        threads::context(&daybook, &thread, &asked).await
    });
    Ok(Json(context.await?))
}

/// Have a thread stand still: events are stored, and wait
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/pause",
    params(("thread" = String, Path, description = "`agent:id`, or its label")),
    responses(
        (status = OK, description = "It stands still", body = PausedAnswer),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn pause(counter: Counter, Path(name): Path<String>) -> Result<Json<PausedAnswer>, Fault> {
    let paused = counter.serve(move |daybook| async move {
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

/// Have a paused thread go on
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/resume",
    params(("thread" = String, Path, description = "`agent:id`, or its label")),
    responses(
        (status = OK, description = "What waited is applied", body = PausedAnswer),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn resume(counter: Counter, Path(name): Path<String>) -> Result<Json<PausedAnswer>, Fault> {
    let resumed = counter.serve(move |daybook| async move {
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

/// The session is over
///
/// What is ephemeral goes, and what was said is due to be learned.
#[utoipa::path(
    post,
    path = "/v1/threads/{thread}/end",
    params(("thread" = String, Path, description = "`agent:id`, or its label")),
    responses(
        (status = OK, description = "It is over", body = Changed),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn end(counter: Counter, Path(name): Path<String>) -> Result<Json<Changed>, Fault> {
    let ended = counter.serve(move |daybook| async move {
        let thread = threads::find(&daybook, &name).await?;
        threads::end(&daybook, &thread).await
    });
    Ok(Json(ended.await?))
}

fn json_or_lines(headers: &HeaderMap) -> Result<(), Fault> {
    let given = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let given = given.and_then(|it| it.split(';').next()).map(str::trim);
    match given {
        Some("application/json" | "application/x-ndjson" | "application/jsonl") => Ok(()),
        _ => Err(Fault::new(
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
            Err(error) => return Err(unfit(format!("events[{}]: {error}", values.len()))),
        }
        if values.len() > APPEND_EVENTS {
            break;
        }
    }
    if values.is_empty() || values.len() > APPEND_EVENTS {
        return Err(unfit(format!(
            "send 1 to {APPEND_EVENTS} events in one request"
        )));
    }
    let read = values.into_iter().enumerate().map(|(n, value)| {
        threads::event(value, now).map_err(|why| unfit(format!("events[{n}]: {why}")))
    });
    read.collect()
}
