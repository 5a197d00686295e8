//! Who asks, and which part of memory that caller reaches. Every request that shows memory to an agent goes through here.
//!
//! Not here: the rule itself (`daybook_domain::caller`).

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::page::read_all;
use daybook_domain::venue::{MAX_VENUE_NAME, is_venue_name};
use daybook_domain::{Caller, Event, EventSeq, Place, Reach, Scope, Session, Team, Tenant, Venue};
use daybook_engine::files::layout::folder;
use daybook_engine::recall::agents_rules::events_for_agent_alone;
use daybook_text::names::{redact_id, redact_key, redact_name};
use daybook_text::redact::Redactor;

use super::RequestError;
use crate::settings::Settings;
use crate::wiring::Daybook;

/// A caller as a request names it.
#[derive(Debug, Clone, Default)]
pub struct NamedCaller {
    /// The agent that asks: it reads its own memory, and that of its teams.
    pub agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    pub user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is read.
    pub room_id: Option<String>,
    /// A team by its name, its id or its members.
    pub team: Option<String>,
    /// The key of the project that it works in.
    pub project: Option<String>,
}

/// The caller that a request names in its fields `agent`, `user`, `room_id`, `team` and `project`.
macro_rules! named_caller {
    ($request:expr) => {
        $crate::service::caller::NamedCaller {
            agent: $request.agent.clone(),
            user: $request.user.clone(),
            room_id: $request.room_id.clone(),
            team: $request.team.clone(),
            project: $request.project.clone(),
        }
    };
}
pub(crate) use named_caller;

impl NamedCaller {
    /// The caller in the room and the team that settings name, where it names neither.
    pub(crate) fn held_in(mut self, venue: &Venue) -> Self {
        if self.room_id.is_none() && self.team.is_none() {
            self.room_id.clone_from(&venue.room_id);
            self.team.clone_from(&venue.team);
        }
        self
    }

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
    if !name.is_none_or(is_venue_name) {
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

/// What a request reaches: what applies to its caller; `None` is the person, who looks through all of the data folder.
pub(crate) async fn reach_of(daybook: &Daybook, caller: Option<&NamedCaller>) -> Result<Reach> {
    match caller {
        Some(caller) => reach(daybook, &caller.resolve(&daybook.settings)?).await,
        None => Ok(Reach::Everything),
    }
}

/// The known scopes that a caller reaches.
pub(crate) async fn reached_scopes(daybook: &Daybook, reach: &Reach) -> Result<Vec<Scope>> {
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let scopes = known.into_iter().map(|state| state.scope);
    Ok(scopes.filter(|scope| reach.admits(Some(scope))).collect())
}

/// Leaves the events that a caller reaches.
pub(crate) async fn keep_reached_events(
    daybook: &Daybook,
    reach: &Reach,
    session: &Session,
    events: &mut Vec<Event>,
) -> Result<()> {
    if *reach == Reach::Everything {
        return Ok(());
    }
    let person = session.user.as_ref().unwrap_or(&daybook.settings.person);
    let alone = match session.venue.is_empty() {
        true => events_for_agent_alone(&*daybook.store, reach, &session.id, person).await?,
        false => BTreeSet::new(),
    };
    events.retain(|event| !alone.contains(&event.seq));
    let mut reached = Vec::with_capacity(events.len());
    for event in events.drain(..) {
        if is_reached(daybook, reach, session, event.place.as_ref()).await? {
            reached.push(event);
        }
    }
    *events = reached;
    Ok(())
}

/// Whether a caller reaches the beginning of a session.
pub(crate) async fn reaches_session(
    daybook: &Daybook,
    reach: &Reach,
    session: &Session,
) -> Result<bool> {
    if *reach == Reach::Everything {
        return Ok(true);
    }
    let (from, to) = (EventSeq(0), session.events);
    let first = daybook.store.events(&session.id, from, to, 1, 1).await?;
    let place = first.first().and_then(|event| event.place.as_ref());
    is_reached(daybook, reach, session, place).await
}

/// Whether a caller reaches what a session holds of `place`: by its room or team, else by the project of the place,
/// else by the person whose session it is.
async fn is_reached(
    daybook: &Daybook,
    reach: &Reach,
    session: &Session,
    place: Option<&Place>,
) -> Result<bool> {
    let (store, tenant) = (&*daybook.store, &daybook.tenant);
    let project = match place {
        Some(place) => store.project_of_root(tenant, &place.root).await?,
        None => None,
    };
    let user = session.user.as_ref().unwrap_or(&daybook.settings.person);
    let owner = (project, Some(user.clone()));
    Ok(reach.admits(session.venue.event_scope(tenant, owner).as_ref()))
}

/// Checks that a memory file, by its path below the data folder, is in the memory of a scope that a caller reaches.
pub(crate) async fn check_file(daybook: &Daybook, reach: &Reach, named: &str) -> Result<()> {
    let path = daybook.root.join(named);
    let is_in = |scope: &Scope| path.starts_with(folder(&daybook.root, scope));
    let scopes = match reach {
        Reach::Everything => return Ok(()),
        Reach::Scopes(scopes) => scopes.clone(),
        Reach::Unnamed { .. } => reached_scopes(daybook, reach).await?,
    };
    match Path::new(named).is_relative() && scopes.iter().any(is_in) {
        true => Ok(()),
        false => bail!(RequestError::NotFound(format!(
            "there is no memory file {named} that this caller reads; name the agent, the user, the team or the room that does"
        ))),
    }
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
