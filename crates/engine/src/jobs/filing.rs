//! Chooses the scope of a draft: the narrowest scope in which it is true.
//!
//! - A draft from a room or a team is filed there: those who take part may read it, and no others.
//! - A draft from work in a project is filed under the project.
//! - A rule for a named agent is filed under the agent, if it comes from outside of these, or holds everywhere.
//! - Any other draft that the person stated to hold everywhere, or that has no project, is filed under the person.
//!
//! A scope that the caller named comes before all of them.

use std::collections::BTreeMap;

use daybook_domain::seams::PlaceStore;
use daybook_domain::{
    Event, EventSeq, Evidence, Observation, ObservationId, ObservationKind, Origin, PollutionRule,
    Scope, ScopeKind, Session, StoreError, Tenant,
};

use super::agent_rules::{is_agent_rule, is_named_agent};
use crate::extract::ObservationDraft;
use crate::extract::draft_origin::origin_of_draft;
use daybook_text::tokens::outlined_text;

/// The project of each folder of a tenant.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderProjects(BTreeMap<String, String>);

impl FolderProjects {
    /// Loads the present assignments from the store.
    pub(crate) async fn of(store: &dyn PlaceStore, tenant: &Tenant) -> Result<Self, StoreError> {
        let places = store.places(tenant).await?.into_iter();
        Ok(Self::new(
            places.filter_map(|(place, key)| Some((place.root, key?))),
        ))
    }

    /// Creates assignments from pairs of folder and project key.
    pub(crate) fn new(roots: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(roots.into_iter().collect())
    }

    /// The key of the project that `root` belongs to.
    pub(crate) fn key(&self, root: &str) -> Option<String> {
        self.0.get(root).cloned()
    }

    /// The scope of the project that `root` belongs to.
    pub(crate) fn scope(&self, tenant: &Tenant, root: &str) -> Option<Scope> {
        let name = self.key(root)?;
        Some(Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::Project,
            name,
        })
    }
}

/// The person's own scope.
pub(crate) fn person_scope(tenant: &Tenant, person: &str) -> Scope {
    Scope {
        tenant: tenant.clone(),
        kind: ScopeKind::User,
        name: person.to_owned(),
    }
}

/// Turns a draft into an observation in its scope.
pub(crate) fn file_draft(
    draft: ObservationDraft,
    session: &Session,
    window: &[Event],
    projects: &FolderProjects,
    (person, rule): (&str, &PollutionRule),
) -> Observation {
    let origin = origin_of_draft(&draft, window, rule);
    let place = draft.events.first().and_then(|seq| place_of(window, *seq));
    let project = place.and_then(|place| projects.scope(&session.id.tenant, &place.root));
    let scope = narrowest_scope(&draft, session, window, project)
        .unwrap_or_else(|| person_scope(&session.id.tenant, person));
    // A folder's project takes evidence along when it changes; what the caller filed elsewhere stays.
    let follows_folder = session.venue.filed_in.is_none();
    let said = [
        Some(draft.text.as_str()),
        draft.context.as_deref(),
        draft.subject.as_deref(),
    ];
    let tokens = outlined_text(&said.into_iter().flatten().collect::<Vec<_>>().join(" "));
    let subject = draft.subject.as_deref();
    Observation {
        id: observation_id(&scope, draft.kind, (&draft.text, subject)),
        scope,
        kind: draft.kind,
        text: draft.text,
        context: draft.context,
        subject: draft.subject,
        stated: draft.stated,
        origin,
        quoted: draft.quoted,
        evidence: vec![Evidence {
            session: session.id.clone(),
            label: session.label.clone(),
            events: draft.events,
            lines: draft.lines,
            at: draft.at,
            branch: place.and_then(|place| place.branch.clone()),
            root: place
                .filter(|_| follows_folder)
                .map(|place| place.root.clone()),
        }],
        tokens,
    }
}

/// The narrowest scope in which a draft is true; `None` for the person's. `project` is that of its place.
fn narrowest_scope(
    draft: &ObservationDraft,
    session: &Session,
    window: &[Event],
    project: Option<Scope>,
) -> Option<Scope> {
    let tenant = &session.id.tenant;
    if let Some(named) = session.venue.named_scope(tenant) {
        return Some(named);
    }
    let narrow = session.venue.shared_scope(tenant).or(project);
    if let Some(narrow) = narrow.clone().filter(|_| !draft.general) {
        return Some(narrow);
    }
    let of_agent = agent_scope(session).filter(|agent| {
        let said = draft.events.iter().filter_map(|seq| event_at(window, *seq));
        let said = said.filter(|event| event.origin == Origin::Human);
        let said: Vec<&str> = said.map(|event| event.text.as_str()).collect();
        draft.stated && is_agent_rule(&agent.name, draft, &said)
    });
    // Words of a room stay there, however general they are, unless they are a rule for the agent that hears them.
    of_agent.or_else(|| narrow.filter(|scope| scope.kind != ScopeKind::Project))
}

/// The scope of a session's agent; `None` for one that is no agent by name, but the host of coding sessions, or the reader
/// of a file.
pub(crate) fn agent_scope(session: &Session) -> Option<Scope> {
    let name = &session.id.agent;
    is_named_agent(name).then(|| Scope {
        tenant: session.id.tenant.clone(),
        kind: ScopeKind::Agent,
        name: name.clone(),
    })
}

/// The identity of an observation in a scope. A value alone is ambiguous: its subject is part of its identity.
pub(super) fn observation_id(
    scope: &Scope,
    kind: ObservationKind,
    (text, subject): (&str, Option<&str>),
) -> ObservationId {
    match subject {
        Some(subject) => ObservationId::of(scope, kind, &format!("{subject}: {text}")),
        None => ObservationId::of(scope, kind, text),
    }
}

fn place_of(window: &[Event], seq: EventSeq) -> Option<&daybook_domain::Place> {
    event_at(window, seq)?.place.as_ref()
}

fn event_at(window: &[Event], seq: EventSeq) -> Option<&Event> {
    let at = window.partition_point(|event| event.seq < seq);
    window.get(at).filter(|event| event.seq == seq)
}

#[cfg(test)]
#[path = "filing_tests.rs"]
mod tests;
