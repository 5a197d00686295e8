//! A cache of roots that belong to a project, so that appends need not look them up again.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use daybook_domain::Tenant;

/// Most roots in the cache; when it is full it is emptied, and roots are looked up again.
const MAX_ROOTS: usize = 4_096;

/// Roots known to belong to a project.
#[derive(Default)]
pub(crate) struct SettledRoots(Mutex<HashSet<(Tenant, String)>>);

impl SettledRoots {
    pub(crate) fn contains(&self, tenant: &Tenant, root: &str) -> bool {
        let roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        roots.contains(&(tenant.clone(), root.to_owned()))
    }

    pub(crate) fn insert(&self, tenant: &Tenant, root: &str) {
        let mut roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if roots.len() >= MAX_ROOTS {
            roots.clear();
        }
        roots.insert((tenant.clone(), root.to_owned()));
    }
}
