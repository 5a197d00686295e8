//! After reading: every folder that work was done in gets its project.

use std::collections::BTreeMap;
use std::path::Path;

use daybook_domain::seams::Store;
use daybook_domain::{StoreError, Tenant, Timestamp};

use super::checkout::checkout;
use super::projects::{RootFacts, assign};

/// Says which project each folder of a tenant belongs to. `shown` are the remotes that transcripts showed, by
/// folder. A folder that has a sure project keeps it; a guess gives way to what is known now.
///
/// # Errors
/// When the store fails.
pub async fn settle_projects(
    store: &dyn Store,
    tenant: &Tenant,
    shown: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let projects = store.projects(tenant).await?;
    let mut current: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (place, key) in store.places(tenant).await? {
        current.insert(place.root, key);
    }
    let is_sure = |key: &Option<String>| {
        let Some(key) = key else {
            return false;
        };
        projects.iter().any(|p| p.key == *key && !p.guessed)
    };
    let open: BTreeMap<String, RootFacts> = current
        .iter()
        .filter(|(_, key)| !is_sure(key))
        .map(|(root, _)| (root.clone(), facts(root, shown.get(root))))
        .collect();
    for (root, project) in assign(&open, &projects) {
        if current.get(&root).cloned().flatten().as_deref() != Some(project.key.as_str()) {
            store.assign_root(tenant, &root, &project, now).await?;
        }
    }
    Ok(())
}

fn facts(root: &str, shown: Option<&String>) -> RootFacts {
    let here = checkout(Path::new(root));
    RootFacts {
        remote: here
            .as_ref()
            .and_then(|here| here.remote.clone())
            .or_else(|| shown.cloned()),
        common_dir: here.map(|here| here.common_dir.to_string_lossy().into_owned()),
    }
}
