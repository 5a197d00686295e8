//! Tools that are offered, called, and answered.

use daybook_domain::model::{
    FinishReason, Message, Model as _, ModelRequest, Role, Tool, ToolCall,
};
use daybook_llm::Wire;
use daybook_testkit::llm_server::Behaviour;
use serde_json::{Value, json};

use crate::llm_test_support::{ScriptedProvider, WIRES, demand, question};

fn tool() -> Tool {
    Tool {
        name: "look_up".to_owned(),
        description: "Finds a setting.".to_owned(),
        arguments: json!({"type": "object", "properties": {"name": {"type": "string"}}}),
    }
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "look_up".to_owned(),
        arguments: format!(r#"{{"name":"{name}"}}"#),
    }
}

fn offer() -> ModelRequest {
    ModelRequest {
        tools: vec![tool()],
        ..question()
    }
}

#[tokio::test]
async fn calls_come_back_with_ids() {
    for wire in WIRES {
        let calls = vec![call("a", "cache"), call("b", "disk")];
        let scripted = ScriptedProvider::new(wire, [Behaviour::Calls(calls.clone())]);
        let reply = scripted.model.ask(&offer()).await.expect("an answer");
        let expected = match wire {
            Wire::OpenAi | Wire::Anthropic => calls,
            Wire::Ollama => vec![call("call_1", "cache"), call("call_2", "disk")],
        };
        assert_eq!(
            (reply.calls, reply.finish),
            (expected, FinishReason::Tools),
            "{wire:?}"
        );
        assert_eq!(
            scripted.server.recorded_requests()[0].tools,
            [tool()],
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn outcomes_reach_the_model() {
    for wire in WIRES {
        let mut request = offer();
        let mut said = Message::new(Role::Assistant, "Let me see.");
        said.calls = vec![call("a", "cache"), call("b", "disk")];
        request.messages.push(said);
        request.messages.push(Message::outcome("a", "50"));
        request.messages.push(Message::outcome("b", "unknown"));
        request.messages.push(Message::new(Role::User, "Well?"));
        let scripted = ScriptedProvider::new(wire, [Behaviour::answer("It is 50.")]);
        scripted.ask_line(&request).await;
        let mut expected = request.messages;
        if wire == Wire::Ollama {
            // This wire has no ids; an outcome names its tool.
            for message in &mut expected {
                message.answers = message.answers.as_ref().map(|_| "look_up".to_owned());
                message.calls.iter_mut().for_each(|call| call.id.clear());
            }
        }
        assert_eq!(
            scripted.server.recorded_requests()[0].messages,
            expected,
            "{wire:?}"
        );
    }
}

/// What a host sends that has a client of its own.
#[test]
fn a_conversation_is_written_as_each_wire_has_it() {
    let mut said = Message::new(Role::Assistant, "Let me see.");
    said.calls = vec![call("a", "cache"), call("b", "disk")];
    let conversation = [
        Message::new(Role::System, "Be brief."),
        Message::new(Role::User, "What are the limits?"),
        said,
        Message::outcome("a", "50"),
        Message::outcome("b", "unknown"),
        Message::new(Role::User, "Well?"),
    ];
    let written = |wire: Wire| {
        let Value::Object(body) = wire.messages(&conversation) else {
            panic!("a body is an object");
        };
        let mut lines = Vec::new();
        for (field, value) in body {
            match value {
                Value::Array(turns) => lines.extend(turns.iter().map(Value::to_string)),
                other => lines.push(format!("{field}: {other}")),
            }
        }
        lines.join("\n")
    };
    insta::assert_snapshot!(written(Wire::OpenAi), @r#"
    {"content":"Be brief.","role":"system"}
    {"content":"What are the limits?","role":"user"}
    {"content":"Let me see.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"name\":\"cache\"}","name":"look_up"},"id":"a","type":"function"},{"function":{"arguments":"{\"name\":\"disk\"}","name":"look_up"},"id":"b","type":"function"}]}
    {"content":"50","role":"tool","tool_call_id":"a"}
    {"content":"unknown","role":"tool","tool_call_id":"b"}
    {"content":"Well?","role":"user"}
    "#);
    insta::assert_snapshot!(written(Wire::Anthropic), @r#"
    {"content":"What are the limits?","role":"user"}
    {"content":[{"text":"Let me see.","type":"text"},{"id":"a","input":{"name":"cache"},"name":"look_up","type":"tool_use"},{"id":"b","input":{"name":"disk"},"name":"look_up","type":"tool_use"}],"role":"assistant"}
    {"content":[{"content":"50","tool_use_id":"a","type":"tool_result"},{"content":"unknown","tool_use_id":"b","type":"tool_result"},{"text":"Well?","type":"text"}],"role":"user"}
    system: "Be brief."
    "#);
    insta::assert_snapshot!(written(Wire::Ollama), @r#"
    {"content":"Be brief.","role":"system"}
    {"content":"What are the limits?","role":"user"}
    {"content":"Let me see.","role":"assistant","tool_calls":[{"function":{"arguments":{"name":"cache"},"name":"look_up"}},{"function":{"arguments":{"name":"disk"},"name":"look_up"}}]}
    {"content":"50","role":"tool","tool_name":"look_up"}
    {"content":"unknown","role":"tool","tool_name":"look_up"}
    {"content":"Well?","role":"user"}
    "#);
}

#[tokio::test]
async fn arguments_stay_as_the_model_wrote_them() {
    let calls = vec![ToolCall {
        arguments: r#"{"name": "cache", oops"#.to_owned(),
        ..call("a", "")
    }];
    let scripted = ScriptedProvider::new(Wire::OpenAi, [Behaviour::Calls(calls.clone())]);
    let reply = scripted.model.ask(&offer()).await.expect("an answer");
    assert_eq!(reply.calls, calls);
}

#[tokio::test]
async fn a_model_may_call_tools_before_it_answers_in_form() {
    for wire in WIRES {
        let request = ModelRequest {
            tools: vec![tool()],
            ..demand()
        };
        let right = Behaviour::AnswerJson(json!({"limit": 50}));
        let scripted =
            ScriptedProvider::new(wire, [Behaviour::Calls(vec![call("a", "cache")]), right]);
        let reply = scripted.model.ask(&request).await.expect("calls");
        assert_eq!((reply.calls.len(), reply.answer), (1, None), "{wire:?}");
        let reply = scripted.model.ask(&request).await.expect("an answer");
        assert_eq!(
            (reply.calls.len(), reply.answer),
            (0, Some(json!({"limit": 50}))),
            "{wire:?}"
        );
        assert_eq!(
            scripted.server.recorded_requests()[0].tools,
            [tool()],
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn a_tool_may_not_have_the_name_of_the_answer() {
    let mut request = demand();
    request.tools = vec![Tool {
        name: "limit".to_owned(),
        ..tool()
    }];
    let scripted = ScriptedProvider::new(Wire::Anthropic, []);
    assert_eq!(scripted.ask_line(&request).await, "bad request, nothing, 0");
}
