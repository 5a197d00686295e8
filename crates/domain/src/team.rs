//! Teams of agents: their ids, and which of them an agent is in.
//!
//! Not here: what a caller may read (`caller`).

use std::collections::BTreeSet;

/// Most teams, and most members of one.
pub const MAX_TEAMS: usize = 1_000;

/// A team: agents that work together and share a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// The name that people gave it, if any.
    pub name: Option<String>,
    /// The agents in it.
    pub members: BTreeSet<String>,
}

impl Team {
    /// Its id: the members in order, joined by `+`. A `+` or `%` inside of a name is percent-encoded, so teams of
    /// different agents have different ids.
    #[must_use]
    pub fn id(&self) -> String {
        let encoded = |name: &String| name.replace('%', "%25").replace('+', "%2B");
        let members: Vec<String> = self.members.iter().map(encoded).collect();
        members.join("+")
    }
}

/// All teams that settings name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Teams(pub Vec<Team>);

impl Teams {
    /// Parses teams as settings write them: `alpha+beta`, or with a name of its own `crew=alpha+beta`.
    ///
    /// # Errors
    /// The fault of the first text that is no team.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
        let mut teams = Vec::new();
        for text in texts {
            let team = parse_team(text)?;
            let is_taken = |other: &Team| {
                other.members == team.members || (team.name.is_some() && other.name == team.name)
            };
            if teams.iter().any(is_taken) {
                return Err(format!("the team {text} is there already"));
            }
            teams.push(team);
        }
        match teams.len() {
            0..=MAX_TEAMS => Ok(Self(teams)),
            count => Err(format!("{count} teams are more than {MAX_TEAMS}")),
        }
    }

    /// The teams that `agent` is a member of, by id, in order.
    #[must_use]
    pub fn of_agent(&self, agent: &str) -> Vec<String> {
        let own = self.0.iter().filter(|team| team.members.contains(agent));
        let ids: BTreeSet<String> = own.map(Team::id).collect();
        ids.into_iter().collect()
    }

    /// The id of the team that `text` names. One that no setting names keeps its name, and has its words alone.
    #[must_use]
    pub fn id_of(&self, text: &str) -> String {
        self.find(text).map_or_else(|| text.to_owned(), Team::id)
    }

    /// The team with this name, this id, or these members in any order.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<&Team> {
        let members: BTreeSet<&str> = text.split('+').map(str::trim).collect();
        let is_it = |team: &&Team| {
            team.name.as_deref() == Some(text)
                || team.id() == text
                || team
                    .members
                    .iter()
                    .map(String::as_str)
                    .eq(members.iter().copied())
        };
        self.0.iter().find(is_it)
    }
}

fn parse_team(text: &str) -> Result<Team, String> {
    let (name, members) = match text.split_once('=') {
        Some((name, members)) => (Some(name.trim()), members),
        None => (None, text),
    };
    let members: Vec<&str> = members.split('+').map(str::trim).collect();
    let is_fit = |name: &str| !name.is_empty() && !name.contains(['=', '+', '\n']);
    let distinct: BTreeSet<String> = members.iter().map(|&name| name.to_owned()).collect();
    if !members.iter().copied().all(is_fit) || !name.is_none_or(is_fit) {
        return Err(format!(
            "{text} is no team; write its members as alpha+beta, or with a name as crew=alpha+beta"
        ));
    }
    if distinct.len() < 2 || distinct.len() > MAX_TEAMS {
        return Err(format!("the team {text} needs two different members"));
    }
    Ok(Team {
        name: name.map(str::to_owned),
        members: distinct,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(members: &[&str]) -> Team {
        Team {
            name: None,
            members: members.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn different_teams_have_different_ids() {
        let ids = [
            team(&["a_b", "c"]).id(),
            team(&["a", "b_c"]).id(),
            team(&["a+b", "c"]).id(),
            team(&["a", "b+c"]).id(),
            team(&["a%2Bb", "c"]).id(),
        ];
        let distinct: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
        assert_eq!(team(&["general", "calculator"]).id(), "calculator+general");
    }

    #[test]
    fn an_agent_is_in_the_teams_that_name_it() {
        let teams = Teams::parse(["general+calculator", "ops=beta+alpha", "general+alpha"]);
        let teams = teams.expect("these are teams");
        assert_eq!(
            teams.of_agent("general"),
            ["alpha+general", "calculator+general"]
        );
        assert_eq!(teams.of_agent("alpha"), ["alpha+beta", "alpha+general"]);
        assert!(teams.of_agent("nobody").is_empty());
        for name in ["ops", "alpha+beta", "beta+alpha"] {
            assert_eq!(
                teams.find(name).map(Team::id),
                Some("alpha+beta".to_owned())
            );
        }
        assert_eq!(teams.find("alpha"), None);
    }

    #[test]
    fn what_is_no_team_is_refused() {
        for texts in [
            &["alpha"][..],
            &["alpha+alpha"],
            &["alpha+"],
            &["=alpha+beta"],
            &["alpha+beta", "beta+alpha"],
            &["crew=alpha+beta", "crew=alpha+gamma"],
        ] {
            assert!(Teams::parse(texts.iter().copied()).is_err(), "{texts:?}");
        }
    }
}
