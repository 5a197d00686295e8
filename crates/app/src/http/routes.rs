//! What is asked, handed to the functions that every door uses.
//!
//! Not here: rules. A route checks bounds that only HTTP has, and translates.

use std::path::{Path, PathBuf};

use anyhow::Result;
use axum::Json;
use daybook_domain::index::Layer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::bounds::{QUESTION, at_most, within};
use super::counter::{Counter, Counters};
use super::fault::{Asked, ErrorBody, Fault, Queried};
use super::shapes::{
    AppendAnswer, AppendRequest, ContextAnswer, ContextQuery, Health, LayerName, RecallAnswer,
    RecallRequest, RememberAnswer, RememberRequest, TriggerAnswer, TriggerRequest, WordsAnswer,
    WordsQuery,
};
use super::told::told;
use super::{metrics, threads};
use crate::desk::{self, Ask, Standing, Whose};
use crate::found::Found;
use crate::here::Here;
use crate::overview::{Facts, Overview};
use crate::telling::{self, FOLDER, Happened, Said, Where};

/// Most answers to a question.
const ANSWERS: usize = 100;
/// Most scopes that one question names.
const SCOPES: usize = 100;
/// Most tokens that an agent is told.
const BUDGET: usize = 100_000;
/// Longest citation, in bytes.
const CITATION: usize = 512;
/// Most lines around a citation.
const AROUND: u32 = 500;

/// Every route, with what is published of it.
pub(super) fn all() -> OpenApiRouter<Counters> {
    OpenApiRouter::new()
        .routes(routes!(append))
        .routes(routes!(trigger))
        .routes(routes!(recall))
        .routes(routes!(remember))
        .routes(routes!(context))
        .routes(routes!(status))
        .routes(routes!(words))
        .merge(threads::all())
        .routes(routes!(metrics::metrics))
        .routes(routes!(health))
}

/// Append events to a session
///
/// Answers once the events are on disk; the session is extracted once it has rested. Sending the
/// same again adds nothing.
#[utoipa::path(
    post,
    path = "/v1/append",
    request_body = AppendRequest,
    responses(
        (status = OK, description = "All of it is on disk", body = AppendAnswer),
        (status = "default", description = "Nothing was acknowledged", body = ErrorBody),
    ),
)]
async fn append(
    counter: Counter,
    Asked(asked): Asked<AppendRequest>,
) -> Result<Json<AppendAnswer>, Fault> {
    let appended = counter
        .serve(move |daybook| async move {
            let session = telling::session(&daybook, &asked.agent, &asked.session)?;
            let events = told(asked.events, daybook.clock.now())?;
            let at = Where {
                folder: asked.folder,
                branch: asked.branch,
            };
            let said = Said {
                session,
                kind: asked.kind.map(Into::into),
                user: asked.user,
                at,
                events,
            };
            telling::append(&daybook, said).await
        })
        .await?;
    Ok(Json(appended.into()))
}

/// Tell what happened to a session
///
/// Decides when the session is extracted. Waits for no extraction; repeating it is safe.
#[utoipa::path(
    post,
    path = "/v1/trigger",
    request_body = TriggerRequest,
    responses(
        (status = OK, description = "It was taken note of", body = TriggerAnswer),
        (status = "default", description = "Nothing was changed", body = ErrorBody),
    ),
)]
async fn trigger(
    counter: Counter,
    Asked(asked): Asked<TriggerRequest>,
) -> Result<Json<TriggerAnswer>, Fault> {
    let triggered = counter
        .serve(move |daybook| async move {
            let session = telling::session(&daybook, &asked.agent, &asked.session)?;
            let successor = match &asked.successor {
                Some(id) => Some(telling::session(&daybook, &asked.agent, id)?),
                None => None,
            };
            let happened = Happened {
                session,
                user: asked.user,
                what: asked.what.into(),
                successor,
            };
            telling::happened(&daybook, happened).await
        })
        .await?;
    Ok(Json(triggered.into()))
}

/// Find what is remembered, with its source
#[utoipa::path(
    post,
    path = "/v1/recall",
    request_body = RecallRequest,
    responses(
        (status = OK, description = "The nearest answers, best first, and how likely it is that they answer the question", body = RecallAnswer),
        (status = "default", description = "It could not be looked for", body = ErrorBody),
    ),
)]
async fn recall(
    counter: Counter,
    Asked(asked): Asked<RecallRequest>,
) -> Result<Json<RecallAnswer>, Fault> {
    within("question", asked.question.len(), QUESTION, "bytes")?;
    within("limit", asked.limit, ANSWERS, "answers")?;
    at_most("scopes", asked.scopes.len(), SCOPES, "names")?;
    let ask = Ask {
        text: asked.question,
        limit: asked.limit,
        layers: asked.layers.into_iter().map(layer).collect(),
        scopes: asked.scopes,
        tools: asked.tools,
        strict: asked.strict,
    };
    let recalled = counter
        .serve(move |daybook| async move { desk::ask(&daybook, &ask).await })
        .await?;
    let mut results: Vec<Found> = recalled.answers.iter().map(Found::from).collect();
    if asked.explain {
        for (found, answer) in results.iter_mut().zip(&recalled.answers) {
            found.explain(answer);
        }
    }
    let confidence = recalled.confidence;
    Ok(Json(RecallAnswer {
        confidence: confidence.label.into(),
        confidence_score: confidence.score,
        results,
    }))
}

/// Keep something in your own words
#[utoipa::path(
    post,
    path = "/v1/remember",
    request_body = RememberRequest,
    responses(
        (status = OK, description = "It is kept", body = RememberAnswer),
        (status = "default", description = "It is not kept", body = ErrorBody),
    ),
)]
async fn remember(
    counter: Counter,
    Asked(asked): Asked<RememberRequest>,
) -> Result<Json<RememberAnswer>, Fault> {
    let folder = whole(asked.folder)?;
    let whose = asked.scope.map_or(Whose::Here, Whose::Named);
    let kept = counter
        .serve(move |daybook| async move {
            desk::note(&daybook, &asked.text, &whose, folder.as_deref()).await
        })
        .await?;
    Ok(Json(kept.into()))
}

/// What an agent should be told
///
/// For the start of its work, or of a conversation; from the memory that applies where it is.
#[utoipa::path(
    get,
    path = "/v1/context",
    params(ContextQuery),
    responses(
        (status = OK, description = "What to put in front of the agent", body = ContextAnswer),
        (status = "default", description = "It could not be put together", body = ErrorBody),
    ),
)]
async fn context(
    counter: Counter,
    Queried(asked): Queried<ContextQuery>,
) -> Result<Json<ContextAnswer>, Fault> {
    if let Some(budget) = asked.budget {
        within("budget", budget, BUDGET, "tokens")?;
    }
    let folder = whole(asked.folder)?;
    let standing = Standing {
        project: asked.project,
        branch: asked.branch,
        budget: asked.budget,
    };
    let briefing = counter
        .serve(move |daybook| async move {
            match folder {
                Some(folder) => desk::brief(&daybook, &folder, &standing).await,
                None => Ok(desk::brief_at(&daybook, Here::nowhere(), &standing)),
            }
        })
        .await?;
    Ok(Json(briefing.into()))
}

/// What is covered, pending, in gaps, and why
#[utoipa::path(
    get,
    path = "/v1/status",
    responses(
        (status = OK, description = "The state of the memory", body = Overview),
        (status = "default", description = "It could not be told", body = ErrorBody),
    ),
)]
async fn status(counter: Counter) -> Result<Json<Overview>, Fault> {
    let facts = counter
        .serve(|daybook| async move { Facts::gather(&daybook, 0).await })
        .await?;
    Ok(Json(facts.overview()))
}

/// The original words behind a citation
#[utoipa::path(
    get,
    path = "/v1/words",
    params(WordsQuery),
    responses(
        (status = OK, description = "The words", body = WordsAnswer),
        (status = "default", description = "They are not to be had", body = ErrorBody),
    ),
)]
async fn words(
    counter: Counter,
    Queried(asked): Queried<WordsQuery>,
) -> Result<Json<WordsAnswer>, Fault> {
    within("citation", asked.citation.len(), CITATION, "bytes")?;
    at_most("around", asked.around, AROUND, "lines")?;
    let words =
        counter
            .serve(move |daybook| async move {
                desk::words(&daybook, &asked.citation, asked.around).await
            })
            .await?;
    Ok(Json(words.into()))
}

/// Whether the server answers; needs no token
#[utoipa::path(
    get,
    path = "/health",
    security(()),
    responses((status = OK, description = "It does", body = Health)),
)]
async fn health() -> Json<Health> {
    Json(Health {
        ok: true,
        version: env!("CARGO_PKG_VERSION"),
    })
}

fn whole(folder: Option<String>) -> Result<Option<PathBuf>, Fault> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    within("folder", folder.len(), FOLDER, "bytes")?;
    if !Path::new(&folder).is_absolute() {
        return Err(Fault::request(format!(
            "folder {folder} is not a whole path; write for example /home/ada/tidepool"
        )));
    }
    Ok(Some(PathBuf::from(folder)))
}

fn layer(name: LayerName) -> Layer {
    match name {
        LayerName::Entry => Layer::Entry,
        LayerName::Observation => Layer::Observation,
        LayerName::Event => Layer::Event,
    }
}
