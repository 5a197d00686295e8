//! Everything that can be read from a store, as one value that can be compared.

use daybook_domain::index::{CandidateQuery, IndexedDocument, SearchFilter};
use daybook_domain::page::read_all;
use daybook_domain::seams::{ScopeState, Store};
use daybook_domain::source::{ImportRun, TranscriptSource};
use daybook_domain::{
    Event, EventSeq, ExtractionRecord, Gap, Job, JobKind, Observation, ObservationKind, Origin,
    PageRequest, Place, Project, Scope, ScopeKind, Session, SessionId, StoreError, Tally, Tenant,
    Timestamp,
};
use strum::VariantArray;

use super::subjects::{scopes_of, sessions_of};
use super::values;
use crate::fixtures::candidates;

/// Everything that a tenant can read from a store.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    missing_docs,
    reason = "each field holds the answer of the question that it is named for"
)]
pub struct View {
    pub sessions: Vec<Session>,
    pub logs: Vec<Vec<Event>>,
    pub sources: Vec<TranscriptSource>,
    pub imports: Vec<ImportRun>,
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
    pub without_root: Vec<ExtractionRecord>,
    pub preferences: Vec<Observation>,
    pub stamps: Vec<Vec<(String, String)>>,
    pub documents: u64,
    pub frequencies: Vec<u64>,
    pub found: Vec<Vec<String>>,
    pub waiting: Vec<String>,
    pub near: Vec<Vec<String>>,
}

/// The kinds of observations that are listed over all projects.
const PERSONAL: [ObservationKind; 2] = [ObservationKind::Correction, ObservationKind::Preference];

/// The sessions that operations name, of two agents.
#[must_use]
pub fn sessions() -> [SessionId; 3] {
    sessions_of(&Tenant::local())
}

/// The scopes that operations name; the first two are projects.
#[must_use]
pub fn scopes() -> [Scope; 3] {
    scopes_of(&Tenant::local())
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
pub fn searches(tenant: &Tenant) -> Vec<(Vec<String>, SearchFilter)> {
    let open = SearchFilter::default();
    let scoped = |scopes: Vec<Scope>| SearchFilter {
        scopes: Some(scopes),
        ..SearchFilter::default()
    };
    let human = SearchFilter {
        origins: vec![Origin::Human],
        ..SearchFilter::default()
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
pub fn filters(tenant: &Tenant) -> Vec<SearchFilter> {
    let searches = searches(tenant).into_iter().rev();
    searches.map(|(_, filter)| filter).take(4).collect()
}

/// Renders a text that waits for vectors, with its context.
pub(crate) fn text_with_context(text: &str, context: Option<String>) -> String {
    format!("{text} ({})", context.unwrap_or_default())
}

/// Reads everything that a tenant can see from a store. Jobs and gaps are the tenant's; tallies, due times
/// and holders are those of all tenants.
///
/// # Errors
/// When a call of the store fails.
pub async fn of(store: &dyn Store, tenant: &Tenant) -> Result<View, StoreError> {
    let mut view = View {
        sessions: read_all(|page| store.sessions(tenant, page)).await?,
        logs: Vec::new(),
        sources: read_all(|page| store.sources(tenant, page)).await?,
        imports: store.imports(tenant, PageRequest::first(100)).await?.items,
        places: store.places(tenant).await?,
        projects: read_all(|page| store.projects(tenant, page)).await?,
        jobs: Vec::new(),
        tallies: store.tallies().await?,
        due: Vec::new(),
        holders: store.holders().await?,
        gaps: store.gaps_of_all_tenants().await?,
        scopes: read_all(|page| store.scopes(tenant, page)).await?,
        observations: Vec::new(),
        extractions: Vec::new(),
        of_project: store.extractions_in_project(tenant, "left").await?,
        without_root: store.extractions_without_root(tenant).await?,
        preferences: store
            .observations_of_kinds(tenant, ScopeKind::Project, &PERSONAL)
            .await?,
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
        view.extractions.extend(store.extractions_of(&id).await?);
    }
    for &kind in JobKind::VARIANTS {
        view.jobs.extend(store.jobs_of_all_tenants(kind).await?);
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
        let steps = [CandidateQuery {
            all_of,
            limit: 1000,
        }];
        let found = candidates(store, tenant, &steps, &filter).await?;
        view.found.push(render_documents(&found));
    }
    let waiting = store.unembedded(tenant, 1000).await?.into_iter();
    view.waiting = waiting
        .map(|one| text_with_context(&one.text, one.context))
        .collect();
    view.waiting.sort();
    for filter in filters(tenant) {
        let asked = (values::model(0), &values::signs("")[..]);
        let near = store.nearest(tenant, asked, &filter, 1000).await?;
        view.near
            .push(render_documents(&store.documents(tenant, &near).await?));
    }
    view.jobs.retain(|job| job.key.tenant() == tenant);
    view.gaps.retain(|gap| gap.job.tenant() == tenant);
    Ok(view)
}

/// Renders documents in sorted order: the order of a search is another promise.
#[must_use]
pub fn render_documents(documents: &[IndexedDocument]) -> Vec<String> {
    let mut described: Vec<String> = documents.iter().map(|d| format!("{d:?}")).collect();
    described.sort();
    described
}
