//! Tools that are offered, called, and answered.

use daybook_domain::model::{Finish, Message, Model as _, ModelRequest, Role, Tool, ToolCall};
use daybook_llm::Wire;
use daybook_testkit::llm_server::Behaviour;
use serde_json::json;

use crate::rig::{Rig, WIRES, demand, question};

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
        let rig = Rig::new(wire, [Behaviour::Calls(calls.clone())]);
        let reply = rig.model.ask(&offer()).await.expect("an answer");
        let expected = match wire {
            Wire::OpenAi | Wire::Anthropic => calls,
            Wire::Ollama => vec![call("call_1", "cache"), call("call_2", "disk")],
        };
        assert_eq!(
            (reply.calls, reply.finish),
            (expected, Finish::Tools),
            "{wire:?}"
        );
        assert_eq!(rig.server.asked()[0].tools, [tool()], "{wire:?}");
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
        let rig = Rig::new(wire, [Behaviour::answer("It is 50.")]);
        rig.told(&request).await;
        let mut expected = request.messages;
        if wire == Wire::Ollama {
            // This wire has no ids; an outcome names its tool.
            for message in &mut expected {
                message.answers = message.answers.as_ref().map(|_| "look_up".to_owned());
                message.calls.iter_mut().for_each(|call| call.id.clear());
            }
        }
        assert_eq!(rig.server.asked()[0].messages, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn arguments_stay_as_the_model_wrote_them() {
    let calls = vec![ToolCall {
        arguments: r#"{"name": "cache", oops"#.to_owned(),
        ..call("a", "")
    }];
    let rig = Rig::new(Wire::OpenAi, [Behaviour::Calls(calls.clone())]);
    let reply = rig.model.ask(&offer()).await.expect("an answer");
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
        let rig = Rig::new(wire, [Behaviour::Calls(vec![call("a", "cache")]), right]);
        let reply = rig.model.ask(&request).await.expect("calls");
        assert_eq!((reply.calls.len(), reply.answer), (1, None), "{wire:?}");
        let reply = rig.model.ask(&request).await.expect("an answer");
        assert_eq!(
            (reply.calls.len(), reply.answer),
            (0, Some(json!({"limit": 50}))),
            "{wire:?}"
        );
        assert_eq!(rig.server.asked()[0].tools, [tool()], "{wire:?}");
    }
}

#[tokio::test]
async fn a_tool_may_not_have_the_name_of_the_answer() {
    let mut request = demand();
    request.tools = vec![Tool {
        name: "limit".to_owned(),
        ..tool()
    }];
    let rig = Rig::new(Wire::Anthropic, []);
    assert_eq!(rig.told(&request).await, "bad request, nothing, 0");
}
