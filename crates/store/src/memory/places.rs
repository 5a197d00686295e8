//! Places, and the projects that they belong to.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    DueMark, JobKey, ObservationId, Place, Priority, Project, RemoteCount, RemoteEvidence,
    RemoteSource, RootRecord, Scope, ScopeKind, SessionId, Tenant, Timestamp,
};

use super::{MemorySessionRow, MemoryState, RemoteRow, RootRow};
use crate::bounds::STEP_ROWS;
use crate::evidence::TouchedObservations;

impl MemoryState {
    pub(super) fn project_of_root(&self, tenant: &Tenant, root: &str) -> Option<String> {
        let key = (tenant.clone(), root.to_owned());
        self.roots.get(&key)?.project.clone()
    }

    /// The scope of the project that a root belongs to.
    pub(super) fn scope_of_root(&self, tenant: &Tenant, root: &str) -> Option<Scope> {
        self.project_of_root(tenant, root).map(|name| Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::Project,
            name,
        })
    }

    pub(super) fn places(&self, tenant: &Tenant) -> Vec<(Place, Option<String>)> {
        let rows = self.sessions.values();
        let own = rows.filter(|row| &row.session.id.tenant == tenant);
        let events = own.flat_map(|row| row.events.values());
        let places: BTreeSet<&Place> = events.filter_map(|event| event.place.as_ref()).collect();
        let with_project =
            |place: &Place| (place.clone(), self.project_of_root(tenant, &place.root));
        places.into_iter().map(with_project).collect()
    }

    /// Folders in which events happened, with what is stored of their identity.
    pub(super) fn root_records(&self, tenant: &Tenant) -> Vec<RootRecord> {
        let mut records: BTreeMap<String, RootRecord> = BTreeMap::new();
        let rows = self.sessions.values();
        for row in rows.filter(|row| &row.session.id.tenant == tenant) {
            let places = row.events.values().filter_map(|event| event.place.as_ref());
            let roots: BTreeSet<&String> = places.map(|place| &place.root).collect();
            for root in roots {
                let record = records
                    .entry(root.clone())
                    .or_insert_with(|| self.root_record(tenant, root));
                let began = [record.first_at, row.session.first_at].into_iter();
                let dated = began.filter(|at| *at != Timestamp::ZERO);
                record.first_at = dated.min().unwrap_or(Timestamp::ZERO);
            }
        }
        records.into_values().collect()
    }

    fn root_record(&self, tenant: &Tenant, root: &str) -> RootRecord {
        let mut sessions: BTreeMap<(RemoteSource, String), BTreeSet<&SessionId>> = BTreeMap::new();
        let own = |row: &&RemoteRow| &row.session.tenant == tenant && row.root == root;
        for row in self.remotes.iter().filter(own) {
            let key = (row.source, row.remote.clone());
            sessions.entry(key).or_default().insert(&row.session);
        }
        let key = (tenant.clone(), root.to_owned());
        let row = self.roots.get(&key).cloned().unwrap_or_default();
        let counts = sessions
            .into_iter()
            .map(|((source, remote), sessions)| RemoteCount {
                source,
                remote,
                sessions: sessions.len() as u64,
            });
        RootRecord {
            root: root.to_owned(),
            project: row.project,
            derived: row.derived,
            first_at: Timestamp::ZERO,
            remotes: counts.collect(),
        }
    }

    /// Stores evidence of remotes, with the events of a session that it comes from.
    pub(super) fn note_remotes(&mut self, row: &MemorySessionRow, remotes: &[RemoteEvidence]) {
        for evidence in remotes {
            let seq = match evidence.event {
                Some(id) => row.ids.get(&id).copied(),
                None => Some(row.session.events).filter(|seq| seq.0 > 0),
            };
            self.remotes.extend(seq.map(|seq| RemoteRow {
                session: row.session.id.clone(),
                seq,
                root: evidence.root.clone(),
                remote: evidence.remote.clone(),
                source: evidence.source,
            }));
        }
    }

    /// Raises scopes, each once, with the inputs of their consolidations.
    pub(super) fn raise(&mut self, scopes: BTreeSet<Scope>, now: Timestamp) {
        for scope in scopes {
            self.raise_one(&scope, now);
        }
    }

    pub(super) fn raise_one(&mut self, scope: &Scope, now: Timestamp) -> u64 {
        let revision = self.scopes.entry(scope.clone()).or_default();
        *revision += 1;
        let revision = *revision;
        let mark = DueMark::at_once(revision, now, Priority::Normal);
        self.mark(&JobKey::Consolidate(scope.clone()), mark);
        revision
    }

    pub(super) fn assign_root(
        &mut self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        derived: bool,
        now: Timestamp,
    ) {
        let before = self.project_of_root(tenant, root);
        let identity = (tenant.clone(), project.identity.clone());
        self.projects.insert(identity, project.clone());
        let key = (tenant.clone(), root.to_owned());
        let row = RootRow {
            project: Some(project.key.clone()),
            derived,
        };
        self.roots.insert(key, row);
        let mut concerned = BTreeSet::new();
        if before.as_ref() != Some(&project.key) && self.is_place(tenant, root) {
            for name in before.iter().chain([&project.key]) {
                concerned.insert(Scope {
                    tenant: tenant.clone(),
                    kind: ScopeKind::Project,
                    name: name.clone(),
                });
            }
        }
        loop {
            self.move_retractions(tenant, root, project);
            let moved = self.move_evidence(tenant, root, project, &mut concerned);
            self.raise(std::mem::take(&mut concerned), now);
            if moved < STEP_ROWS {
                break;
            }
        }
    }

    /// Whether events of a tenant happened under a root.
    pub(super) fn is_place(&self, tenant: &Tenant, root: &str) -> bool {
        self.places(tenant)
            .iter()
            .any(|(place, _)| place.root == root)
    }

    /// Moves the evidence under `root` from other projects to this one, at most a step of rows.
    fn move_evidence(
        &mut self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        concerned: &mut BTreeSet<Scope>,
    ) -> usize {
        let misplaced_evidence: BTreeMap<i64, Scope> = self
            .evidence
            .iter()
            .filter(|(_, row)| row.piece.evidence.root.as_deref() == Some(root))
            .map(|(&no, row)| (no, self.observations[&row.observation].scope.clone()))
            .filter(|(_, scope)| is_other_project(scope, tenant, project))
            .take(STEP_ROWS)
            .collect();
        let mut touched = TouchedObservations::default();
        for (no, from) in &misplaced_evidence {
            let to = Scope {
                name: project.key.clone(),
                ..from.clone()
            };
            self.move_piece(*no, &to, &mut touched);
        }
        concerned.extend(self.settle(&touched).scopes);
        misplaced_evidence.len()
    }

    /// Moves a root's retractions to its new project, so that they still apply there.
    fn move_retractions(&mut self, tenant: &Tenant, root: &str, project: &Project) {
        for ((scope, id, session, seq), what) in std::mem::take(&mut self.retractions) {
            let moves =
                what.root.as_deref() == Some(root) && is_other_project(&scope, tenant, project);
            let key = if moves {
                let to = Scope {
                    name: project.key.clone(),
                    ..scope
                };
                let id = ObservationId::of(&to, what.kind, &what.text);
                (to, id, session, seq)
            } else {
                (scope, id, session, seq)
            };
            self.retractions.insert(key, what);
        }
    }
}

fn is_other_project(scope: &Scope, tenant: &Tenant, project: &Project) -> bool {
    &scope.tenant == tenant && scope.kind == ScopeKind::Project && scope.name != project.key
}
