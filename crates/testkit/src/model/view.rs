//! All that can be seen of a store, to be compared at once.

use daybook_domain::index::{Document, Filter, Step};
use daybook_domain::seams::{ScopeState, Store};
use daybook_domain::source::{Import, Source};
use daybook_domain::{
    Event, EventSeq, ExtractionRecord, Gap, Job, JobKind, Observation, Origin, Place, Project,
    Scope, Session, SessionId, StoreError, Tally, Tenant, Timestamp,
};

use super::cast;
use crate::fixtures::{candidates, project_scope, session, user_scope};

/// All that can be seen.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    missing_docs,
    reason = "each field holds the answer of the question that it is named for"
)]
pub struct View {
    pub sessions: Vec<Session>,
    pub logs: Vec<Vec<Event>>,
    pub sources: Vec<Source>,
    pub imports: Vec<Import>,
    pub places: Vec<(Place, Option<String>)>,
    pub projects: Vec<Project>,
    pub jobs: Vec<Job>,
    pub tallies: Vec<Tally>,
    pub due: Vec<Option<Timestamp>>,
    pub holders: Vec<String>,
    pub gaps: Vec<Gap>,
    pub scopes: Vec<ScopeState>,
    pub observations: Vec<Vec<Observation>>,
    pub extractions: Vec<ExtractionRecord>,
    pub of_project: Vec<ExtractionRecord>,
    pub stamps: Vec<Vec<(String, String)>>,
    pub documents: u64,
    pub frequencies: Vec<u64>,
    pub found: Vec<Vec<String>>,
    pub waiting: Vec<String>,
    pub near: Vec<Vec<String>>,
}

/// The sessions that operations name, of two agents.
#[must_use]
pub fn sessions() -> [SessionId; 3] {
    sessions_of(&Tenant::local())
}

/// The same of any tenant.
#[must_use]
pub fn sessions_of(tenant: &Tenant) -> [SessionId; 3] {
    let mut sessions = ["aaaa-one", "aaaa-two", "bb"].map(session);
    sessions[2].agent = "codex".to_owned();
    sessions.map(|id| SessionId {
        tenant: tenant.clone(),
        ..id
    })
}

/// The scopes that operations name; the first two are projects.
#[must_use]
pub fn scopes() -> [Scope; 3] {
    scopes_of(&Tenant::local())
}

/// The same of any tenant.
#[must_use]
pub fn scopes_of(tenant: &Tenant) -> [Scope; 3] {
    [
        project_scope("left"),
        project_scope("right"),
        user_scope("ada"),
    ]
    .map(|scope| Scope {
        tenant: tenant.clone(),
        ..scope
    })
}

/// The words whose frequencies are compared.
#[must_use]
pub fn vocabulary() -> Vec<String> {
    ["t0", "t1", "s0", "s2", "e3", "e7", "said", "never"]
        .map(str::to_owned)
        .to_vec()
}

/// The searches whose answers are compared, each by its words and what it may see.
#[must_use]
pub fn searches(tenant: &Tenant) -> Vec<(Vec<String>, Filter)> {
    let open = Filter::default();
    let scoped = |scopes: Vec<Scope>| Filter {
        scopes: Some(scopes),
        ..Filter::default()
    };
    let human = Filter {
        origins: vec![Origin::Human],
        ..Filter::default()
    };
    let [left, right, ada] = scopes_of(tenant);
    [
        ("t0", open.clone()),
        ("t1 s0", open.clone()),
        ("said", open),
        ("t0", scoped(vec![left.clone()])),
        ("t1", scoped(vec![right, ada.clone()])),
        ("said", scoped(vec![left, ada])),
        ("t0", human),
    ]
    .map(|(words, filter)| (words.split(' ').map(str::to_owned).collect(), filter))
    .to_vec()
}

/// What searches among vectors may see.
#[must_use]
pub fn filters(tenant: &Tenant) -> Vec<Filter> {
    let searches = searches(tenant).into_iter().rev();
    searches.map(|(_, filter)| filter).take(4).collect()
}

/// A text that waits for vectors.
pub(crate) fn shown(text: &str, context: Option<String>) -> String {
    format!("{text} ({})", context.unwrap_or_default())
}

/// Asks a store for everything that a tenant can see. Jobs and gaps are the tenant's; tallies, due times
/// and holders are those of all tenants.
///
/// # Errors
/// What the store answers.
pub async fn of(store: &dyn Store, tenant: &Tenant) -> Result<View, StoreError> {
    let mut view = View {
        sessions: store.sessions(tenant, 100).await?,
        logs: Vec::new(),
        sources: store.sources(tenant).await?,
        imports: store.imports(tenant, 100).await?,
        places: store.places(tenant).await?,
        projects: store.projects(tenant).await?,
        jobs: Vec::new(),
        tallies: store.tallies().await?,
        due: Vec::new(),
        holders: store.holders().await?,
        gaps: store.gaps().await?,
        scopes: store.scopes(tenant).await?,
        observations: Vec::new(),
        extractions: store.extractions(tenant, None).await?,
        of_project: store.extractions(tenant, Some("left")).await?,
        stamps: Vec::new(),
        documents: 0,
        frequencies: Vec::new(),
        found: Vec::new(),
        waiting: Vec::new(),
        near: Vec::new(),
    };
    for id in sessions_of(tenant) {
        let log = store.events(&id, EventSeq(0), EventSeq(u64::MAX), 1000, usize::MAX);
        view.logs.push(log.await?);
    }
    for kind in JobKind::ALL {
        view.jobs.extend(store.jobs(kind).await?);
        view.due.push(store.next_due(kind).await?);
    }
    for scope in scopes_of(tenant) {
        view.observations.push(store.observations(&scope).await?);
        view.stamps.push(store.file_stamps(&scope).await?);
    }
    let stats = store.term_stats(tenant, &vocabulary()).await?;
    view.documents = stats.documents;
    view.frequencies = stats.frequencies;
    for (all_of, filter) in searches(tenant) {
        let steps = [Step {
            all_of,
            limit: 1000,
        }];
        let found = candidates(store, tenant, &steps, &filter).await?;
        view.found.push(described(&found));
    }
    let waiting = store.unembedded(tenant, 1000).await?.into_iter();
    view.waiting = waiting.map(|one| shown(&one.text, one.context)).collect();
    view.waiting.sort();
    for filter in filters(tenant) {
        let asked = (cast::model(0), &cast::signs("")[..]);
        let near = store.nearest(tenant, asked, &filter, 1000).await?;
        view.near
            .push(described(&store.documents(tenant, &near).await?));
    }
    view.jobs.retain(|job| job.key.tenant() == tenant);
    view.gaps.retain(|gap| gap.job.tenant() == tenant);
    Ok(view)
}

/// Documents in an order of their own: the order of a search is another promise.
#[must_use]
pub fn described(documents: &[Document]) -> Vec<String> {
    let mut described: Vec<String> = documents.iter().map(|d| format!("{d:?}")).collect();
    described.sort();
    described
}
