//! The promises of a language model, over any wire.
//!
//! Each promise takes at most three plain questions, so that live models can be tested, too.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use std::collections::HashSet;
use std::time::Duration;

use daybook_domain::model::{
    AnswerSchema, Message, Model, ModelReply, ModelRequest, Role, Tool, Usage,
};
use serde_json::json;

/// Words of several languages and some code, whose tokens a count must not underestimate.
const WORDS: [&str; 5] = [
    "Hello, agent!",
    " Grüße",
    " 日本語の文",
    " fn main() {}",
    "\n\n\t",
];

fn question() -> ModelRequest {
    let question = "A cache has a limit of 50 entries. What is the limit?";
    ModelRequest::new(vec![Message::new(Role::User, question)], 200)
}

async fn answer(model: &dyn Model, request: &ModelRequest) -> ModelReply {
    let reply = model.ask(request).await;
    reply.expect("a plain question is answered")
}

pub async fn it_has_a_name_and_a_window(model: &dyn Model) {
    assert!(!model.name().trim().is_empty());
    assert!(model.context_tokens() > 0);
    assert!(model.most_requests() > 0);
}

pub async fn a_longer_text_is_never_fewer_tokens(model: &dyn Model) {
    let mut text = String::new();
    let mut before = model.count_tokens("");
    for word in WORDS.iter().cycle().take(200) {
        text.push_str(word);
        let tokens = model.count_tokens(&text);
        assert!(
            tokens >= before && tokens > 0,
            "{tokens} after {before}: {text:?}"
        );
        assert_eq!(model.count_tokens(&text), tokens, "the same text: {text:?}");
        before = tokens;
    }
}

pub async fn an_answer_says_what_it_took(model: &dyn Model) {
    let reply = answer(model, &question()).await;
    assert!(
        (1..=model.most_requests()).contains(&reply.requests),
        "{reply:?}"
    );
    let Usage { input, cached, .. } = reply.usage.unwrap_or_default();
    assert!(cached <= input, "{reply:?}");
}

pub async fn an_answer_is_in_a_form_only_where_one_was_demanded(model: &dyn Model) {
    assert_eq!(answer(model, &question()).await.answer, None);
    let schema = json!({
        "type": "object", "properties": {"limit": {"type": "integer"}},
        "required": ["limit"], "additionalProperties": false,
    });
    let demand = ModelRequest {
        answer: Some(AnswerSchema {
            name: "limit".to_owned(),
            schema,
        }),
        ..question()
    };
    let reply = answer(model, &demand).await;
    if let Some(answer) = &reply.answer {
        assert!(answer["limit"].is_i64(), "{reply:?}");
    }
}

pub async fn calls_have_names_of_their_own(model: &dyn Model) {
    let look_up = Tool {
        name: "look_up".to_owned(),
        description: "Looks a setting up.".to_owned(),
        arguments: json!({"type": "object", "properties": {"name": {"type": "string"}}}),
    };
    let request = ModelRequest {
        tools: vec![look_up],
        ..question()
    };
    let reply = answer(model, &request).await;
    let ids: HashSet<_> = reply.calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids.len(), reply.calls.len(), "{reply:?}");
    assert!(
        reply.calls.iter().all(|call| !call.id.is_empty()),
        "{reply:?}"
    );
}

pub async fn a_dropped_question_disturbs_no_later_one(model: &dyn Model) {
    let request = question();
    let dropped = tokio::time::timeout(Duration::ZERO, model.ask(&request)).await;
    drop(dropped);
    answer(model, &request).await;
}

pub async fn questions_at_once_are_answered_each(model: &dyn Model) {
    let request = question();
    let (one, other) = tokio::join!(answer(model, &request), answer(model, &request));
    assert!(one.requests > 0 && other.requests > 0);
}
