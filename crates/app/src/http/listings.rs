//! The routes that list sessions, background work and spending.
//!
//! Not here: rules. A route checks only the bounds of HTTP.

use anyhow::Result;
use axum::Json;
use daybook_domain::spend::SpendBy;
use jiff::tz::TimeZone;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::bounds::{invalid_request, within};
use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, QueryParams};
use crate::service::caller::{named_caller, reach_of};
use crate::service::job_list::{JobList, list_jobs};
use crate::service::moment::beginning;
use crate::service::sessions::{SessionList, list_sessions};
use crate::service::spending::{SpendAnswer, SpendReport};

/// Most sessions or jobs in one answer.
const ITEMS: usize = 1000;

described_routes!(sessions, jobs, spend);

/// Which sessions to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SessionParams {
    /// Most sessions.
    #[param(minimum = 1, maximum = 1000, example = 20)]
    limit: Option<usize>,
    /// The value of `next` of the page before.
    after: Option<String>,
    /// The agent that asks: it reads its own memory, and that of its teams.
    #[param(max_length = 512, example = "harbour-bot")]
    agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[param(max_length = 512, example = "ada")]
    user: Option<String>,
    /// The room that it is in. In a room or a team no session of one person is listed.
    #[param(max_length = 512, example = "!pier:example.org")]
    room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[param(max_length = 512, example = "alpha+beta")]
    team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[param(max_length = 512, example = "tidepool")]
    project: Option<String>,
}

/// List sessions, newest activity first
#[utoipa::path(
    get,
    path = "/v1/sessions",
    operation_id = "listSessions",
    params(SessionParams),
    responses(
        (status = OK, description = "The sessions that the caller reads", body = SessionList),
        (status = "default", description = "They could not be listed", body = ErrorBody),
    ),
)]
async fn sessions(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<SessionParams>,
) -> Result<Json<SessionList>, HttpFault> {
    let limit = asked.limit.unwrap_or(20);
    within("limit", limit, ITEMS, "sessions")?;
    let answer = executor
        .run(move |daybook| async move {
            let caller = named_caller!(asked);
            let reach = reach_of(&daybook, Some(&caller)).await?;
            list_sessions(&daybook, &reach, asked.after.as_deref(), limit).await
        })
        .await?;
    Ok(Json(answer))
}

/// Which jobs to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct JobParams {
    /// Jobs that are done, too.
    #[serde(default)]
    #[param(default = false, example = true)]
    all: bool,
    /// Most jobs.
    #[param(minimum = 1, maximum = 1000, example = 50)]
    limit: Option<usize>,
    /// The value of `next` of the page before.
    after: Option<String>,
}

/// List background work: what waits, runs, rests or has failed
#[utoipa::path(
    get,
    path = "/v1/jobs",
    operation_id = "listJobs",
    params(JobParams),
    responses(
        (status = OK, description = "The jobs, by kind and key", body = JobList),
        (status = "default", description = "They could not be listed", body = ErrorBody),
    ),
)]
async fn jobs(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<JobParams>,
) -> Result<Json<JobList>, HttpFault> {
    let limit = asked.limit.unwrap_or(50);
    within("limit", limit, ITEMS, "jobs")?;
    let answer = executor
        .run(move |daybook| async move {
            list_jobs(&daybook, asked.all, asked.after.as_deref(), limit).await
        })
        .await?;
    Ok(Json(answer))
}

/// What sums of spending are made by.
#[derive(Deserialize, ToSchema, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum GroupName {
    /// The model.
    #[default]
    Model,
    /// The stage of the work.
    Stage,
    /// The user.
    User,
    /// The scope.
    Scope,
    /// The session.
    Session,
    /// The day, in UTC.
    Day,
    /// The month, in UTC.
    Month,
}

impl From<GroupName> for SpendBy {
    fn from(name: GroupName) -> Self {
        match name {
            GroupName::Model => Self::Model,
            GroupName::Stage => Self::Stage,
            GroupName::User => Self::User,
            GroupName::Scope => Self::Scope,
            GroupName::Session => Self::Session,
            GroupName::Day => Self::Day,
            GroupName::Month => Self::Month,
        }
    }
}

/// Which spending to sum.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SpendParams {
    /// What the sums are made by; `model` when left out.
    #[serde(default)]
    #[param(inline)]
    by: GroupName,
    /// Only calls since then: a date, or an age such as `7d`; since the first of this month, UTC, when left out.
    #[param(max_length = 128, example = "2026-02-04")]
    since: Option<String>,
}

/// Show calls of models, their cost, and what is left under caps
#[utoipa::path(
    get,
    path = "/v1/spend",
    operation_id = "getSpend",
    params(SpendParams),
    responses(
        (status = OK, description = "The sums", body = SpendAnswer),
        (status = "default", description = "They could not be read", body = ErrorBody),
    ),
)]
async fn spend(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<SpendParams>,
) -> Result<Json<SpendAnswer>, HttpFault> {
    let answer = executor
        .run(move |daybook| async move {
            let now = daybook.clock.now();
            let since = asked.since.map(|text| {
                beginning(&text, now, TimeZone::UTC).ok_or_else(|| {
                    invalid_request(format!(
                        "since is a date such as 2026-01-31, or an age such as 30d, and not {text}"
                    ))
                })
            });
            let since = since.transpose()?;
            let report = SpendReport::load(&daybook, asked.by.into(), since).await?;
            Ok(report.answer(&daybook))
        })
        .await?;
    Ok(Json(answer))
}
