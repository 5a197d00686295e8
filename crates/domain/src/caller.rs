//! Which scopes apply to a caller: the one rule that recall, contexts and hooks go by.
//!
//! - An agent has its own memory and that of each team that it is in. In a room it has the room's, too.
//! - A team has its own memory, and its members' where settings say so.
//! - A person's memory applies where they alone talk with an agent: others read the answers in a room or a team.
//! - A project's memory applies to every caller that works in it.
//!
//! Not here: how scopes are filled (`engine::jobs`), and names that callers give for teams (`team`).

use crate::ids::{Scope, ScopeKind, Tenant};
use crate::team::{Team, Teams};

/// A program or a person that asks memory for something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The agent.
    pub agent: Option<String>,
    /// The person that it talks with; the person of the data folder when left out.
    pub user: Option<String>,
    /// The team that speaks, by its id.
    pub team: Option<String>,
    /// The room that it is in.
    pub room: Option<String>,
    /// The project that it works in, by its key.
    pub project: Option<String>,
}

/// What the rule knows beside the caller.
#[derive(Debug, Clone, Copy)]
pub struct ScopePolicy<'a> {
    /// The tenant.
    pub tenant: &'a Tenant,
    /// The person of the data folder.
    pub person: &'a str,
    /// All teams.
    pub teams: &'a Teams,
    /// Whether a team reads its members' memories (MindRoom's `team_reads_member_memory`).
    pub team_reads_member_memory: bool,
}

/// The part of a tenant's memory that a search may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Reach {
    /// All of it: the person looks through their own data folder.
    #[default]
    Everything,
    /// These scopes alone.
    Scopes(Vec<Scope>),
    /// Every project and one person's memory: a caller that does not say which agent it is, and in which room.
    Unnamed {
        /// The person.
        person: String,
        /// Scopes that it does not reach, for the search to leave out. What is missing here is left out of the answers.
        except: Vec<Scope>,
    },
}

/// Most scopes that a search leaves out by itself.
const MOST_EXCEPT: usize = 256;

impl Reach {
    /// With those of the `known` scopes that it does not reach as exceptions.
    #[must_use]
    pub fn knowing(self, known: impl IntoIterator<Item = Scope>) -> Self {
        let unreached = known.into_iter().filter(|scope| !self.admits(Some(scope)));
        let unreached = unreached.take(MOST_EXCEPT).collect();
        match self {
            Self::Unnamed { person, .. } => Self::Unnamed {
                person,
                except: unreached,
            },
            Self::Everything | Self::Scopes(_) => self,
        }
    }

    /// Whether a document of this scope may be shown. Events outside of any project have no scope.
    #[must_use]
    pub fn admits(&self, scope: Option<&Scope>) -> bool {
        match (self, scope) {
            (Self::Everything, _) | (Self::Unnamed { .. }, None) => true,
            (Self::Scopes(scopes), scope) => scope.is_some_and(|scope| scopes.contains(scope)),
            (Self::Unnamed { person, .. }, Some(scope)) => match scope.kind {
                ScopeKind::Project => true,
                ScopeKind::User => scope.name == *person,
                ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => false,
            },
        }
    }
}

impl Caller {
    /// Whether it names neither an agent, nor a person, a team or a room.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        self.agent.is_none() && self.user.is_none() && self.team.is_none() && self.room.is_none()
    }

    /// The scopes that apply to it, the narrowest first.
    #[must_use]
    pub fn scopes(&self, policy: ScopePolicy<'_>) -> Vec<Scope> {
        let scope = |kind, name: &str| Scope {
            tenant: policy.tenant.clone(),
            kind,
            name: name.to_owned(),
        };
        let mut scopes: Vec<Scope> = Vec::new();
        scopes.extend(self.room.iter().map(|room| scope(ScopeKind::Room, room)));
        match &self.team {
            Some(team) => {
                scopes.push(scope(ScopeKind::Team, team));
                if policy.team_reads_member_memory {
                    let members = policy.teams.find(team).map(|team| &team.members);
                    let members = members.into_iter().flatten();
                    scopes.extend(members.map(|member| scope(ScopeKind::Agent, member)));
                }
            }
            None => {
                let teams = self.agent.iter().flat_map(|it| policy.teams.of_agent(it));
                scopes.extend(self.agent.iter().map(|it| scope(ScopeKind::Agent, it)));
                scopes.extend(teams.map(|team| scope(ScopeKind::Team, &team)));
            }
        }
        let project = self.project.iter();
        scopes.extend(project.map(|project| scope(ScopeKind::Project, project)));
        if self.room.is_none() && self.team.is_none() {
            let person = self.user.as_deref().unwrap_or(policy.person);
            scopes.push(scope(ScopeKind::User, person));
        }
        scopes
    }

    /// What it may search.
    #[must_use]
    pub fn reach(&self, policy: ScopePolicy<'_>) -> Reach {
        match self.is_unnamed() {
            true => Reach::Unnamed {
                person: policy.person.to_owned(),
                except: Vec::new(),
            },
            false => Reach::Scopes(self.scopes(policy)),
        }
    }

    /// Checks that it takes part in the team that it names.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check_team(&self, teams: &Teams) -> Result<(), String> {
        let (Some(team), Some(agent)) = (&self.team, &self.agent) else {
            return Ok(());
        };
        match teams.find(team).map(Team::id) {
            Some(id) if teams.of_agent(agent).contains(&id) => Ok(()),
            _ => Err(format!("the agent {agent} is not in the team {team}")),
        }
    }
}

#[cfg(test)]
#[path = "caller_tests.rs"]
mod tests;
