//! Who asks, and which part of memory that caller reaches. Every request that shows memory to an agent goes through here.
//!
//! Not here: the rule itself (`daybook_domain::caller`).

use anyhow::{Result, bail};
use daybook_domain::page::read_all;
use daybook_domain::venue::MAX_VENUE_NAME;
use daybook_domain::{Caller, Reach, Scope, Team, Tenant};
use daybook_text::names::{redact_id, redact_key, redact_name};
use daybook_text::redact::Redactor;

use super::RequestError;
use crate::settings::Settings;
use crate::wiring::Daybook;

/// A caller as a request names it.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamedCaller {
    pub(crate) agent: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) room_id: Option<String>,
    /// A team by its name, its id or its members.
    pub(crate) team: Option<String>,
    /// The key of the project that it works in.
    pub(crate) project: Option<String>,
}

impl NamedCaller {
    /// The caller, with names as they are stored.
    pub(crate) fn resolve(&self, settings: &Settings) -> Result<Caller> {
        for (field, name) in [
            ("agent", &self.agent),
            ("user", &self.user),
            ("room_id", &self.room_id),
            ("team", &self.team),
        ] {
            check_name(field, name.as_deref())?;
        }
        let redactor = Redactor::current();
        let team = self.team.as_deref().map(|team| team_id(settings, team));
        let caller = Caller {
            agent: (self.agent.as_ref()).map(|it| redact_name(&redactor, it).into_owned()),
            user: (self.user.as_ref()).map(|it| redact_key(&redactor, it).into_owned()),
            team: team.transpose()?,
            room: (self.room_id.as_ref()).map(|it| redact_id(&redactor, it).into_owned()),
            project: self.project.clone(),
        };
        let checked = caller.check_team(&settings.teams);
        checked.map_err(RequestError::Invalid)?;
        Ok(caller)
    }
}

/// The id of the team that `text` names.
pub(crate) fn team_id(settings: &Settings, text: &str) -> Result<String> {
    match settings.teams.find(text).map(Team::id) {
        Some(id) => Ok(id),
        None => bail!(RequestError::Invalid(format!(
            "there is no team {text}; the setting `teams` names teams by their members, such as \"alpha+beta\""
        ))),
    }
}

/// Checks a name of a room, a thread, a team, an agent or a user.
pub(crate) fn check_name(field: &str, name: Option<&str>) -> Result<()> {
    let is_fit = |name: &str| {
        !name.trim().is_empty() && name.len() <= MAX_VENUE_NAME && !name.contains(char::is_control)
    };
    if !name.is_none_or(is_fit) {
        bail!(RequestError::Invalid(format!(
            "{field} is 1 to {MAX_VENUE_NAME} bytes without control characters"
        )));
    }
    Ok(())
}

/// What a caller of an agent's interface reaches.
pub(crate) async fn reach(daybook: &Daybook, caller: &Caller) -> Result<Reach> {
    let reach = caller.reach(daybook.settings.scope_policy());
    if !caller.is_unnamed() {
        return Ok(reach);
    }
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    Ok(reach.knowing(known.into_iter().map(|state| state.scope)))
}

/// The scope that a caller names, if it takes part in it. A team may be named by its name.
pub(crate) fn own_scope(settings: &Settings, caller: &Caller, name: &str) -> Result<Scope> {
    let scope = parse_named(settings, &settings.tenant, name)?;
    let reach = caller.reach(settings.scope_policy());
    match reach.admits(Some(&scope)) {
        true => Ok(scope),
        false => bail!(RequestError::Invalid(format!(
            "this caller does not take part in {scope}; name the agent, the user, the team or the room that does"
        ))),
    }
}

/// The scope called `name`, with the id of a team in place of its name.
pub(crate) fn parse_named(settings: &Settings, tenant: &Tenant, name: &str) -> Result<Scope> {
    let Some(mut scope) = Scope::parse(tenant, name) else {
        bail!(RequestError::Invalid(format!(
            "\"{name}\" is not a scope; write for example project/tidepool or user/ada"
        )));
    };
    if scope.kind == daybook_domain::ScopeKind::Team
        && let Some(team) = settings.teams.find(&scope.name)
    {
        scope.name = team.id();
    }
    Ok(scope)
}
