//! What was asked of this server since it began: counted for `/metrics`, told to whoever logs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use tracing::field::Empty;
use tracing::{Instrument, debug_span};

use super::exposition::{Exposition, Kind};

/// Upper bounds of the buckets that times are counted in, in seconds; the last is the longest that a
/// request may take.
const BOUNDS: [f64; 11] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];
/// Classes of a status, by its first digit.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// The route of requests for what is not there: a name of their own would be anybody's to make up.
const NO_ROUTE: &str = "none";

/// Answered requests, by route.
#[derive(Default)]
pub(super) struct Traffic(Mutex<BTreeMap<String, Answered>>);

#[derive(Default)]
struct Answered {
    classes: [u64; CLASSES.len()],
    times: [u64; BOUNDS.len()],
    longer: u64,
    seconds: f64,
}

/// Lets a request through, and counts its answer.
pub(super) async fn watch(
    State(traffic): State<Arc<Traffic>>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let span = debug_span!("request", route, status = Empty);
    let began = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    span.record("status", response.status().as_u16());
    traffic.count(route, response.status(), began.elapsed());
    response
}

impl Traffic {
    fn count(&self, route: String, status: StatusCode, took: Duration) {
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = routes.entry(route).or_default();
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(count) = answered.classes.get_mut(class) {
            *count += 1;
        }
        let seconds = took.as_secs_f64();
        match BOUNDS.iter().position(|bound| seconds <= *bound) {
            Some(bucket) => answered.times[bucket] += 1,
            None => answered.longer += 1,
        }
        answered.seconds += seconds;
    }

    /// Tells of it.
    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut requests = exposition.family(
            "daybook_http_requests_total",
            Kind::Counter,
            "Requests that this server has answered since it began, by route and class of the status.",
        );
        for (route, answered) in &*routes {
            for (class, count) in CLASSES.iter().zip(answered.classes) {
                if count > 0 {
                    requests.sample(&[("route", route), ("status", class)], count as f64);
                }
            }
        }
        let mut times = exposition.family(
            "daybook_http_request_duration_seconds",
            Kind::Histogram,
            "How long this server took to answer, since it began, by route.",
        );
        for (route, answered) in &*routes {
            let buckets = BOUNDS.into_iter().zip(answered.times);
            times.histogram(
                &[("route", route)],
                buckets,
                answered.longer,
                answered.seconds,
            );
        }
    }
}
