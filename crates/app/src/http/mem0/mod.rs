//! The routes of mem0: those of its platform, which its client calls, and those of its own server.
//!
//! They stand beside Daybook's, behind the same checks: their paths differ from all of ours, if only by the slash at the
//! end. They are no part of the published description, because mem0 describes them. Errors have the body that its clients
//! read.
//!
//! Not here: what a memory of mem0 is (`service::mem0`).

mod one_memory;
mod open_source;
mod platform;

use std::future::Future;
use std::sync::Arc;

use anyhow::Result;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::bounds::{QUESTION, within};
use super::executor::{RequestExecutor, TenantExecutors};
use super::fault::{HttpFault, JsonBody, QueryParams};
use crate::service::mem0::Owners;
use crate::service::mem0::adding::{Addition, Message};
use crate::service::mem0::filter::Filter;
use crate::service::mem0::reading::{Wanted, of_owners};
use crate::wiring::Daybook;

/// Most messages of one request.
const MESSAGES: usize = 1_000;

pub(super) fn routes() -> Router<TenantExecutors> {
    platform::routes().merge(open_source::routes())
}

/// An error in mem0's form.
#[derive(Debug)]
struct Mem0Fault(HttpFault);

impl<E: Into<HttpFault>> From<E> for Mem0Fault {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Mem0Fault {
    fn into_response(self) -> Response {
        let (status, detail) = self.0.into_parts();
        (status, Json(json!({ "detail": detail }))).into_response()
    }
}

type Answer = Result<Json<Value>, Mem0Fault>;

/// A JSON body; a missing one is empty.
struct Mem0Body<T>(T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Mem0Body<T> {
    type Rejection = Mem0Fault;

    async fn from_request(request: Request, state: &S) -> Result<Self, Mem0Fault> {
        let JsonBody(body) = JsonBody::from_request(request, state).await?;
        Ok(Self(body))
    }
}

/// A query.
struct Mem0Query<T>(T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Mem0Query<T> {
    type Rejection = Mem0Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Mem0Fault> {
        let QueryParams(query) = QueryParams::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

/// Runs the work of a request.
async fn run<T, F>(
    executor: &RequestExecutor,
    work: impl FnOnce(Arc<Daybook>) -> F + Send + 'static,
) -> Result<T, Mem0Fault>
where
    T: Send + 'static,
    F: Future<Output = Result<T>>,
{
    Ok(executor.run(work).await?)
}

/// What is to be kept.
#[derive(Deserialize)]
struct AddRequest {
    messages: Value,
    #[serde(flatten)]
    owners: Owners,
    #[serde(default)]
    filters: Option<Owners>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    expiration_date: Option<String>,
    #[serde(default)]
    infer: Option<bool>,
}

impl AddRequest {
    /// The addition, and whether something is to be learned from it instead of keeping it as it is.
    fn parse(self) -> Result<(Addition, bool), Mem0Fault> {
        let messages = match self.messages {
            Value::String(text) => json!([{"role": "user", "content": text}]),
            one @ Value::Object(_) => json!([one]),
            other => other,
        };
        let messages: Vec<Message> = serde_json::from_value(messages).map_err(|_| {
            HttpFault::request("messages is a list of objects with role and content")
        })?;
        within("messages", messages.len(), MESSAGES, "messages")?;
        let owners = match self.filters {
            Some(filters) if self.owners.is_empty() => filters,
            Some(_) | None => self.owners,
        };
        if owners.is_empty() {
            return Err(no_owner().into());
        }
        let addition = Addition {
            messages,
            owners,
            metadata: self.metadata.unwrap_or_default(),
            expiration_date: self.expiration_date,
        };
        Ok((addition, self.infer.unwrap_or(true)))
    }
}

fn no_owner() -> HttpFault {
    HttpFault::request("At least one identifier (user_id, agent_id, run_id) is required.")
}

/// What to search or list.
#[derive(Deserialize, Default)]
struct FindRequest {
    #[serde(default)]
    query: String,
    #[serde(default)]
    filters: Option<Map<String, Value>>,
    #[serde(flatten)]
    owners: Owners,
    #[serde(default)]
    categories: Option<Vec<String>>,
    #[serde(default, alias = "limit")]
    top_k: Option<usize>,
    #[serde(default)]
    threshold: Option<f64>,
    #[serde(default)]
    show_expired: Option<bool>,
}

impl FindRequest {
    /// The wanted memories. Owners beside the filters count as filters, as older clients send them.
    fn wanted(&self) -> Result<Wanted, Mem0Fault> {
        let mut fields = json!(self.owners).as_object().cloned().unwrap_or_default();
        fields.extend(self.filters.clone().unwrap_or_default());
        if let Some(categories) = &self.categories {
            fields.insert("categories".to_owned(), json!({ "in": categories }));
        }
        let filter = Filter::parse(fields)?;
        if !filter.names_owner() {
            return Err(no_owner().into());
        }
        Ok(Wanted {
            filter,
            expired: self.show_expired.unwrap_or(false),
        })
    }

    fn check_query(&self) -> Result<(), Mem0Fault> {
        within("query", self.query.trim().len(), QUESTION, "bytes")?;
        Ok(())
    }
}

/// All that belongs to these owners, whose last day does not matter.
fn all_of(owners: &Owners) -> Result<Wanted, Mem0Fault> {
    if owners.is_empty() {
        return Err(HttpFault::request("At least one identifier is required.").into());
    }
    Ok(Wanted {
        filter: of_owners(owners)?,
        expired: true,
    })
}

/// The owner that a path names.
fn owner_of(kind: &str, name: String) -> Result<Owners, Mem0Fault> {
    let mut owners = Owners::default();
    let field = match kind {
        "user" => &mut owners.user_id,
        "agent" => &mut owners.agent_id,
        "app" => &mut owners.app_id,
        "run" => &mut owners.run_id,
        _ => {
            return Err(
                HttpFault::request("an entity is a user, an agent, an app or a run").into(),
            );
        }
    };
    *field = Some(name);
    Ok(owners)
}
