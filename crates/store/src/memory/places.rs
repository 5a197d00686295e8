//! Places, and the projects that they belong to.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    JobKey, Mark, ObservationId, Place, Priority, Project, Scope, ScopeKind, Tenant, Timestamp,
};

use super::State;
use super::evidence_rows::Touched;
use crate::bounds::STEP_ROWS;

impl State {
    pub(super) fn project_of_root(&self, tenant: &Tenant, root: &str) -> Option<String> {
        let key = (tenant.clone(), root.to_owned());
        self.roots.get(&key).cloned().flatten()
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
        let mark = Mark::at_once(revision, now, Priority::Normal);
        self.mark(&JobKey::Consolidate(scope.clone()), mark);
        revision
    }

    pub(super) fn assign_root(
        &mut self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) {
        let before = self.project_of_root(tenant, root);
        let identity = (tenant.clone(), project.identity.clone());
        self.projects.insert(identity, project.clone());
        let key = (tenant.clone(), root.to_owned());
        self.roots.insert(key, Some(project.key.clone()));
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
    fn is_place(&self, tenant: &Tenant, root: &str) -> bool {
        self.places(tenant)
            .iter()
            .any(|(place, _)| place.root == root)
    }

    /// Files what was observed under `root` in other projects under this one, a step at a time.
    fn move_evidence(
        &mut self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        concerned: &mut BTreeSet<Scope>,
    ) -> usize {
        let misplaced: BTreeMap<i64, Scope> = self
            .evidence
            .iter()
            .filter(|(_, row)| row.piece.evidence.root.as_deref() == Some(root))
            .map(|(&no, row)| (no, self.observations[&row.observation].scope.clone()))
            .filter(|(_, scope)| is_other_project(scope, tenant, project))
            .take(STEP_ROWS)
            .collect();
        let mut touched = Touched::default();
        for (no, from) in &misplaced {
            let to = Scope {
                name: project.key.clone(),
                ..from.clone()
            };
            self.move_piece(*no, &to, &mut touched);
        }
        concerned.extend(self.settle(&touched).scopes);
        misplaced.len()
    }

    /// What a person took back stays taken back under the new name.
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
