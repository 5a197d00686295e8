//! Which tools each kind of agent may use (spec D.4, DC53). What is offered is one thing; what is
//! carried out is decided again at each call.
//!
//! Not here: what the tools do (`desk`).

use daybook_domain::model::Tool;

use crate::extract::entity_tools::{
    EntityTool, create_entity, list_entities, now, read_entity, upsert_record,
};

/// What sort of agent calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentKind {
    /// Works with a person, over a connector.
    Connector,
    /// The memory of another agent.
    Memory,
    /// Answers one question from memory.
    Search,
}

impl AgentKind {
    /// The tools that it may call. Without a list it may call whatever there is.
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

    fn word(self) -> &'static str {
        match self {
            Self::Connector => "connector",
            Self::Memory => "memory",
            Self::Search => "search",
        }
    }
}

/// All tools that there are.
fn all() -> [EntityTool; 5] {
    [
        now(),
        list_entities(),
        read_entity(),
        create_entity(),
        upsert_record(),
    ]
}

/// What a model is offered in the name of an agent: what is on its list. An agent without one is
/// offered nothing by us.
pub(super) fn offered(kind: AgentKind) -> Vec<Tool> {
    let list = kind.allow_list().unwrap_or_default();
    let offered = all().into_iter().filter(|tool| list.contains(&tool.name));
    offered
        .map(|tool| Tool {
            name: tool.name.to_owned(),
            description: tool.about.to_owned(),
            arguments: tool.arguments,
        })
        .collect()
}

/// Why a call is not carried out, as the agent is told.
pub(super) fn refusal(kind: AgentKind, name: &str) -> Option<String> {
    let list = kind.allow_list();
    let is_on_list = list.is_none_or(|list| list.contains(&name));
    let is_there = all().iter().any(|tool| tool.name == name);
    let there: Vec<&str> = all().iter().map(|tool| tool.name).collect();
    let may = list.map_or(there.join(", "), |list| list.join(", "));
    match (is_there, is_on_list) {
        (true, true) => None,
        (true, false) => Some(format!(
            "This tool is not for a {} agent. It may use: {may}.",
            kind.word()
        )),
        (false, _) => Some(format!("There is no such tool. There are: {may}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dc53_each_kind_of_agent_has_its_list() {
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
        let names =
            |kind| -> Vec<String> { offered(kind).into_iter().map(|tool| tool.name).collect() };
        assert_eq!(names(AgentKind::Connector), [""; 0]);
        assert_eq!(names(AgentKind::Memory), memory);
        assert_eq!(names(AgentKind::Search), search);
    }

    #[test]
    fn dc53_the_list_holds_where_a_call_is_carried_out() {
        let check = |kind, name: &str, begins: Option<&str>| {
            let refusal = refusal(kind, name);
            let is_right = match (&refusal, begins) {
                (Some(refusal), Some(begins)) => refusal.starts_with(begins),
                (refusal, begins) => refusal.is_none() && begins.is_none(),
            };
            assert!(is_right, "{kind:?} {name}: {refusal:?}");
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
