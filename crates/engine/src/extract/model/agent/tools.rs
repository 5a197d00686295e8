//! The tools that each kind of agent may use (D53). The list decides twice: which tools a model is
//! offered, and, again at each call, which are executed.
//!
//! Not here: the effects of the tools (`tool_session`).

use daybook_domain::model::Tool;
use strum::IntoStaticStr;

use crate::extract::entity_tools::{
    EntityTool, create_entity_tool, list_entities_tool, now_tool, read_entity_tool,
    upsert_record_tool,
};

/// The kind of agent that calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AgentKind {
    /// An agent that works with a person, over a connector.
    Connector,
    /// The memory of another agent.
    Memory,
    /// An agent that answers one question from memory.
    Search,
}

impl AgentKind {
    /// The tools that it may call. `None` allows every tool.
    #[must_use]
    pub fn allow_list(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Connector => None,
            Self::Memory => Some(&[
                "now",
                "memory_list_entities",
                "memory_read_entity",
                "memory_create_entity",
                "memory_upsert_record",
            ]),
            Self::Search => Some(&["memory_list_entities", "memory_read_entity"]),
        }
    }

    fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Every tool.
fn all_tools() -> [EntityTool; 5] {
    [
        now_tool(),
        list_entities_tool(),
        read_entity_tool(),
        create_entity_tool(),
        upsert_record_tool(),
    ]
}

/// The tools that a model is offered for an agent: those on its list. We offer no tools to an agent without a list.
pub(super) fn offered_tools(kind: AgentKind) -> Vec<Tool> {
    let list = kind.allow_list().unwrap_or_default();
    let offered = all_tools()
        .into_iter()
        .filter(|tool| list.contains(&tool.name));
    offered
        .map(|tool| Tool {
            name: tool.name.to_owned(),
            description: tool.about.to_owned(),
            arguments: tool.arguments,
        })
        .collect()
}

/// The message for the agent if a call is not allowed; `None` if it is.
pub(super) fn refusal_message(kind: AgentKind, name: &str) -> Option<String> {
    let list = kind.allow_list();
    let is_on_list = list.is_none_or(|list| list.contains(&name));
    let is_there = all_tools().iter().any(|tool| tool.name == name);
    let there: Vec<&str> = all_tools().iter().map(|tool| tool.name).collect();
    let may = list.map_or(there.join(", "), |list| list.join(", "));
    match (is_there, is_on_list) {
        (true, true) => None,
        (true, false) => Some(format!(
            "This tool is not for a {} agent. It may use: {may}.",
            kind.as_str()
        )),
        (false, _) => Some(format!("There is no such tool. There are: {may}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d53_each_kind_of_agent_has_its_list() {
        let memory = [
            "now",
            "memory_list_entities",
            "memory_read_entity",
            "memory_create_entity",
            "memory_upsert_record",
        ];
        let search = ["memory_list_entities", "memory_read_entity"];
        assert_eq!(AgentKind::Connector.allow_list(), None);
        assert_eq!(AgentKind::Memory.allow_list(), Some(&memory[..]));
        assert_eq!(AgentKind::Search.allow_list(), Some(&search[..]));
        let names = |kind| -> Vec<String> {
            offered_tools(kind)
                .into_iter()
                .map(|tool| tool.name)
                .collect()
        };
        assert_eq!(names(AgentKind::Connector), [""; 0]);
        assert_eq!(names(AgentKind::Memory), memory);
        assert_eq!(names(AgentKind::Search), search);
    }

    #[test]
    fn d53_the_list_holds_where_a_call_is_carried_out() {
        let check = |kind, name: &str, begins: Option<&str>| {
            let refusal_message = refusal_message(kind, name);
            let is_right = match (&refusal_message, begins) {
                (Some(refusal_message), Some(begins)) => refusal_message.starts_with(begins),
                (refusal_message, begins) => refusal_message.is_none() && begins.is_none(),
            };
            assert!(is_right, "{kind:?} {name}: {refusal_message:?}");
        };
        check(AgentKind::Memory, "memory_upsert_record", None);
        check(
            AgentKind::Memory,
            "run_python",
            Some("There is no such tool."),
        );
        let foreign = Some("This tool is not for a search agent.");
        check(AgentKind::Search, "memory_upsert_record", foreign);
        check(AgentKind::Search, "memory_read_entity", None);
        // Hidden from it, and carried out all the same.
        check(AgentKind::Connector, "memory_upsert_record", None);
    }
}
