//! The stream of what changes: one event for each scope whose memory has changed, whichever program changed it.
//!
//! The stream begins with the present state of every scope, so that a client that connects again has missed nothing. It
//! ends when the server ends or the client goes.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use anyhow::Result;
use axum::Extension;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use daybook_domain::page::read_all;
use daybook_domain::seams::ScopeState;
use futures_util::stream::unfold;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval};
use utoipa::ToSchema;

use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault};
use super::serving::OpenBody;

/// How often the store is asked: other programs change it, too.
const LOOK: Duration = Duration::from_millis(500);
/// Looks without a change after which a line is sent, so that a client that is gone is noticed.
const QUIET_LOOKS: u32 = 30;

described_routes!(changes);

/// The data of one event.
#[derive(Debug, Serialize, ToSchema)]
struct ScopeChange {
    /// Whose memory has changed.
    #[schema(example = "project/tidepool")]
    scope: String,
    /// Raised with every change.
    revision: u64,
    /// How many memories hold.
    memories: u64,
}

/// Watch what changes, as server-sent events
///
/// Each event is called `memory`, and its data names a scope, its revision and how many memories hold there. The stream
/// begins with every scope as it is. At most 32 streams are open at once.
#[utoipa::path(
    get,
    path = "/v1/changes",
    operation_id = "watchChanges",
    responses(
        (status = OK, description = "The stream, which has no end", body = ScopeChange, content_type = "text/event-stream"),
        (status = "default", description = "There is no stream", body = ErrorBody),
    ),
)]
pub(super) async fn changes(executor: RequestExecutor) -> Result<Response, HttpFault> {
    let permit = executor.stream_permit()?;
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watch = ScopeWatch {
        executor,
        looks,
        seen: BTreeMap::new(),
        quiet: QUIET_LOOKS,
        _permit: permit,
    };
    let events = unfold(watch, |mut watch| async move {
        let text = watch.next().await?;
        Some((Ok::<_, Infallible>(text), watch))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
    ];
    let body = Body::from_stream(events);
    Ok((headers, Extension(OpenBody), body).into_response())
}

/// One open stream.
struct ScopeWatch {
    executor: RequestExecutor,
    looks: Interval,
    /// The revision of each scope that was sent.
    seen: BTreeMap<String, u64>,
    /// Looks since anything was sent.
    quiet: u32,
    _permit: OwnedSemaphorePermit,
}

impl ScopeWatch {
    /// Waits for changes, and returns their events. `None` when the server ends.
    async fn next(&mut self) -> Option<String> {
        loop {
            let stop = self.executor.stop();
            tokio::select! {
                () = stop.wait_for_request() => return None,
                _ = self.looks.tick() => {}
            }
            let read = self.executor.run(|daybook| async move {
                Ok(read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?)
            });
            // A server that is busy or without its database has the change for the next look.
            let states = read.await.unwrap_or_default();
            let mut text: String = states.iter().filter_map(|it| self.event(it)).collect();
            self.quiet += 1;
            if text.is_empty() && self.quiet > QUIET_LOOKS {
                text.push_str(": no change\n\n");
            }
            if !text.is_empty() {
                self.quiet = 0;
                return Some(text);
            }
        }
    }

    /// The event for a scope that has changed since the last one.
    fn event(&mut self, state: &ScopeState) -> Option<String> {
        let scope = state.scope.to_string();
        let sent = self.seen.insert(scope.clone(), state.revision);
        if sent == Some(state.revision) {
            return None;
        }
        let change = ScopeChange {
            scope,
            revision: state.revision,
            memories: state.observations,
        };
        let data = serde_json::to_string(&change).ok()?;
        Some(format!("event: memory\ndata: {data}\n\n"))
    }
}
