//! Vectors of texts over the wires that have them.

use std::num::NonZeroU32;
use std::sync::Arc;

use daybook_domain::seams::Embedder as _;
use daybook_llm::{Embeddings, Key, KeySource, Provider, Wire};
use daybook_testkit::llm_server::{Behaviour, Script};

use crate::llm_test_support::{ScriptedProvider, model};

fn embeddings(provider: &Provider) -> Embeddings {
    let model = provider.embedding_model(model());
    Embeddings::of(Arc::new(model.expect("this wire has vectors")))
}

/// Vectors that hold the length of each text.
fn lengths() -> Script {
    Script::answering(|asked| {
        let texts = asked.messages.iter();
        Behaviour::Vectors(texts.map(|it| vec![1.0, it.text.len() as f32]).collect())
    })
}

#[tokio::test]
async fn each_text_gets_its_own_vector() {
    for wire in [Wire::OpenAi, Wire::Ollama] {
        let scripted = ScriptedProvider::new(wire, lengths());
        let embeddings = embeddings(&scripted.provider);
        let vectors = embeddings.embed(&["ada", " \n", "likes tea"]).await;
        let expected = vec![vec![1.0, 3.0], Vec::new(), vec![1.0, 9.0]];
        assert_eq!(vectors, Ok(expected));
        let asked = scripted.server.recorded_requests();
        let body = r#"{"input":["ada","likes tea"],"model":"engine-1"}"#;
        assert_eq!(asked[0].body.to_string(), body);
        assert_eq!(
            (embeddings.id(), embeddings.is_instant()),
            ("ada/engine-1", false)
        );
        assert_eq!(embeddings.embed(&["", " "]).await, Ok(vec![Vec::new(); 2]));
        assert_eq!(scripted.server.requests(), 1);
    }
}

#[tokio::test]
async fn requests_are_bounded_in_texts_and_bytes() {
    let scripted = ScriptedProvider::new(Wire::OpenAi, lengths());
    let embeddings = embeddings(&scripted.provider);
    let vectors = embeddings.embed(&["ada"; 150]).await.expect("vectors");
    assert_eq!(vectors, vec![vec![1.0, 3.0]; 150]);
    // A text is cut between characters, at 8,000 bytes at most.
    let long = "\u{20ac}".repeat(5_000);
    let vectors = embeddings
        .embed(&[long.as_str(); 10])
        .await
        .expect("vectors");
    assert_eq!(vectors, vec![vec![1.0, 7_998.0]; 10]);
    let asked = scripted.server.recorded_requests();
    let sizes: Vec<usize> = asked.iter().map(|it| it.messages.len()).collect();
    assert_eq!(sizes, [64, 64, 22, 8, 2]);
}

#[tokio::test]
async fn a_failure_that_passes_is_asked_again() {
    let vectors = Behaviour::Vectors(vec![vec![1.0]]);
    let script = [Behaviour::ServerError(503), Behaviour::HangUp, vectors];
    let scripted = ScriptedProvider::new(Wire::OpenAi, script);
    let answer = embeddings(&scripted.provider).embed(&["ada"]).await;
    assert_eq!(answer, Ok(vec![vec![1.0]]));
    assert_eq!(scripted.waits.all().len(), 2);
}

#[tokio::test]
async fn texts_that_are_too_long_for_the_model_are_cut() {
    let short = |asked: &daybook_testkit::llm_server::RecordedRequest| {
        let bytes = |it: &daybook_domain::model::Message| it.text.len();
        match asked.messages.iter().all(|it| bytes(it) <= 1_000) {
            true => Behaviour::Vectors(vec![vec![1.0]; asked.messages.len()]),
            false => Behaviour::TooLong,
        }
    };
    let scripted = ScriptedProvider::new(Wire::OpenAi, Script::answering(short));
    let embeddings = embeddings(&scripted.provider);
    let long = "a".repeat(9_000);
    let vectors = embeddings.embed(&[long.as_str(), "ada"]).await;
    assert_eq!(vectors, Ok(vec![vec![1.0]; 2]));
    // 8,000, 4,000, 2,000, 1,000; what was learned stays.
    assert_eq!(scripted.server.requests(), 4);
    let vectors = embeddings.embed(&[long.as_str()]).await;
    assert_eq!(vectors, Ok(vec![vec![1.0]]));
    assert_eq!(scripted.server.requests(), 5);

    let scripted = ScriptedProvider::new(Wire::OpenAi, Script::answering(|_| Behaviour::TooLong));
    let embeddings = self::embeddings(&scripted.provider);
    let refused = embeddings.embed(&[long.as_str()]).await;
    assert!(refused.expect_err("it is refused").contains("too long"));
    assert_eq!(scripted.server.requests(), 5, "500 bytes are the least");
}

/// The error for answers that cannot be used, the last of them.
async fn check(script: impl Into<Script>, texts: [&str; 2], why: &str) {
    let scripted = ScriptedProvider::with(Wire::OpenAi, script, |provider| {
        provider.retries.tries = NonZeroU32::MIN;
        provider.key = KeySource::Given(Key::new("sk-ada-1815"));
    });
    let embeddings = embeddings(&scripted.provider);
    let mut said = Ok(Vec::new());
    for text in texts {
        said = embeddings.embed(&[text]).await;
    }
    let said = said.expect_err("it cannot be used");
    assert!(said.contains(why) && !said.contains("sk-ada"), "{said}");
}

#[tokio::test]
async fn what_cannot_be_used_is_an_error_without_the_key() {
    let texts = ["ada", "eve"];
    let vectors = |lengths: &[usize]| {
        let vectors = lengths.iter().map(|length| vec![0.5; *length]);
        Behaviour::Vectors(vectors.collect())
    };
    let one = || vectors(&[2]);
    check([one(), vectors(&[3])], texts, "3 dimensions after one of 2").await;
    check([one(), vectors(&[2, 2])], texts, "a vector 1 of 1").await;
    check([one(), vectors(&[])], texts, "vector 0 of 1 is missing").await;
    check([one(), vectors(&[0])], texts, "vector 0 is empty").await;
    check(
        [one(), Behaviour::answer("50")],
        texts,
        "not what this wire answers",
    )
    .await;
    check([one(), Behaviour::Denied], texts, "[key] is not known").await;
}

#[test]
fn a_wire_without_vectors_is_refused_before_anything_is_sent() {
    let scripted = ScriptedProvider::new(Wire::Anthropic, []);
    let refused = scripted
        .provider
        .embedding_model(model())
        .expect_err("it has none");
    assert!(refused.to_string().contains("no embeddings"), "{refused}");
}

#[tokio::test]
async fn what_vectors_cost_is_reported_as_of_any_model() {
    use daybook_domain::model::{Message, Model as _, Role};

    let scripted = ScriptedProvider::new(Wire::OpenAi, lengths());
    let model = scripted
        .provider
        .embedding_model(model())
        .expect("it has vectors");
    let mut question = crate::llm_test_support::question();
    question.messages = vec![Message::new(Role::User, "ada likes tea")];
    let reply = model.ask(&question).await.expect("a reply");
    assert_eq!(reply.text, "[[1.0,13.0]]");
    assert_eq!(reply.usage.map(|usage| usage.input), Some(3));
}
