//! What holds today of the entries that were taken over, and which memories came since.

use std::collections::{BTreeSet, HashMap};

use daybook_domain::page::read_all;
use daybook_domain::seams::SessionCatalog;
use daybook_domain::{
    EventSeq, ObservationId, Scope, ScopeKind, SessionId, SessionKind, Timestamp,
};

use super::file_of;
use crate::homes::{HomeKind, HomeOwner, NewMemory};
use crate::jobs::memories::{Memory, memories};
use crate::jobs::{WorkError, WorkerContext};

/// An event of a session.
type EventPlace = (SessionId, EventSeq);

/// All that is remembered, by the events that it rests on.
pub(super) struct HeldMemories {
    memories: Vec<Memory>,
    by_event: HashMap<EventPlace, usize>,
}

/// What holds of an entry today.
pub(super) enum HeldEntry<'a> {
    /// Its own words.
    Unchanged(ObservationId),
    /// Other words, which a person gave it.
    Reworded(ObservationId, &'a str),
    /// Nothing: a person forgot it.
    Gone,
}

impl HeldMemories {
    pub(super) async fn load(worker: &WorkerContext) -> Result<Self, WorkError> {
        let mut all = Vec::new();
        for state in read_all(|page| worker.store.scopes(&worker.tenant, page)).await? {
            all.extend(memories(worker.into(), &worker.root, &state.scope).await?);
        }
        let mut by_event = HashMap::new();
        for (nth, memory) in all.iter().enumerate() {
            for evidence in memory.observations.iter().flat_map(|one| &one.evidence) {
                for seq in &evidence.events {
                    by_event.insert((evidence.session.clone(), *seq), nth);
                }
            }
        }
        Ok(Self {
            memories: all,
            by_event,
        })
    }

    /// What holds of the entry whose event this is.
    pub(super) fn of_event(&self, place: &EventPlace) -> HeldEntry<'_> {
        let memory = self.by_event.get(place).map(|nth| &self.memories[*nth]);
        let Some((memory, first)) = memory.and_then(|one| Some((one, one.observation()?))) else {
            return HeldEntry::Gone;
        };
        match memory.words == first.text {
            true => HeldEntry::Unchanged(first.id),
            false => HeldEntry::Reworded(first.id, &memory.words),
        }
    }

    /// Memories whose first observation is not in `covered`, as a home of `kind` may take them, and how many it may not.
    pub(super) fn rest(
        &self,
        kind: HomeKind,
        person: &str,
        covered: &BTreeSet<ObservationId>,
    ) -> (Vec<NewMemory>, u64) {
        let (mut new, mut left) = (Vec::new(), 0);
        let mut shown = BTreeSet::new();
        for memory in &self.memories {
            let Some(first) = memory.observation() else {
                continue;
            };
            if memory
                .observations
                .iter()
                .any(|one| covered.contains(&one.id))
            {
                continue;
            }
            let Some(owner) = owner_in(kind, &memory.scope, person) else {
                left += 1;
                continue;
            };
            // A memory of several projects is shown as the person's, too.
            if shown.insert((owner.clone(), memory.words.clone())) {
                new.push(NewMemory {
                    at: at(memory),
                    owner,
                    words: memory.words.clone(),
                    context: first.context.clone(),
                    id: first.id.0,
                });
            }
        }
        (new, left)
    }
}

fn at(memory: &Memory) -> Timestamp {
    let times = memory.observations.iter().map(|one| one.first_at());
    times.min().unwrap_or(Timestamp::ZERO)
}

/// Whose a memory is in a home; `None` where its system keeps no such memory.
fn owner_in(kind: HomeKind, scope: &Scope, person: &str) -> Option<HomeOwner> {
    let name = scope.name.clone();
    let is_persons = scope.kind == ScopeKind::User && scope.name == person;
    match (kind, scope.kind) {
        (HomeKind::Daycare, ScopeKind::Project) => Some(HomeOwner::User(person.to_owned())),
        (HomeKind::Daycare, ScopeKind::User) => Some(HomeOwner::User(name)),
        (HomeKind::Codex | HomeKind::Mindroom, ScopeKind::Project) => Some(HomeOwner::Person),
        (HomeKind::Codex | HomeKind::Mindroom, ScopeKind::User) if is_persons => {
            Some(HomeOwner::Person)
        }
        (HomeKind::Mindroom, ScopeKind::Agent) => Some(HomeOwner::Agent(name)),
        (HomeKind::Mindroom, ScopeKind::Team) => Some(HomeOwner::Team(name)),
        (HomeKind::Mindroom, ScopeKind::Room) => Some(HomeOwner::Room(name)),
        (
            HomeKind::Claude
            | HomeKind::ServerMemory
            | HomeKind::Mem0
            | HomeKind::BasicMemory
            | HomeKind::Obsidian,
            _,
        )
        | (HomeKind::Codex | HomeKind::Mindroom, ScopeKind::User)
        | (
            HomeKind::Codex | HomeKind::Daycare,
            ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room,
        ) => None,
    }
}

/// The homes of a kind that were taken over, by the sessions of their files.
pub(super) async fn homes_taken_over(
    worker: &WorkerContext,
    kind: HomeKind,
) -> Result<BTreeSet<String>, WorkError> {
    let sessions =
        read_all(|page| SessionCatalog::sessions(&*worker.store, &worker.tenant, page)).await?;
    let of_files = sessions
        .iter()
        .filter(|session| session.kind == SessionKind::MemoryAgent);
    let homes = of_files.filter_map(|session| Some(file_of(kind, &session.id)?.0.to_owned()));
    Ok(homes.collect())
}
