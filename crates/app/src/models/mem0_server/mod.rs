//! The mem0 server that keeps the memory of some agents: its calls, as mem0's own server answers them.
//!
//! Each owner (an agent or a team) is one `user_id` there, and what the server returns for another owner is dropped:
//! a filter of a server is no wall. Nothing is kept here in its place: where the server does not answer, the caller gets
//! an error.
//!
//! Not here: whose memory is there (`settings`), how its answers are merged with Daybook's (`service::agent_memory`).

pub(crate) mod conversations;
mod error;

use anyhow::{Context, Result};
use daybook_domain::{Scope, ScopeKind, Tenant};
use daybook_llm::{JsonMethod, JsonServer, JsonServerConfig};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use error::Mem0Error;

use super::keys::key_source;
use crate::settings::mem0::Mem0Settings;

/// Its name in messages.
const NAME: &str = "mem0";
/// Most memories of one owner that are listed: the server returns no more.
pub(crate) const MOST: usize = 1_000;
/// Longest id that is sent.
const ID: usize = 64;

/// The mem0 server of settings.
#[derive(Debug, Clone)]
pub(crate) struct Mem0Server(JsonServer);

/// A memory as the server returns it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ServerMemory {
    pub(crate) id: String,
    #[serde(rename = "memory")]
    pub(crate) text: String,
    #[serde(default)]
    user_id: Option<String>,
    /// Its similarity to a question, from 0 to 1; none where nothing was asked.
    #[serde(default)]
    pub(crate) score: Option<f64>,
    #[serde(default)]
    pub(crate) created_at: Option<String>,
    #[serde(default)]
    pub(crate) updated_at: Option<String>,
    #[serde(default)]
    metadata: Value,
}

/// A message of a conversation.
pub(crate) struct RoleMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) text: &'a str,
}

impl Mem0Server {
    /// The server of settings. Sends nothing.
    pub(crate) fn new(settings: &Mem0Settings) -> Result<Self> {
        let server = JsonServer::new(JsonServerConfig {
            name: NAME.to_owned(),
            base_url: settings.url.clone(),
            key: key_source(NAME, &settings.key),
            plain_http: settings.plain_http,
            timeout: settings.timeout,
        });
        server.map(Self).context("daybook.toml, mem0")
    }

    /// Keeps a text as it is, and returns the memory's id.
    pub(crate) async fn add(&self, owner: &Scope, text: &str) -> Result<String, Mem0Error> {
        let body = json!({
            "messages": [{"role": "user", "content": text}],
            "user_id": user_id(owner),
            "metadata": owner_metadata(owner),
            "infer": false,
        });
        let answer = self.call(JsonMethod::Post, &["memories"], &[], Some(&body));
        let answer = answer.await?;
        let id = answer["results"][0]["id"].as_str();
        id.map(str::to_owned).ok_or(Mem0Error::Unreadable)
    }

    /// Gives the server part of a conversation to learn from, unless it has learned from that part already.
    pub(crate) async fn add_conversation(
        &self,
        owner: &Scope,
        part: &str,
        session: &str,
        messages: &[RoleMessage<'_>],
    ) -> Result<(), Mem0Error> {
        let known = self.list(owner).await?;
        if known.iter().any(|one| one.metadata["daybook_part"] == part) {
            return Ok(());
        }
        let messages: Vec<Value> = messages
            .iter()
            .map(|message| json!({"role": message.role, "content": message.text}))
            .collect();
        let mut metadata = owner_metadata(owner);
        metadata["type"] = json!("conversation");
        metadata["session_id"] = json!(session);
        metadata["daybook_part"] = json!(part);
        let body = json!({
            "messages": messages,
            "user_id": user_id(owner),
            "metadata": metadata,
        });
        self.call(JsonMethod::Post, &["memories"], &[], Some(&body))
            .await?;
        Ok(())
    }

    /// The owner's memories nearest to a question, best first. Nothing below `least` in similarity is returned.
    pub(crate) async fn search(
        &self,
        owner: &Scope,
        question: &str,
        limit: usize,
        least: Option<f64>,
    ) -> Result<Vec<ServerMemory>, Mem0Error> {
        let mut body = json!({
            "query": question,
            "filters": {"user_id": user_id(owner)},
            "top_k": limit.min(MOST),
        });
        if let Some(least) = least {
            body["threshold"] = json!(least);
        }
        let answer = self.call(JsonMethod::Post, &["search"], &[], Some(&body));
        let mut found = own_memories(&answer.await?, owner);
        found.truncate(limit);
        Ok(found)
    }

    /// The owner's memories, at most [`MOST`].
    pub(crate) async fn list(&self, owner: &Scope) -> Result<Vec<ServerMemory>, Mem0Error> {
        let (user, most) = (user_id(owner), MOST.to_string());
        let query = [("user_id", user.as_str()), ("top_k", &most)];
        let answer = self.call(JsonMethod::Get, &["memories"], &query, None);
        Ok(own_memories(&answer.await?, owner))
    }

    /// The memory with this id, if it is the owner's.
    pub(crate) async fn get(
        &self,
        owner: &Scope,
        id: &str,
    ) -> Result<Option<ServerMemory>, Mem0Error> {
        if !is_id(id) {
            return Ok(None);
        }
        let answer = self
            .call(JsonMethod::Get, &["memories", id], &[], None)
            .await;
        let found = match answer {
            Err(Mem0Error::NotFound) => return Ok(None),
            other => other?,
        };
        // A server of mem0 answers `null` for a memory that is not there.
        let memory: Option<ServerMemory> =
            serde_json::from_value(found).map_err(|_| Mem0Error::Unreadable)?;
        Ok(memory.filter(|memory| memory.is_of(owner)))
    }

    /// Gives a memory other words.
    pub(crate) async fn update(&self, id: &str, text: &str) -> Result<(), Mem0Error> {
        let body = json!({ "text": text });
        self.call(JsonMethod::Put, &["memories", id], &[], Some(&body))
            .await?;
        Ok(())
    }

    /// Removes a memory. One that is not there is gone already.
    pub(crate) async fn delete(&self, id: &str) -> Result<(), Mem0Error> {
        match self
            .call(JsonMethod::Delete, &["memories", id], &[], None)
            .await
        {
            Ok(_) | Err(Mem0Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn call(
        &self,
        method: JsonMethod,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Value, Mem0Error> {
        let answer = self.0.send(method, path, query, body).await?;
        Mem0Error::check(answer)
    }
}

impl ServerMemory {
    fn is_of(&self, owner: &Scope) -> bool {
        self.user_id.as_deref() == Some(&user_id(owner))
    }
}

/// Whether a text can be the id of a memory there.
pub(crate) fn is_id(text: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    (1..=ID).contains(&text.len()) && text.bytes().all(is_plain)
}

/// The memories of an answer that belong to the owner. One that cannot be read costs no other.
fn own_memories(answer: &Value, owner: &Scope) -> Vec<ServerMemory> {
    let results = answer["results"].as_array().into_iter().flatten();
    let read = results.filter_map(|one| ServerMemory::deserialize(one).ok());
    read.filter(|memory: &ServerMemory| memory.is_of(owner) && !memory.text.trim().is_empty())
        .collect()
}

/// The owner's name there, as MindRoom writes it: `agent_ada`. Another tenant's stands behind its name.
fn user_id(owner: &Scope) -> String {
    let kind = match owner.kind {
        ScopeKind::Agent => "agent",
        ScopeKind::Team => "team",
        ScopeKind::Project => "project",
        ScopeKind::User => "user",
        ScopeKind::Room => "room",
    };
    match owner.tenant == Tenant::local() {
        true => format!("{kind}_{}", owner.name),
        false => format!("{}/{kind}_{}", owner.tenant.0, owner.name),
    }
}

fn owner_metadata(owner: &Scope) -> Value {
    match owner.kind {
        ScopeKind::Team => json!({
            "is_team": true,
            "team_members": owner.name.split('+').collect::<Vec<_>>(),
        }),
        ScopeKind::Agent | ScopeKind::Project | ScopeKind::User | ScopeKind::Room => {
            json!({ "agent": owner.name })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tenant: &str, name: &str, expected: &str) {
        let scope = Scope::parse(&Tenant(tenant.to_owned()), name).expect("a scope");
        assert_eq!(user_id(&scope), expected);
    }

    #[test]
    fn each_owner_has_a_name_of_its_own_there() {
        check("local", "agent/ada", "agent_ada");
        check("local", "team/ada+bo", "team_ada+bo");
        check("acme", "agent/ada", "acme/agent_ada");
    }

    #[test]
    fn m61_what_the_server_returns_of_another_owner_is_dropped() {
        let owner = Scope::parse(&Tenant::local(), "agent/ada").expect("a scope");
        let one = |id: &str, user: &str| json!({"id": id, "memory": "tea", "user_id": user});
        let answer = json!({"results": [
            one("1", "agent_ada"), one("2", "agent_bo"), {"id": "3", "memory": "tea"}, "no memory",
            {"id": "4", "memory": " ", "user_id": "agent_ada"},
        ]});
        let ids: Vec<String> = own_memories(&answer, &owner)
            .into_iter()
            .map(|memory| memory.id)
            .collect();
        assert_eq!(ids, ["1"]);
        assert_eq!(own_memories(&json!([one("1", "agent_ada")]), &owner), []);
    }

    #[test]
    fn what_could_name_another_resource_is_no_id() {
        assert!(is_id("0b0d1a2c-9f7e-4b7a-8a51-6f0c2d3e4f5a"));
        for other in ["", "..", "a/b", "a?b", &"a".repeat(65)] {
            assert!(!is_id(other), "{other}");
        }
    }
}
