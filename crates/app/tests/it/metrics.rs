//! `/metrics`: in the format that Prometheus reads, with the same numbers as the data folder.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use daybook_domain::seams::{SpendStore, Store};
use daybook_domain::spend::{Charge, ReserveOutcome};
use daybook_domain::trigger::DueMark;
use daybook_domain::{
    Claim, ClaimLimits, FailedTry, Failure, FailureClass, JobKey, JobKind, LeaseToken, Money,
    Priority, RetryPolicy, RetryWait, Scope, ScopeKind, SessionId, Tenant, Timestamp,
};
use daybook_engine::hook_events::update_lock::UpdateLock;
use daybook_engine::jobs::ENGINE;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use daybook_testkit::run;
use serde_json::json;

use crate::fixture::TestPlace;
use crate::serve::DaybookServer;

/// Samples as they are written, with their values.
type Samples = BTreeMap<String, f64>;

/// Parses a text by the rules of the exposition format, version 0.0.4, and of its naming; panics with the
/// rule that is broken.
fn read(text: &str) -> Samples {
    assert!(text.ends_with('\n'), "the last line does not end");
    let mut samples = Samples::new();
    let mut seen = BTreeSet::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (name, help) = comment(line, "HELP");
        assert!(!help.is_empty() && is_name(name), "{line}");
        assert!(seen.insert(name), "{name} comes twice");
        let (typed, kind) = comment(lines.next().expect("a type"), "TYPE");
        assert_eq!(typed, name, "the type of something else");
        assert_eq!(
            kind == "counter",
            name.ends_with("_total"),
            "{name} is a {kind}"
        );
        let mut family = Samples::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
            let (what, value) = line.rsplit_once(' ').expect("a value");
            let sample = what.split('{').next().unwrap_or_default();
            let suffix = sample.strip_prefix(name).expect("a sample of its family");
            let fits = match kind {
                "histogram" => ["_bucket", "_sum", "_count"].contains(&suffix),
                "counter" | "gauge" => suffix.is_empty(),
                other => panic!("{other} is no type that is told here"),
            };
            assert!(fits, "{line} in the {kind} {name}");
            check_labels(&what[sample.len()..]);
            let value = value.parse().expect("a number");
            assert!(
                family.insert(what.to_owned(), value).is_none(),
                "{what} comes twice"
            );
        }
        if kind == "histogram" {
            check_buckets(name, text);
        }
        samples.extend(family);
    }
    samples
}

fn comment<'a>(line: &'a str, what: &str) -> (&'a str, &'a str) {
    let rest = line
        .strip_prefix("# ")
        .and_then(|line| line.strip_prefix(what));
    let rest = rest.and_then(|rest| rest.strip_prefix(' '));
    let rest = rest.unwrap_or_else(|| panic!("no {what}: {line}"));
    rest.split_once(' ').unwrap_or((rest, ""))
}

fn is_name(name: &str) -> bool {
    name.starts_with("daybook_") && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// Labels are `{name="value",…}`, with `\`, `"` and line breaks escaped.
fn check_labels(labels: &str) {
    if labels.is_empty() {
        return;
    }
    let inside = labels
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let mut rest = inside.unwrap_or_else(|| panic!("{labels} are no labels"));
    let mut names = BTreeSet::new();
    loop {
        let (name, value) = rest.split_once("=\"").expect("a label and its value");
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{name}"
        );
        assert!(names.insert(name), "{name} comes twice in {labels}");
        let mut end = None;
        let mut chars = value.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    let escaped = chars.next().map(|(_, c)| c);
                    assert!(matches!(escaped, Some('\\' | '"' | 'n')), "{labels}");
                }
                '"' => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let after = &value[end.expect("the value's end") + 1..];
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None => return assert!(after.is_empty(), "{after} behind {labels}"),
        }
    }
}

/// The buckets of each series add up, in order, to its count.
fn check_buckets(name: &str, text: &str) {
    let bucket = format!("{name}_bucket{{");
    let mut last: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with(&bucket)) {
        let (series, bound) = line[bucket.len()..].split_once("le=\"").expect("a bound");
        let (bound, count) = bound.split_once("\"} ").expect("a count");
        let now = (
            bound.parse().expect("a bound"),
            count.parse().expect("a count"),
        );
        let before = last.insert(series.trim_end_matches(',').to_owned(), now);
        let before = before.unwrap_or((0.0, 0.0));
        assert!(before.0 < now.0 && before.1 <= now.1, "{line}");
    }
    for (series, (bound, count)) in last {
        assert!(bound.is_infinite(), "{series} has no last bucket");
        let total = format!("{name}_count{{{series}}} {count}");
        assert!(text.lines().any(|line| line == total), "{total} is missing");
    }
}

fn scrape(server: &DaybookServer) -> Samples {
    let (head, body) = server.text("/metrics");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
    let head = head.to_lowercase();
    assert!(
        head.contains("content-type: text/plain; version=0.0.4"),
        "{head}"
    );
    read(&body)
}

#[track_caller]
fn check(samples: &Samples, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        assert_eq!(samples.get(*name), Some(value), "{name} in {samples:#?}");
    }
}

/// Operators find every number in the manual.
fn check_documented(samples: &Samples) {
    let manual = include_str!("../../../../docs/operating.md");
    for name in samples.keys() {
        let name = name.split('{').next().unwrap_or_default();
        let parts = ["_bucket", "_sum", "_count"];
        let family = parts.iter().find_map(|part| name.strip_suffix(part));
        let row = format!("| `{}` |", family.unwrap_or(name));
        assert!(manual.contains(&row), "{name} is not in docs/operating.md");
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    Timestamp(i64::try_from(since.as_millis()).expect("this age"))
}

fn extract(host_id: &str) -> JobKey {
    JobKey::Extract(SessionId {
        tenant: Tenant::local(),
        agent: "harbour-bot".to_owned(),
        host_id: host_id.to_owned(),
    })
}

fn due(input: u64, at: Timestamp) -> DueMark {
    DueMark::at_once(input, at, Priority::Normal)
}

async fn claim(jobs: &dyn Store, now: Timestamp) -> LeaseToken {
    let claim = Claim {
        kind: JobKind::Extract,
        holder: "ada",
        now,
        lease: Duration::from_secs(3600),
        limits: ClaimLimits::jobs(1),
    };
    let claimed = jobs.claim(claim).await.expect("claims");
    claimed[0].token.clone()
}

fn broken() -> FailedTry {
    FailedTry {
        failure: Failure {
            class: FailureClass::Content,
            message: "it is broken".to_owned(),
        },
        wait: RetryWait::default(),
        retry: RetryPolicy::default(),
        jitter: 0.0,
        engine: ENGINE.to_owned(),
    }
}

/// Jobs as they are in a data folder at work: one failed into a gap, one held, one due since
/// `minutes` ago, two that wait; and files of a scope that are due.
async fn at_work(store: &SqliteStore, now: Timestamp, minutes: i64) {
    let hour = Duration::from_secs(3600);
    let ago = |minutes: i64| Timestamp(now.0 - minutes * 60_000);
    let jobs: &dyn Store = store;
    let mut at = ago(100_000);
    jobs.mark(&extract("broken"), due(1, at))
        .await
        .expect("marked");
    while jobs.gaps_of_all_tenants().await.expect("gaps").is_empty() {
        at = at.plus(10 * hour);
        let token = claim(jobs, at).await;
        let failed = jobs.fail(&token, &broken(), at).await;
        let _ = failed.expect("a failure");
    }
    jobs.mark(&extract("held"), due(7, ago(60)))
        .await
        .expect("marked");
    claim(jobs, now).await;
    jobs.mark(&extract("due"), due(3, ago(minutes)))
        .await
        .expect("marked");
    for later in ["later", "later still"] {
        let at = now.plus(hour);
        jobs.mark(&extract(later), due(3, at))
            .await
            .expect("marked");
    }
    let scope = Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::Project,
        name: "tidepool".to_owned(),
    };
    let files = JobKey::Consolidate(scope);
    jobs.mark(&files, due(1, ago(1))).await.expect("marked");
}

/// A call of a model that is under way.
async fn spending(store: &SqliteStore, now: Timestamp) {
    let charge = Charge {
        tenant: Tenant::local(),
        user: "ada".to_owned(),
        run: "1".to_owned(),
        session: None,
        stage: "extract".to_owned(),
        scope: None,
        model: "ada/small".to_owned(),
        tokens: 1_200,
        money: Some(Money(250_000)),
    };
    let reserved = store.reserve(&charge, &[], now).await;
    assert!(matches!(reserved, Ok(ReserveOutcome::Reserved(_))));
}

#[test]
fn the_numbers_are_those_of_the_data_folder() {
    let place = TestPlace::new();
    let root = place.root();
    place.stdout(&["remember", "deploys happen on Tuesdays"]);
    // The server does no background work of its own.
    let _elected = UpdateLock::try_acquire(&root)
        .expect("a lock")
        .expect("nobody else");
    let path = root.join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store");
    run(at_work(&store, now(), 30));
    run(spending(&store, now()));
    let payload = json!({"hook_event_name": "Stop", "session_id": "a"}).to_string();
    place.hook("codex", &payload);
    let server = DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit());
    for session in ["tides-1", "tides-2"] {
        let event = json!({"role": "user", "text": "please always write the test first"});
        let teaching_session =
            json!({"agent": "harbour-bot", "session": session, "events": [event]});
        server.post("/v1/append", &teaching_session);
    }

    let samples = scrape(&server);
    check_documented(&samples);
    let version = format!(
        "daybook_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    check(
        &samples,
        &[
            (&version, 1.0),
            // held, due, two that wait, and the two sessions that were just reported.
            ("daybook_jobs_waiting{kind=\"extract\"}", 6.0),
            ("daybook_jobs_due{kind=\"extract\"}", 1.0),
            ("daybook_jobs_due{kind=\"consolidate\"}", 1.0),
            ("daybook_leases{kind=\"extract\"}", 1.0),
            ("daybook_leases{kind=\"consolidate\"}", 0.0),
            ("daybook_spend_tokens{period=\"month\"}", 1_200.0),
            ("daybook_spend_money{period=\"month\"}", 0.25),
            ("daybook_gaps{kind=\"extract\"}", 1.0),
            // Three tries of the broken one, and the one that is held; the note's files are written.
            ("daybook_jobs_claimed_total{kind=\"extract\"}", 4.0),
            ("daybook_jobs_claimed_total{kind=\"consolidate\"}", 1.0),
            (
                "daybook_job_failures_total{kind=\"extract\",class=\"content\"}",
                3.0,
            ),
            (
                "daybook_job_failures_total{kind=\"extract\",class=\"outage\"}",
                0.0,
            ),
            (
                "daybook_jobs_ended_total{kind=\"extract\",outcome=\"gave_up\"}",
                1.0,
            ),
            (
                "daybook_jobs_ended_total{kind=\"consolidate\",outcome=\"finished\"}",
                1.0,
            ),
            ("daybook_gaps{kind=\"consolidate\"}", 0.0),
            ("daybook_sessions{state=\"pending\"}", 2.0),
            ("daybook_sessions{state=\"covered\"}", 0.0),
            // Notes are kept in a session of their own.
            ("daybook_sessions{state=\"never\"}", 1.0),
            ("daybook_events", 3.0),
            ("daybook_observations", 1.0),
            ("daybook_notices_waiting", 1.0),
        ],
    );
    let age = |kind: &str| samples[&format!("daybook_jobs_due_age_seconds{{kind=\"{kind}\"}}")];
    assert!(
        (1800.0..2000.0).contains(&age("extract")),
        "{}",
        age("extract")
    );
    assert!(
        (60.0..260.0).contains(&age("consolidate")),
        "{}",
        age("consolidate")
    );
}

#[test]
fn requests_are_counted_by_route_and_class() {
    let server = DaybookServer::start_in(TestPlace::new(), &["--no-follow"], Stdio::inherit());
    server.get("/health");
    server.get("/v1/status");
    server.get("/v1/status");
    server.text("/v1/show?citation=abcd:L1");
    server.text("/made/up");
    server.text("/made/up/too");
    let requests = |route: &str, status: &str| {
        format!("daybook_http_requests_total{{route=\"{route}\",status=\"{status}\"}}")
    };
    let samples = scrape(&server);
    check(
        &samples,
        &[
            (&requests("/health", "2xx"), 1.0),
            (&requests("/v1/status", "2xx"), 2.0),
            (&requests("/v1/show", "4xx"), 1.0),
            (&requests("none", "4xx"), 2.0),
            (
                "daybook_http_request_duration_seconds_count{route=\"/v1/status\"}",
                2.0,
            ),
        ],
    );
    let sum = samples["daybook_http_request_duration_seconds_sum{route=\"/v1/status\"}"];
    assert!(sum > 0.0 && sum < 20.0, "{sum}");
    check(&scrape(&server), &[(&requests("/metrics", "2xx"), 1.0)]);
}

#[test]
fn the_rules_of_the_format_are_looked_at() {
    let fine = "# HELP daybook_x X.\n# TYPE daybook_x gauge\ndaybook_x{a=\"b\\\"\",c=\"\"} 1\n";
    assert_eq!(read(fine).len(), 1);
    for broken in [
        fine.trim_end(),
        &fine.replace("HELP daybook_x", "HELP other_x"),
        &fine.replace("gauge", "counter"),
        &fine.replace("gauge", "histogram"),
        &fine.replace("a=\"b\\\"\"", "a=\"b\\x\""),
        &fine.replace("c=\"\"", "c=\""),
        &fine.replace("c=", "a="),
        &fine.replace(" 1\n", " one\n"),
        &format!("{fine}{fine}"),
        &fine.replace("daybook_x{", "daybook_y{"),
        "daybook_x 1\n",
    ] {
        let read = std::panic::catch_unwind(|| read(broken));
        assert!(read.is_err(), "this was taken: {broken}");
    }
}
