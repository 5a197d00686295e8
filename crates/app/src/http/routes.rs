//! The routes: each converts a request, calls a function of the service, and converts the result.
//!
//! Not here: rules. A route checks only the bounds of HTTP.

#![expect(deprecated, reason = "an old route is served until the next release")]

use std::path::{Path, PathBuf};

use anyhow::Result;
use axum::Json;
use daybook_domain::index::MemoryLayer;
use daybook_engine::recall::interface_use::InterfaceUse;

use super::bounds::{QUESTION, absolute_folder, at_most, within};
use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody, QueryParams};
use super::notes::saved_note;
use super::reported_events::reported_events;
use super::shapes::{
    AppendAnswer, AppendRequest, ContextAnswer, ContextParams, Health, LayerName, RecallAnswer,
    RecallRequest, RememberAnswer, RememberRequest, ShowAnswer, ShowQuery, TriggerAnswer,
    TriggerRequest,
};
use super::{
    changes, entities, files, listings, memories, memory_items, memory_tool, metrics, openapi,
    purge, threads,
};
use crate::service::append_api::{
    self, ReportedPlace, ReportedVenue, SessionAppend, SessionTrigger,
};
use crate::service::caller::{NamedCaller, named_caller, reach_of};
use crate::service::context::{self, context_at, context_in};
use crate::service::current_place::CurrentPlace;
use crate::service::overview::{Overview, TenantMemoryState};
use crate::service::recall::{RecallQuery, answer_query};
use crate::service::search_result::SearchResult;
use crate::service::show::load_cited;

/// Most answers to a question.
const ANSWERS: usize = 100;
/// Most scopes that one question names.
const SCOPES: usize = 100;
/// Most tokens of a context.
const BUDGET: usize = 100_000;
/// Longest list of files, and longest prompt, in bytes.
const AT_HAND: usize = 64 * 1024;
/// Longest citation, in bytes.
const CITATION: usize = 512;
/// Most lines around a citation.
const AROUND: u32 = 500;

described_routes!(
    append, trigger, recall, remember, context, status, show, words, health;
    memories, memory_items, files, entities, listings, changes, memory_tool, purge, threads, metrics,
    openapi,
);

/// Append events to a session
///
/// Answers once the events are on disk; the session is extracted once it has rested. Sending the
/// same again adds nothing.
#[utoipa::path(
    post,
    path = "/v1/append",
    operation_id = "appendEvents",
    request_body = AppendRequest,
    responses(
        (status = OK, description = "All of it is on disk", body = AppendAnswer),
        (status = "default", description = "Nothing was acknowledged", body = ErrorBody),
    ),
)]
async fn append(
    executor: RequestExecutor,
    JsonBody(request): JsonBody<AppendRequest>,
) -> Result<Json<AppendAnswer>, HttpFault> {
    let appended = executor
        .run(move |daybook| async move {
            let session = append_api::session_id(&daybook, &request.agent, &request.session)?;
            let events = reported_events(request.events, daybook.clock.now())?;
            let at = ReportedPlace {
                folder: request.folder,
                branch: request.branch,
            };
            let append = SessionAppend {
                session,
                kind: request.kind.map(Into::into),
                user: request.user,
                at,
                held: ReportedVenue {
                    room_id: request.room_id,
                    thread_id: request.thread_id,
                    team: request.team,
                    scope: request.scope,
                },
                events,
            };
            append_api::append(&daybook, append).await
        })
        .await?;
    Ok(Json(appended.into()))
}

/// Report what happened to a session
///
/// Decides when the session is extracted. Waits for no extraction; repeating it is safe.
#[utoipa::path(
    post,
    path = "/v1/trigger",
    operation_id = "reportTrigger",
    request_body = TriggerRequest,
    responses(
        (status = OK, description = "The trigger was applied", body = TriggerAnswer),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn trigger(
    executor: RequestExecutor,
    JsonBody(request): JsonBody<TriggerRequest>,
) -> Result<Json<TriggerAnswer>, HttpFault> {
    let triggered = executor
        .run(move |daybook| async move {
            let session = append_api::session_id(&daybook, &request.agent, &request.session)?;
            let successor = match &request.successor {
                Some(id) => Some(append_api::session_id(&daybook, &request.agent, id)?),
                None => None,
            };
            let reported = SessionTrigger {
                session,
                user: request.user,
                trigger: request.what.into(),
                successor,
            };
            append_api::apply_trigger(&daybook, reported).await
        })
        .await?;
    Ok(Json(triggered.into()))
}

/// Find what is remembered, with its source
#[utoipa::path(
    post,
    path = "/v1/recall",
    operation_id = "recallMemories",
    request_body = RecallRequest,
    responses(
        (status = OK, description = "The nearest answers, best first, and how likely it is that they answer the question", body = RecallAnswer),
        (status = "default", description = "The search failed", body = ErrorBody),
    ),
)]
async fn recall(
    executor: RequestExecutor,
    JsonBody(request): JsonBody<RecallRequest>,
) -> Result<Json<RecallAnswer>, HttpFault> {
    within("question", request.question.len(), QUESTION, "bytes")?;
    within("limit", request.limit, ANSWERS, "answers")?;
    at_most("scopes", request.scopes.len(), SCOPES, "names")?;
    let query = RecallQuery {
        text: request.question,
        limit: request.limit,
        layers: request.layers.into_iter().map(layer).collect(),
        scopes: request.scopes,
        tools: request.tools,
        strict: request.strict,
        at: request.at,
        caller: Some(named_caller!(request)),
    };
    let recalled = executor
        .run(move |daybook| async move { answer_query(&daybook, &query).await })
        .await?;
    executor.record_use(InterfaceUse::of_answers(&recalled.answers));
    let mut results: Vec<SearchResult> = recalled.answers.iter().map(SearchResult::from).collect();
    if request.explain {
        for (found, answer) in results.iter_mut().zip(&recalled.answers) {
            found.explain(answer);
        }
    }
    let confidence = recalled.confidence;
    Ok(Json(RecallAnswer {
        confidence: confidence.label.into(),
        confidence_score: confidence.score,
        without_vectors: recalled.without_vectors,
        unanswered: recalled.unanswered,
        results,
    }))
}

/// Keep something in your own words
#[utoipa::path(
    post,
    path = "/v1/remember",
    operation_id = "rememberText",
    request_body = RememberRequest,
    responses(
        (status = OK, description = "It is kept", body = RememberAnswer),
        (status = "default", description = "It is not kept", body = ErrorBody),
    ),
)]
async fn remember(
    executor: RequestExecutor,
    JsonBody(request): JsonBody<RememberRequest>,
) -> Result<Json<RememberAnswer>, HttpFault> {
    saved_note(&executor, request).await
}

/// The memory to give an agent
///
/// For the start of its work, or of a conversation; from the memory that applies where the agent works.
#[utoipa::path(
    get,
    path = "/v1/context",
    operation_id = "getContext",
    params(ContextParams),
    responses(
        (status = OK, description = "What to put in front of the agent", body = ContextAnswer),
        (status = "default", description = "The context could not be assembled", body = ErrorBody),
    ),
)]
async fn context(
    executor: RequestExecutor,
    QueryParams(request): QueryParams<ContextParams>,
) -> Result<Json<ContextAnswer>, HttpFault> {
    if let Some(budget) = request.budget {
        within("budget", budget, BUDGET, "tokens")?;
    }
    let folder = absolute_folder(request.folder)?;
    for (name, text) in [("files", &request.files), ("prompt", &request.prompt)] {
        at_most(name, text.as_ref().map_or(0, String::len), AT_HAND, "bytes")?;
    }
    let files = request.files.as_deref().unwrap_or_default().lines();
    let query = context::ContextQuery {
        project: request.project,
        branch: request.branch,
        files: files.map(PathBuf::from).collect(),
        prompt: request.prompt,
        budget: request.budget,
        caller: NamedCaller {
            agent: request.agent,
            user: request.user,
            room_id: request.room_id,
            team: request.team,
            project: None,
        },
    };
    let context = executor
        .run(move |daybook| async move {
            match folder {
                Some(folder) => context_in(&daybook, &folder, &query).await,
                None => {
                    let nowhere = Path::new("");
                    context_at(&daybook, CurrentPlace::unknown(), nowhere, &query).await
                }
            }
        })
        .await?;
    executor.record_use(InterfaceUse::Text(context.assembled.text.clone()));
    Ok(Json(context.into()))
}

/// Show what is covered, pending, in gaps, and why
#[utoipa::path(
    get,
    path = "/v1/status",
    operation_id = "getStatus",
    responses(
        (status = OK, description = "The state of the memory", body = Overview),
        (status = "default", description = "It could not be read", body = ErrorBody),
    ),
)]
async fn status(executor: RequestExecutor) -> Result<Json<Overview>, HttpFault> {
    let state = executor
        .run(|daybook| async move { TenantMemoryState::load(&daybook, 0).await })
        .await?;
    Ok(Json(state.overview()))
}

/// Show the original text behind a citation
#[utoipa::path(
    get,
    path = "/v1/show",
    operation_id = "showCitation",
    params(ShowQuery),
    responses(
        (status = OK, description = "The cited events", body = ShowAnswer),
        (status = "default", description = "They could not be shown", body = ErrorBody),
    ),
)]
async fn show(
    executor: RequestExecutor,
    QueryParams(request): QueryParams<ShowQuery>,
) -> Result<Json<ShowAnswer>, HttpFault> {
    within("citation", request.citation.len(), CITATION, "bytes")?;
    at_most("around", request.around, AROUND, "lines")?;
    let (citation, around) = (request.citation.clone(), request.around);
    let caller = named_caller!(request);
    let cited = executor
        .run(move |daybook| async move {
            let reach = reach_of(&daybook, Some(&caller)).await?;
            load_cited(&daybook, &citation, around, &reach).await
        })
        .await?;
    let (session, events) = &cited;
    executor.record_use(InterfaceUse::of_words(
        &request.citation,
        &session.id,
        events,
    ));
    Ok(Json(cited.into()))
}

/// The old name of `/v1/show`, until the next release
#[deprecated = "renamed to /v1/show"]
#[utoipa::path(
    get,
    path = "/v1/words",
    operation_id = "showWords",
    params(ShowQuery),
    responses(
        (status = OK, description = "The cited events", body = ShowAnswer),
        (status = "default", description = "They could not be shown", body = ErrorBody),
    ),
)]
async fn words(
    executor: RequestExecutor,
    query: QueryParams<ShowQuery>,
) -> Result<Json<ShowAnswer>, HttpFault> {
    show(executor, query).await
}

/// Whether the server answers; needs no token
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "getHealth",
    security(()),
    responses((status = OK, description = "It does", body = Health)),
)]
async fn health() -> Json<Health> {
    Json(Health {
        ok: true,
        version: env!("CARGO_PKG_VERSION"),
    })
}

fn layer(name: LayerName) -> MemoryLayer {
    match name {
        LayerName::Entry => MemoryLayer::Entry,
        LayerName::Observation => MemoryLayer::Observation,
        LayerName::Event => MemoryLayer::Event,
    }
}
