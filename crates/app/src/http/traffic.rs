//! Counts the requests of this server since it began, for `/metrics`, and logs each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use tracing::field::Empty;
use tracing::{Instrument, debug_span};

use super::exposition::{Exposition, MetricKind};
use super::request_id::RequestId;
use crate::window::latency::AnswerTimes;

/// Upper bounds of the buckets that times are counted in, in seconds; the last is the longest that a
/// request may take.
const BOUNDS: [f64; 11] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];
/// Classes of a status, by its first digit.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Label of requests for unknown routes: their own path would let any client create labels.
const NO_ROUTE: &str = "none";

/// Answered requests, by route.
#[derive(Default)]
pub(super) struct RequestCounts(Mutex<BTreeMap<String, RouteCounts>>);

#[derive(Default)]
struct RouteCounts {
    classes: [u64; CLASSES.len()],
    times: [u64; BOUNDS.len()],
    longer: u64,
    seconds: f64,
}

/// Forwards a request, and counts its answer.
pub(super) async fn count_request(
    State(traffic): State<Arc<RequestCounts>>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let request_id = request.extensions().get::<RequestId>();
    let request_id = request_id.map_or("", |id| id.0.as_str());
    let span = debug_span!("request", request_id, route, status = Empty);
    let began = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    span.record("status", response.status().as_u16());
    traffic.count(route, response.status(), began.elapsed());
    response
}

impl RequestCounts {
    fn count(&self, route: String, status: StatusCode, took: Duration) {
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = routes.entry(route).or_default();
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(count) = counts.classes.get_mut(class) {
            *count += 1;
        }
        let seconds = took.as_secs_f64();
        match BOUNDS.iter().position(|bound| seconds <= *bound) {
            Some(bucket) => counts.times[bucket] += 1,
            None => counts.longer += 1,
        }
        counts.seconds += seconds;
    }

    /// The times of the answers of some routes together.
    pub(super) fn times_of(&self, wanted: &[&str]) -> AnswerTimes {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut times = AnswerTimes {
            buckets: BOUNDS.map(|bound| (bound, 0)).to_vec(),
            longer: 0,
        };
        for counts in wanted.iter().filter_map(|route| routes.get(*route)) {
            for ((_, sum), count) in times.buckets.iter_mut().zip(counts.times) {
                *sum += count;
            }
            times.longer += counts.longer;
        }
        times
    }

    /// Adds the counts to the exposition.
    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut requests = exposition.family(
            "daybook_http_requests_total",
            MetricKind::Counter,
            "Requests that this server has answered since it began, by route and class of the status.",
        );
        for (route, counts) in &*routes {
            for (class, count) in CLASSES.iter().zip(counts.classes) {
                if count > 0 {
                    requests.sample(&[("route", route), ("status", class)], count as f64);
                }
            }
        }
        let mut times = exposition.family(
            "daybook_http_request_duration_seconds",
            MetricKind::Histogram,
            "How long this server took to answer, since it began, by route.",
        );
        for (route, counts) in &*routes {
            let buckets = BOUNDS.into_iter().zip(counts.times);
            times.histogram(&[("route", route)], buckets, counts.longer, counts.seconds);
        }
    }
}
