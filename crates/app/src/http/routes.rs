//! What is asked, handed to the functions that every door uses.
//!
//! Not here: rules. A route checks bounds that only HTTP has, and translates.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use axum::Json;
use axum::extract::State;
use daybook_domain::Timestamp;
use daybook_domain::index::Layer;
use daybook_domain::limits::APPEND_EVENTS;
use daybook_engine::ingest::told::Told;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::{Instrument, Span};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::fault::{Asked, ErrorBody, Fault, Queried};
use super::shapes::{
    AppendAnswer, AppendRequest, ContextAnswer, ContextQuery, Health, LayerName, RecallAnswer,
    RecallRequest, RememberAnswer, RememberRequest, ToldEvent, TriggerAnswer, TriggerRequest,
    WordsAnswer, WordsQuery,
};
use super::traffic::Traffic;
use super::{metrics, threads};
use crate::desk::{self, Ask, Standing, Unfit, Whose};
use crate::found::Found;
use crate::here::Here;
use crate::overview::{Facts, Overview};
use crate::telling::{self, FOLDER, Happened, Said, Where};
use crate::wiring::Daybook;

/// Longest id of an event, in bytes.
const EVENT_ID: usize = 256;
/// Longest name of a tool, in bytes.
const TOOL: usize = 128;
/// Longest question, in bytes.
pub(super) const QUESTION: usize = 4096;
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
/// How far ahead of our clock a teller's may be, in milliseconds.
const AHEAD: i64 = 24 * 60 * 60 * 1000;

/// Every route, with what is published of it.
pub(super) fn all() -> OpenApiRouter<Counter> {
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

/// Where requests are served, a bounded number at once.
#[derive(Clone)]
pub(super) struct Counter {
    daybook: Arc<Daybook>,
    room: Arc<Semaphore>,
    traffic: Arc<Traffic>,
}

impl Counter {
    pub(super) fn new(daybook: Arc<Daybook>, most: usize) -> Self {
        let room = Arc::new(Semaphore::new(most));
        Self {
            daybook,
            room,
            traffic: Arc::default(),
        }
    }

    /// What was asked so far.
    pub(super) fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    /// Does `work` on a thread that it may block, and holds its place until it is really done,
    /// even when nobody waits for it any more.
    pub(super) async fn serve<T, F>(
        &self,
        work: impl FnOnce(Arc<Daybook>) -> F + Send + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>>,
    {
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            return Err(Fault::busy("too many requests at once"));
        };
        let (daybook, runtime) = (Arc::clone(&self.daybook), Handle::current());
        let request = Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let done = runtime.block_on(work(daybook).instrument(request));
            drop(place);
            done
        });
        match done.await {
            Ok(done) => Ok(done?),
            Err(_) => Err(anyhow::anyhow!("the work broke off").into()),
        }
    }
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
    State(counter): State<Counter>,
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
    State(counter): State<Counter>,
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
        (status = OK, description = "The answers, best first; none when nothing is known", body = RecallAnswer),
        (status = "default", description = "It could not be looked for", body = ErrorBody),
    ),
)]
async fn recall(
    State(counter): State<Counter>,
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
    };
    let answers = counter
        .serve(move |daybook| async move { desk::ask(&daybook, &ask).await })
        .await?;
    let results = answers.iter().map(Found::from).collect();
    Ok(Json(RecallAnswer { results }))
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
    State(counter): State<Counter>,
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
    State(counter): State<Counter>,
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
async fn status(State(counter): State<Counter>) -> Result<Json<Overview>, Fault> {
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
    State(counter): State<Counter>,
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

fn told(events: Vec<ToldEvent>, now: Timestamp) -> Result<Vec<Told>> {
    if events.is_empty() || events.len() > APPEND_EVENTS {
        let many = events.len();
        return Err(unfit(format!(
            "{many} events; send 1 to {APPEND_EVENTS} in one request"
        )));
    }
    let events = events.into_iter().enumerate();
    events.map(|(n, event)| one_told(n, event, now)).collect()
}

fn one_told(n: usize, event: ToldEvent, now: Timestamp) -> Result<Told> {
    for (field, text, most) in [("id", &event.id, EVENT_ID), ("tool", &event.tool, TOOL)] {
        if text
            .as_ref()
            .is_some_and(|text| text.is_empty() || text.len() > most)
        {
            return Err(unfit(format!(
                "events[{n}].{field} is 1 to {most} bytes, or left out"
            )));
        }
    }
    let role = event.role.into();
    if event.text.trim().is_empty() && role != daybook_engine::ingest::told::Role::Tool {
        return Err(unfit(format!(
            "events[{n}].text is blank; leave the event out"
        )));
    }
    let at = match event.at {
        Some(at) => Some(time(n, &at, now)?),
        None => None,
    };
    Ok(Told {
        id: event.id,
        role,
        text: event.text,
        at,
        tool: event.tool,
    })
}

fn time(n: usize, text: &str, now: Timestamp) -> Result<Timestamp> {
    let Ok(at) = text.parse::<jiff::Timestamp>() else {
        return Err(unfit(format!(
            "events[{n}].at is no time; write for example 2026-03-02T08:15:00Z"
        )));
    };
    let at = Timestamp(at.as_millisecond());
    // A session rests by the times that its events name: one from the future would wait until then.
    if at <= Timestamp::ZERO || at.0 > now.0.saturating_add(AHEAD) {
        return Err(unfit(format!(
            "events[{n}].at lies before 1970 or more than a day ahead; check the sender's clock"
        )));
    }
    Ok(at)
}

pub(super) fn unfit(message: String) -> anyhow::Error {
    Unfit::Request(message).into()
}

pub(super) fn within(what: &str, size: usize, most: usize, unit: &str) -> Result<(), Fault> {
    if size == 0 {
        return Err(Fault::request(format!("{what} is 1 to {most} {unit}")));
    }
    at_most(what, size, most, unit)
}

pub(super) fn at_most<N: PartialOrd + std::fmt::Display>(
    what: &str,
    size: N,
    most: N,
    unit: &str,
) -> Result<(), Fault> {
    if size > most {
        return Err(Fault::request(format!("{what} is at most {most} {unit}")));
    }
    Ok(())
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
