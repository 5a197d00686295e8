//! How a demanded form gets onto each wire, and what is remembered of a provider that does not take it.

use daybook_domain::model::{Model as _, Role};
use daybook_llm::Wire;
use daybook_testkit::llm_server::{Behaviour, RequestedForm};
use serde_json::json;

use crate::llm_test_support::{ScriptedProvider, WIRES, class, demand};

fn right() -> Behaviour {
    Behaviour::AnswerJson(json!({"limit": 50}))
}

/// The forms in which the provider was asked, and whether the messages held the schema.
fn forms(scripted: &ScriptedProvider) -> Vec<(&'static str, bool)> {
    let asked = scripted.server.recorded_requests();
    let form = asked.iter().map(|asked| {
        let name = match asked.form {
            RequestedForm::Schema(_) => "schema",
            RequestedForm::Json => "json",
            RequestedForm::Free => "free",
        };
        (name, asked.text().contains("JSON schema"))
    });
    form.collect()
}

#[tokio::test]
async fn the_schema_itself_is_sent_where_the_provider_holds_to_it() {
    for wire in WIRES {
        let scripted = ScriptedProvider::new(wire, [right()]);
        scripted.ask_line(&demand()).await;
        let asked = scripted.server.recorded_requests().remove(0);
        let schema = demand().answer.expect("it is demanded").schema;
        assert_eq!(asked.form, RequestedForm::Schema(schema), "{wire:?}");
        assert_eq!(forms(&scripted), [("schema", false)]);
    }
}

#[tokio::test]
async fn a_form_that_is_rejected_is_not_tried_again() {
    for wire in [Wire::OpenAi, Wire::Ollama] {
        let script = [
            Behaviour::RejectsSchema,
            Behaviour::RejectsSchema,
            right(),
            right(),
        ];
        let scripted = ScriptedProvider::new(wire, script);
        assert_eq!(
            scripted.ask_line(&demand()).await,
            r#"stop {"limit":50}, reported, 3"#
        );
        scripted.model.ask(&demand()).await.expect("an answer");
        let expected = [
            ("schema", false),
            ("json", true),
            ("free", true),
            ("free", true),
        ];
        assert_eq!(forms(&scripted), expected, "{wire:?}");
    }
}

#[tokio::test]
async fn anthropic_knows_no_mode_between_the_tool_and_telling() {
    let scripted = ScriptedProvider::new(Wire::Anthropic, [Behaviour::RejectsSchema, right()]);
    assert_eq!(
        scripted.ask_line(&demand()).await,
        r#"stop {"limit":50}, reported, 2"#
    );
    assert_eq!(forms(&scripted), [("schema", false), ("free", true)]);
}

#[tokio::test]
async fn a_question_is_repaired_once_also_after_a_rejected_form() {
    let wrong = || Behaviour::answer("It is 50.");
    let scripted = ScriptedProvider::new(
        Wire::OpenAi,
        [Behaviour::RejectsSchema, wrong(), wrong(), right()],
    );
    assert_eq!(scripted.ask_line(&demand()).await, "malformed, reported, 3");
}

#[tokio::test]
async fn a_repair_says_what_is_wrong() {
    for wire in WIRES {
        let wrong = Behaviour::answer(r#"{"limit": "fifty"}"#);
        let scripted = ScriptedProvider::new(wire, [wrong, right()]);
        scripted.ask_line(&demand()).await;
        let asked = scripted.server.recorded_requests().remove(1);
        let [.., said, repair] = &asked.messages[..] else {
            panic!("{asked:?}");
        };
        // Nothing is missing, so what was asked is not sent again.
        assert_eq!((said.role, repair.role), (Role::Assistant, Role::User));
        assert!(
            !asked.text().contains(&demand().messages[0].text),
            "{asked:?}"
        );
        assert!(said.text.contains("fifty"), "{said:?}");
        let wrong = "/limit is of type string, not integer";
        assert!(repair.text.contains(wrong), "{repair:?}");
    }
}

#[tokio::test]
async fn a_provider_that_ignores_a_schema_is_told_it_from_then_on() {
    for wire in WIRES {
        let stray = || Behaviour::answer("It is 50.");
        let script = [stray(), right(), stray(), right(), right()];
        let scripted = ScriptedProvider::new(wire, script);
        for _ in 0..3 {
            scripted.model.ask(&demand()).await.expect("an answer");
        }
        let told = |told| ("schema", told);
        // The schema is in the repairs, and then always.
        let expected = [false, true, false, true, true].map(told);
        assert_eq!(forms(&scripted), expected, "{wire:?}");
    }
}

#[tokio::test]
async fn a_model_that_strays_now_and_then_is_not_told_its_schema_each_time() {
    let stray = || Behaviour::answer("It is 50.");
    let script = [stray(), right(), right(), stray(), right(), right()];
    let scripted = ScriptedProvider::new(Wire::OpenAi, script);
    for _ in 0..4 {
        scripted.model.ask(&demand()).await.expect("an answer");
    }
    let told = |told| ("schema", told);
    assert_eq!(
        forms(&scripted),
        [false, true, false, false, true, false].map(told)
    );
}

#[tokio::test]
async fn an_answer_that_lacks_something_is_asked_for_with_all_that_was_asked() {
    let scripted = ScriptedProvider::new(Wire::OpenAi, [Behaviour::answer("{}"), right()]);
    scripted.ask_line(&demand()).await;
    let asked = scripted.server.recorded_requests().remove(1);
    assert!(
        asked.text().contains(&demand().messages[0].text),
        "{asked:?}"
    );
}

#[tokio::test]
async fn parameters_that_a_model_does_not_take_are_left_out() {
    let fault = |message: &str| Behaviour::Raw {
        status: 400,
        headers: Vec::new(),
        body: json!({"error": {"message": message}}).to_string(),
    };
    let script = [
        fault("'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        fault("'temperature' does not support 0.5 with this model."),
        right(),
    ];
    let scripted = ScriptedProvider::new(Wire::OpenAi, script);
    assert_eq!(
        scripted.ask_line(&demand()).await,
        r#"stop {"limit":50}, reported, 3"#
    );
    let asked = scripted.server.recorded_requests();
    assert_eq!(
        (asked[0].max_tokens, asked[0].temperature),
        (Some(200), Some(0.5))
    );
    assert_eq!(asked[2].body["max_completion_tokens"], 200);
    assert_eq!(
        (asked[2].body.get("max_tokens"), asked[2].temperature),
        (None, None)
    );
}

#[tokio::test]
async fn a_fault_that_does_not_go_away_is_told() {
    let fault = Behaviour::Raw {
        status: 400,
        headers: Vec::new(),
        body: r#"{"error":"response_format, temperature, max_completion_tokens: all wrong"}"#
            .into(),
    };
    let scripted = ScriptedProvider::new(Wire::OpenAi, vec![fault; 20]);
    assert_eq!(
        scripted.ask_line(&demand()).await,
        "bad request, nothing, 5"
    );
}

#[tokio::test]
async fn a_schema_that_cannot_be_checked_is_not_sent() {
    let mut request = demand();
    let answer = request.answer.as_mut().expect("it is demanded");
    answer.schema["properties"]["limit"] = json!({"type": "string", "pattern": "^5"});
    let scripted = ScriptedProvider::new(Wire::OpenAi, []);
    let failure = scripted
        .model
        .ask(&request)
        .await
        .expect_err("it cannot be checked");
    assert_eq!(class(&failure.error), "bad request");
    assert!(failure.to_string().contains("pattern"), "{failure}");
    assert_eq!(scripted.server.requests(), 0);
}

#[tokio::test]
async fn ollama_is_told_how_much_room_to_make() {
    let scripted = ScriptedProvider::new(Wire::Ollama, [right()]);
    scripted.ask_line(&demand()).await;
    let body = scripted.server.recorded_requests().remove(0).body;
    assert_eq!(
        (&body["options"]["num_ctx"], &body["truncate"]),
        (&json!(4096), &json!(false))
    );
}
