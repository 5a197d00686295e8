//! Recording a model and replaying it.

use std::path::Path;
use std::sync::Arc;

use daybook_domain::model::{Message, Model, ModelFailure, ModelReply, ModelRequest, Role};
use daybook_llm::{Cassette, Wire};
use daybook_testkit::llm_server::{Behaviour, RetryAfter};
use serde_json::json;

use crate::llm_test_support::{ScriptedProvider, demand, question};

/// Asks `requests` of a model that behaves by `script`, and records it.
async fn record(
    path: &Path,
    script: &[Behaviour],
    requests: &[ModelRequest],
) -> Vec<Result<ModelReply, ModelFailure>> {
    let scripted = ScriptedProvider::new(Wire::OpenAi, script);
    let cassette = Cassette::recording(shared(&scripted), path).expect("a file to write");
    let mut outcomes = Vec::new();
    for request in requests {
        outcomes.push(cassette.ask(request).await);
    }
    outcomes
}

/// A replaying cassette whose model has no server.
fn player(path: &Path) -> (ScriptedProvider, Cassette) {
    let scripted = ScriptedProvider::new(Wire::OpenAi, []);
    let cassette = Cassette::playing(shared(&scripted), path).expect("a cassette");
    (scripted, cassette)
}

fn shared(scripted: &ScriptedProvider) -> Arc<dyn Model> {
    Arc::new(scripted.provider.model(crate::llm_test_support::model()))
}

fn other_question() -> ModelRequest {
    let mut request = question();
    request.messages[1] = Message::new(Role::User, "What is the cache size?");
    request
}

#[tokio::test]
async fn what_was_recorded_is_played_without_a_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tape.jsonl");
    let script = [
        Behaviour::answer("50"),
        Behaviour::AnswerJson(json!({"limit": 50})),
        Behaviour::answer("60"),
        Behaviour::RateLimit {
            retry_after: Some(RetryAfter::Seconds(600)),
        },
    ];
    let requests = [question(), demand(), question(), other_question()];
    let recorded = record(&path, &script, &requests).await;
    let (scripted, cassette) = player(&path);
    for (request, recorded) in requests.iter().zip(&recorded) {
        let played = cassette.ask(request).await;
        assert_eq!(format!("{played:?}"), format!("{recorded:?}"));
    }
    assert_eq!(scripted.server.requests(), 0);
    assert_eq!(
        (cassette.name(), cassette.context_tokens()),
        ("ada/engine-1", 4096)
    );
}

#[tokio::test]
async fn a_cassette_is_appended_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tape.jsonl");
    for text in ["50", "60"] {
        drop(record(&path, &[Behaviour::answer(text)], &[question()]).await);
    }
    let (_rig, cassette) = player(&path);
    for text in ["50", "60"] {
        let played = cassette.ask(&question()).await.expect("it was recorded");
        assert_eq!(played.text, text);
    }
}

/// The error for a question that is not on a cassette which holds [`question`].
#[track_caller]
fn check(failure: &ModelFailure, part: &str) {
    let said = failure.to_string();
    assert!(
        said.contains(part) && said.contains("record it anew"),
        "{said}"
    );
}

#[tokio::test]
async fn a_question_that_was_not_recorded_says_how_it_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tape.jsonl");
    drop(record(&path, &[Behaviour::answer("50")], &[question()]).await);
    let (_rig, cassette) = player(&path);

    let failure = cassette
        .ask(&other_question())
        .await
        .expect_err("another text");
    check(
        &failure,
        "at /messages/1/text (from character 19) line 1 has \"limit?\"",
    );
    let failure = cassette.ask(&demand()).await.expect_err("a form");
    check(&failure, "at /answer line 1 has null");
    let mut longer = question();
    longer.messages.push(Message::new(Role::User, "Well?"));
    let failure = cassette.ask(&longer).await.expect_err("one more message");
    check(&failure, "at /messages/2 line 1 has nothing");

    cassette.ask(&question()).await.expect("it was recorded");
    let failure = cassette.ask(&question()).await.expect_err("a second time");
    check(&failure, "it was recorded 1 times");
    let failure = cassette.ask(&demand()).await.expect_err("nothing is left");
    check(&failure, "all 1 recordings have been played");
}

#[test]
fn a_torn_line_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tape.jsonl");
    std::fs::write(&path, "{\"key\":\"12\"").expect("a file");
    let scripted = ScriptedProvider::new(Wire::OpenAi, []);
    let error = Cassette::playing(shared(&scripted), &path).expect_err("it is torn");
    assert!(
        error.to_string().starts_with("line 1 of the cassette"),
        "{error}"
    );
}
