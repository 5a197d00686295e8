//! Waiting for a provider is bounded, shown, and ended by a person who asks for the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use daybook_testkit::llm_server::{Behaviour, LlmServer, Script};
use serde_json::Value;

use super::{KEY, place, provider, repeat_first_words};
use crate::fixture::TestPlace;

const HOUR: i64 = 3_600;

/// A place whose provider sends `headers` that demand a pause, until `mended` is set.
fn rate_limited_place(
    headers: Vec<(&'static str, String)>,
    more: &str,
) -> (TestPlace, LlmServer, Arc<AtomicBool>) {
    let mended = Arc::new(AtomicBool::new(false));
    let is_mended = Arc::clone(&mended);
    let server = LlmServer::start(Script::answering(move |asked| {
        match is_mended.load(Ordering::SeqCst) {
            true => repeat_first_words(asked),
            false => Behaviour::Raw {
                status: 429,
                headers: headers.clone(),
                body: r#"{"error": {"message": "too many requests", "retry_after": 99999999999}}"#
                    .to_owned(),
            },
        }
    }));
    let settings =
        provider("openai", &server).replace("retry_first = \"1h\"\nretry_most = \"1h\"\n", "");
    let place = place(&format!("{more}{settings}"));
    (place, server, mended)
}

fn run(place: &TestPlace, arguments: &[&str]) -> (bool, String) {
    let output = place
        .daybook(arguments)
        .env("HOME_KEY", KEY)
        .output()
        .expect("daybook starts");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    (
        output.status.success(),
        out + &String::from_utf8_lossy(&output.stderr),
    )
}

fn import_sample(place: &TestPlace) {
    let root = place.root().display().to_string();
    let (imported, output) = run(
        place,
        &["import", "--sample", "--no-process", "--root", &root],
    );
    assert!(imported, "{output}");
}

/// The longest wait of a session after the last failure, in seconds.
fn longest_wait(place: &TestPlace) -> i64 {
    let jobs = place.json(&["jobs", "list", "--state", "waiting"]);
    let due = |job: &Value| {
        let at: jiff::Timestamp = job["due_at"].as_str()?.parse().ok()?;
        Some(at.as_second())
    };
    let jobs = jobs["jobs"].as_array().expect("a list").iter();
    let longest = jobs.filter_map(due).max().expect("a job waits");
    longest - jiff::Timestamp::now().as_second()
}

#[track_caller]
fn check(headers: &[(&'static str, &str)], more: &str, from: i64, to: i64) {
    let headers = headers
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    let (place, _server, _) = rate_limited_place(headers.collect(), more);
    import_sample(&place);
    assert!(!run(&place, &["update", "--all"]).0);
    let wait = longest_wait(&place);
    assert!((from..=to).contains(&wait), "it waits for {wait} s");
}

#[test]
fn no_header_of_a_provider_parks_work_for_longer_than_an_hour() {
    let far = [("retry-after", "99999999999")];
    check(&far, "", HOUR - 60, HOUR);
    let date = ("date", "Fri, 20 Nov 2026 09:00:00 GMT");
    check(
        &[date, ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")],
        "",
        HOUR - 60,
        HOUR,
    );
    check(&[("retry-after-ms", "1e300")], "", HOUR - 60, HOUR);
    for nonsense in ["-5", "soon", "nan"] {
        check(&[("retry-after", nonsense)], "", 1, 60);
    }
    check(&far, "retry_after_most = \"3h\"\n", 3 * HOUR - 60, 3 * HOUR);
}

#[test]
fn status_shows_what_waits_for_whom_and_an_update_tries_it_at_once() {
    let headers = vec![("retry-after", "99999999999".to_owned())];
    let (place, server, mended) = rate_limited_place(headers, "");
    import_sample(&place);
    assert!(!run(&place, &["update", "--all"]).0);
    let status = place.json(&["status"]);
    let wait = &status["waits"][0];
    assert_eq!(wait["model"], "home/small-1", "{status}");
    assert_eq!(
        (&wait["class"], &wait["sessions"]),
        (&"outage".into(), &5.into()),
        "{status}"
    );
    assert!(
        wait["until"].is_string() && wait["why"].is_string(),
        "{status}"
    );
    let text = place.stdout(&["status"]);
    assert!(
        text.contains("5 sessions wait for home/small-1, until "),
        "{text}"
    );
    assert_eq!(text.matches("too many requests").count(), 1, "{text}");

    let asked = server.requests();
    let (failed, output) = run(&place, &["update"]);
    assert!(!failed && server.requests() > asked, "{output}");
    mended.store(true, Ordering::SeqCst);
    let (updated, output) = run(&place, &["update"]);
    assert!(updated && output.starts_with("5 sessions: "), "{output}");
    let status = place.json(&["status"]);
    assert_eq!(status["waits"], serde_json::json!([]), "{status}");
    assert_eq!(status["sessions"]["covered"], 5, "{status}");
}

/// An update in the background, as hosts ask for after each turn, leaves a provider alone.
#[test]
fn an_update_that_nobody_waits_for_leaves_an_outage_alone() {
    let (place, server, _) = rate_limited_place(vec![("retry-after", "600".to_owned())], "");
    import_sample(&place);
    assert!(!run(&place, &["update", "--all"]).0);
    let asked = server.requests();
    assert!(run(&place, &["update", "--for", "5s"]).0);
    assert_eq!(server.requests(), asked);
}

#[test]
fn an_import_says_who_is_asked_and_counts_each_session_once() {
    let (place, _server, mended) = rate_limited_place(Vec::new(), "");
    let root = place.root().display().to_string();
    let (_, output) = run(&place, &["import", "--sample", "--root", &root]);
    assert!(
        output.contains("is sent to home/small-1 at http://127.0.0.1:"),
        "{output}"
    );
    assert!(!output.contains("costs nothing"), "{output}");
    let account = "0 taught something · 0 had nothing worth keeping · 5 failed\n";
    assert!(output.contains(account), "{output}");
    mended.store(true, Ordering::SeqCst);
    let (updated, output) = run(&place, &["update"]);
    assert!(updated, "{output}");
}
