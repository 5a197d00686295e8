//! Every behaviour of a provider, over every wire: what becomes of a question, what it cost, and how many
//! requests it took.

use std::time::Duration;

use daybook_domain::model::{FailureCost, Model as _, Usage};
use daybook_llm::Wire;
use daybook_testkit::llm_server::Behaviour::{self, *};
use serde_json::json;

use crate::llm_test_support::{ScriptedProvider, WIRES, class, demand, question};

/// The outcome of a question in free text.
async fn check(script: &[Behaviour], expected: &str) {
    for wire in WIRES {
        check_over(wire, script, expected).await;
    }
}

async fn check_over(wire: Wire, script: &[Behaviour], expected: &str) {
    let scripted = ScriptedProvider::with(wire, script, |config| config.answer_bytes = 10_000);
    assert_eq!(
        scripted.ask_line(&question()).await,
        expected,
        "{wire:?} {script:?}"
    );
}

/// The outcome of a question that demands a form.
async fn check_form(script: &[Behaviour], expected: &str) {
    for wire in WIRES {
        let scripted = ScriptedProvider::new(wire, script);
        assert_eq!(
            scripted.ask_line(&demand()).await,
            expected,
            "{wire:?} {script:?}"
        );
    }
}

#[tokio::test]
async fn answers_arrive() {
    check(
        &[Behaviour::answer("50 entries")],
        r#"stop "50 entries", reported, 1"#,
    )
    .await;
    check(
        &[Length("50 ent".into())],
        r#"length "50 ent", reported, 1"#,
    )
    .await;
    check(
        &[Behaviour::answer("50 entries").without_usage()],
        r#"stop "50 entries", unknown, 1"#,
    )
    .await;
    check_over(
        Wire::OpenAi,
        &[Filtered("50".into())],
        r#"filtered "50", reported, 1"#,
    )
    .await;
}

#[tokio::test]
async fn thoughts_are_left_out() {
    let thinks = Thinks {
        thoughts: "it was 20 before".into(),
        then: "50 entries".into(),
    };
    check(&[thinks], r#"stop "50 entries", reported, 1"#).await;
    check(
        &[Behaviour::answer("<think>it was 20 before, so")],
        r#"stop "", reported, 1"#,
    )
    .await;
}

#[tokio::test]
async fn refusals_are_told_from_answers() {
    let refuse = [Refuse("I would rather not.".into())];
    check_over(Wire::OpenAi, &refuse, "refused, reported, 1").await;
    check_over(Wire::Anthropic, &refuse, "refused, reported, 1").await;
    check_over(
        Wire::Ollama,
        &refuse,
        r#"stop "I would rather not.", reported, 1"#,
    )
    .await;
}

#[tokio::test]
async fn what_nobody_can_read_may_have_cost_anything() {
    check(&[CutOff], "malformed, unknown, 1").await;
    check(&[Malformed], "malformed, unknown, 1").await;
    check(&[OverLong(20_000)], "malformed, unknown, 1").await;
    check(&[HtmlError(200)], "malformed, unknown, 1").await;
    let empty = Raw {
        status: 200,
        headers: Vec::new(),
        body: "{}".into(),
    };
    check(&[empty], "malformed, unknown, 1").await;
}

#[tokio::test]
async fn what_was_turned_away_cost_nothing() {
    let limited = || RateLimit { retry_after: None };
    check(
        &[limited(), limited(), limited(), limited()],
        "unavailable, nothing, 4",
    )
    .await;
    check(
        &[
            ServerError(503),
            ServerError(529),
            ServerError(409),
            ServerError(408),
        ],
        "unavailable, nothing, 4",
    )
    .await;
    check(&[TooLong], "too long, nothing, 1").await;
    check(&[ServerError(413)], "too long, nothing, 1").await;
    check(&[Denied], "denied, nothing, 1").await;
    check(&[ServerError(403)], "denied, nothing, 1").await;
    check(&[ServerError(404)], "bad request, nothing, 1").await;
    check(&[ServerError(501)], "bad request, nothing, 1").await;
    check(&[RejectsSchema], "bad request, nothing, 1").await;
}

#[tokio::test]
async fn what_was_lost_on_the_way_may_have_cost_anything() {
    for status in [500, 502, 504, 520] {
        let failure = || ServerError(status);
        check(
            &[failure(), failure(), failure(), failure()],
            "unavailable, unknown, 4",
        )
        .await;
    }
    check(&[HangUp, HangUp, HangUp, HangUp], "unavailable, unknown, 4").await;
    check(
        &[
            HtmlError(502),
            HtmlError(503),
            HtmlError(503),
            HtmlError(503),
        ],
        "unavailable, unknown, 4",
    )
    .await;
}

#[tokio::test]
async fn an_answer_after_failures_counts_them() {
    let answer = || Behaviour::answer("50");
    let limited = RateLimit { retry_after: None };
    check(
        &[limited, ServerError(503), answer()],
        r#"stop "50", reported, 3"#,
    )
    .await;
    check(&[ServerError(500), answer()], r#"stop "50", unknown, 2"#).await;
    check(&[HangUp, answer()], r#"stop "50", unknown, 2"#).await;
    check(&[HangUp, Denied], "denied, unknown, 2").await;
}

#[tokio::test]
async fn answers_have_the_demanded_form() {
    let right = || AnswerJson(json!({"limit": 50}));
    let whole = r#"stop {"limit":50}, reported, 1"#;
    let mended = r#"stop {"limit":50}, reported, 2"#;
    check_form(&[right()], whole).await;
    check_form(
        &[Behaviour::answer("Sure!\n```json\n{\"limit\": 50,}\n```")],
        whole,
    )
    .await;
    check_form(&[Behaviour::answer("It is 50."), right()], mended).await;
    check_form(&[AnswerJson(json!({"limit": "50"})), right()], mended).await;
    check_form(&[AnswerJson(json!({"limit": 50, "x": 1})), right()], mended).await;
    check_form(&[Behaviour::answer(r#"{"limit": 50"#), right()], mended).await;
    check_form(&[Behaviour::answer(""), right()], mended).await;
    check_form(
        &[
            Behaviour::answer(r#"{"limit": 50} or {"limit": 60}"#),
            right(),
        ],
        mended,
    )
    .await;
    check_form(
        &[Behaviour::answer("no"), right().without_usage()],
        r#"stop {"limit":50}, unknown, 2"#,
    )
    .await;
}

#[tokio::test]
async fn a_second_wrong_answer_is_the_last() {
    let wrong = || Behaviour::answer("It is 50.");
    check_form(&[wrong(), wrong(), wrong()], "malformed, reported, 2").await;
    check_form(&[wrong(), TooLong], "too long, reported, 2").await;
}

#[tokio::test]
async fn an_answer_that_ran_out_of_tokens_is_not_asked_for_again() {
    check_form(
        &[Length(r#"{"limit": 5"#.into())],
        r#"length "{"limit": 5", reported, 1"#,
    )
    .await;
    let whole = [Length(r#"{"limit": 50}"#.into())];
    for (wire, expected) in [
        (Wire::OpenAi, r#"length {"limit":50}, reported, 1"#),
        (Wire::Ollama, r#"length {"limit":50}, reported, 1"#),
        // Arguments of a call that was cut off may have been closed by the provider.
        (Wire::Anthropic, r#"length "", reported, 1"#),
    ] {
        let scripted = ScriptedProvider::new(wire, whole.clone());
        assert_eq!(scripted.ask_line(&demand()).await, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn an_error_that_comes_as_an_answer_is_an_error() {
    let routed = |code: u16| Raw {
        status: 200,
        headers: Vec::new(),
        body: json!({"error": {"message": "upstream", "code": code}}).to_string(),
    };
    let answer = Behaviour::answer("50");
    check(&[routed(429), answer], r#"stop "50", reported, 2"#).await;
    check(&[routed(402)], "denied, nothing, 1").await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    for wire in WIRES {
        let other = ScriptedProvider::new(wire, [Behaviour::answer("from elsewhere")]);
        let path = match wire {
            Wire::OpenAi => "/v1/chat/completions",
            Wire::Anthropic => "/v1/messages",
            Wire::Ollama => "/api/chat",
        };
        let redirect = Raw {
            status: 307,
            headers: vec![("location", other.server.url() + path)],
            body: String::new(),
        };
        let scripted = ScriptedProvider::new(wire, [redirect]);
        assert_eq!(
            scripted.ask_line(&question()).await,
            "bad request, nothing, 1"
        );
        assert_eq!(other.server.requests(), 0);
    }
}

#[tokio::test]
async fn nobody_there_costs_nothing() {
    for wire in WIRES {
        let scripted = ScriptedProvider::new(wire, []);
        drop(scripted.server);
        // Its thread ends in its own time, and with it the port closes.
        let failure = loop {
            let failure = scripted
                .model
                .ask(&question())
                .await
                .expect_err("nobody is there");
            if failure.spent == FailureCost::Nothing {
                break failure;
            }
        };
        assert_eq!(class(&failure.error), "unavailable");
        let said = failure.to_string();
        assert!(said.contains("ada/engine-1 could not be reached"), "{said}");
    }
}

#[tokio::test]
async fn usage_is_read_from_every_wire() {
    for (wire, cached) in [(Wire::OpenAi, 4), (Wire::Anthropic, 4), (Wire::Ollama, 0)] {
        let scripted = ScriptedProvider::new(wire, [Behaviour::answer("fifty entries")]);
        let reply = scripted.model.ask(&question()).await.expect("an answer");
        let usage = Usage {
            input: 9,
            cached,
            output: 2,
        };
        assert_eq!(reply.usage, Some(usage), "{wire:?}");
    }
}

#[tokio::test]
async fn an_answer_may_take_its_time_and_no_longer() {
    for wire in WIRES {
        let held = [Behaviour::answer("50").slowly()];
        let limit = Duration::from_millis(50);
        let scripted = ScriptedProvider::with(wire, held, |config| config.answer_timeout = limit);
        let failure = scripted
            .model
            .ask(&question())
            .await
            .expect_err("it is held");
        assert_eq!(
            (class(&failure.error), failure.spent),
            ("unavailable", FailureCost::Unknown)
        );
        assert!(failure.to_string().contains("within 0.05 s"), "{failure}");
        assert_eq!(scripted.server.requests(), 1);
    }
}
