//! Whose memory something belongs in: the narrowest scope in which it is true.
//!
//! What was said while working in a project is filed under the project; what the person said to
//! hold everywhere, and what was said in no project, under the person.

use std::collections::BTreeMap;

use daybook_domain::seams::Store;
use daybook_domain::{
    Event, EventSeq, Evidence, Observation, ObservationId, Scope, ScopeKind, Session, StoreError,
    Tenant,
};

use crate::extract::Draft;
use crate::recall::tokens::outlined_text;

/// Which project each folder of a tenant belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Projects(BTreeMap<String, String>);

impl Projects {
    /// As the store says by now.
    pub(crate) async fn of(store: &dyn Store, tenant: &Tenant) -> Result<Self, StoreError> {
        let places = store.places(tenant).await?.into_iter();
        Ok(Self::new(
            places.filter_map(|(place, key)| Some((place.root, key?))),
        ))
    }

    /// From pairs of folder and project key.
    pub(crate) fn new(roots: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(roots.into_iter().collect())
    }

    /// The scope of the project that `root` belongs to.
    pub(crate) fn scope(&self, tenant: &Tenant, root: &str) -> Option<Scope> {
        let name = self.0.get(root)?.clone();
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

/// The draft as an observation in its scope.
pub(crate) fn file(
    draft: Draft,
    session: &Session,
    window: &[Event],
    projects: &Projects,
    person: &str,
) -> Observation {
    let place = draft.events.first().and_then(|seq| place_of(window, *seq));
    let project = place.and_then(|place| projects.scope(&session.id.tenant, &place.root));
    let scope = project
        .filter(|_| !draft.general)
        .unwrap_or_else(|| person_scope(&session.id.tenant, person));
    let said = [
        Some(draft.text.as_str()),
        draft.context.as_deref(),
        draft.subject.as_deref(),
    ];
    let tokens = outlined_text(&said.into_iter().flatten().collect::<Vec<_>>().join(" "));
    // A value alone says nothing: what it is of is part of what is said.
    let whole = draft.subject.as_deref().map_or_else(
        || draft.text.clone(),
        |subject| format!("{subject}: {}", draft.text),
    );
    Observation {
        id: ObservationId::of(&scope, draft.kind, &whole),
        scope,
        kind: draft.kind,
        text: draft.text,
        context: draft.context,
        subject: draft.subject,
        stated: draft.stated,
        quoted: draft.quoted,
        evidence: vec![Evidence {
            session: session.id.clone(),
            label: session.label.clone(),
            events: draft.events,
            lines: draft.lines,
            at: draft.at,
            branch: place.and_then(|place| place.branch.clone()),
            root: place.map(|place| place.root.clone()),
        }],
        tokens,
    }
}

fn place_of(window: &[Event], seq: EventSeq) -> Option<&daybook_domain::Place> {
    let at = window.partition_point(|event| event.seq < seq);
    window
        .get(at)
        .filter(|event| event.seq == seq)?
        .place
        .as_ref()
}
