//! The route that removes something for good.
//!
//! A caller purges what is one user's alone: memories that rest on that user's sessions, one of these sessions, or all of
//! the user. Projects, times and all that was learned are purged at the command line.

use std::sync::Arc;

use anyhow::{Result, bail};
use axum::Json;
use daybook_domain::{Scope, ScopeKind};
use daybook_engine::jobs::purge::{PurgePlan, PurgeSelection};
use daybook_engine::stop::Stop;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::bounds::{QUESTION, within};
use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody};
use crate::process::run_on_new_thread;
use crate::purge::{self, Silent};
use crate::service::RequestError;
use crate::service::caller::NamedCaller;
use crate::service::memories::find_exact;
use crate::service::scope_choice::ScopeChoice;
use crate::wiring::Daybook;

described_routes!(remove);

/// What to remove: exactly one of `memory`, `session` and `everything`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PurgeRequest {
    /// An id of `/v1/memories`, or the exact text: with the events that it rests on.
    #[schema(max_length = 4096)]
    memory: Option<String>,
    /// A whole session, by its label or the beginning of its id.
    #[schema(max_length = 512, example = "7f78")]
    session: Option<String>,
    /// All of the user: their memory, their sessions, and what names them.
    #[serde(default)]
    everything: bool,
    /// The user whose it is, and who asks for it; the person of the data folder when left out.
    #[schema(max_length = 512, example = "ada")]
    user: Option<String>,
    /// The key of the project that it works in, whose memories it names.
    #[schema(max_length = 512, example = "tidepool")]
    project: Option<String>,
    /// Only answer what would be removed.
    #[serde(default)]
    dry_run: bool,
}

/// What was removed, or would be.
#[derive(Serialize, ToSchema)]
struct PurgeAnswer {
    /// Whether it is removed; false of a dry run, and where there was nothing to remove.
    purged: bool,
    /// Events.
    events: u64,
    /// Sessions of which nothing is left.
    sessions: u64,
    /// Memories of which nothing is left.
    observations: u64,
    /// The number of the receipt in `purged/receipts.jsonl`.
    receipt: Option<u64>,
    /// What was not reached, and who can: remotes of memory folders, transcripts, and what holds everywhere.
    unreachable: Vec<String>,
}

/// Remove something for good, so that nothing brings it back
///
/// Only what is one user's alone; everything else is purged with `daybook purge`. Other matches of a text are not removed:
/// the error names them. An answer may take as long as the history of the memory files is.
#[utoipa::path(
    post,
    path = "/v1/purge",
    operation_id = "purgeMemory",
    request_body = PurgeRequest,
    responses(
        (status = OK, description = "It is removed, or what would be", body = PurgeAnswer),
        (status = "default", description = "Nothing was removed, or the next command goes on", body = ErrorBody),
    ),
)]
async fn remove(
    executor: RequestExecutor,
    JsonBody(asked): JsonBody<PurgeRequest>,
) -> Result<Json<PurgeAnswer>, HttpFault> {
    for (field, text) in [("memory", &asked.memory), ("session", &asked.session)] {
        within(
            field,
            text.as_deref().map_or(1, str::len),
            QUESTION,
            "bytes",
        )?;
    }
    let answer = executor
        .run(move |daybook| async move {
            let user = user_of(&daybook, &asked)?;
            let selection = selection(&daybook, &asked, &user).await?;
            let plan = purge::plan_purge(&daybook, &selection).await?;
            check_owner(&daybook, &plan, &user).await?;
            match asked.dry_run || plan.is_empty() {
                true => Ok(planned(&plan)),
                false => run(&daybook, plan),
            }
        })
        .await?;
    Ok(Json(answer))
}

fn caller_of(asked: &PurgeRequest) -> NamedCaller {
    NamedCaller {
        user: asked.user.clone(),
        project: asked.project.clone(),
        ..NamedCaller::default()
    }
}

/// The user whose words are purged, by their name as it is stored.
fn user_of(daybook: &Daybook, asked: &PurgeRequest) -> Result<String> {
    let caller = caller_of(asked).resolve(&daybook.settings)?;
    Ok(caller
        .user
        .unwrap_or_else(|| daybook.settings.person.clone()))
}

async fn selection(daybook: &Daybook, asked: &PurgeRequest, user: &str) -> Result<PurgeSelection> {
    match (&asked.memory, &asked.session, asked.everything) {
        (Some(name), None, false) => {
            let choice = ScopeChoice {
                caller: Some(caller_of(asked)),
                ..ScopeChoice::default()
            };
            let found = find_exact(daybook, &choice, (name, "purge")).await?;
            Ok(PurgeSelection::Memories(found))
        }
        (None, Some(name), false) => {
            let mut found = daybook.store.find_sessions(&daybook.tenant, name).await?;
            found.retain(|session| owner(daybook, session.user.as_ref()) == user);
            match (found.len(), found.pop()) {
                (1, Some(session)) => Ok(PurgeSelection::Session(session.id)),
                _ => bail!(RequestError::NotFound(format!(
                    "{name} is not the name of one session of {user}; give its label or its id"
                ))),
            }
        }
        (None, None, true) => Ok(PurgeSelection::User(Scope {
            tenant: daybook.tenant.clone(),
            kind: ScopeKind::User,
            name: user.to_owned(),
        })),
        _ => bail!(RequestError::Invalid(
            "name exactly one of memory, session and everything".to_owned()
        )),
    }
}

/// The user that a session is of, who is the person of the data folder where it names none.
fn owner<'a>(daybook: &'a Daybook, user: Option<&'a String>) -> &'a str {
    user.unwrap_or(&daybook.settings.person)
}

/// Refuses a purge of other users' words: a memory may rest on sessions of several users.
async fn check_owner(daybook: &Daybook, plan: &PurgePlan, user: &str) -> Result<()> {
    for (id, _) in &plan.intent.events {
        let session = daybook.store.session(id).await?;
        if session.is_some_and(|session| owner(daybook, session.user.as_ref()) != user) {
            bail!(RequestError::Conflict(format!(
                "it rests on sessions of other users than {user}, whose words would go with it; `daybook purge` at the \
                 command line removes it"
            )));
        }
    }
    Ok(())
}

fn planned(plan: &PurgePlan) -> PurgeAnswer {
    PurgeAnswer {
        purged: false,
        events: plan.events,
        sessions: plan.sessions,
        observations: plan.observations.values().sum(),
        receipt: None,
        unreachable: plan.transcripts.clone(),
    }
}

/// Runs the purge on a thread of its own, because it starts runtimes.
fn run(daybook: &Arc<Daybook>, plan: PurgePlan) -> Result<PurgeAnswer> {
    let done = run_on_new_thread(|| purge::purge(daybook, plan, (&Stop::default(), &Silent)))?;
    let unreachable = done.unreachable;
    let others = unreachable.others.into_iter().map(str::to_owned);
    let named = unreachable
        .remotes
        .into_iter()
        .chain(unreachable.transcripts);
    Ok(PurgeAnswer {
        purged: true,
        events: done.report.events,
        sessions: done.report.sessions,
        observations: done.report.observations,
        receipt: Some(done.receipt.no),
        unreachable: named.chain(others).collect(),
    })
}
