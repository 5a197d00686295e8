//! Memory files as resources: listed, read, and watched.
//!
//! A resource is named `daybook:///projects/tidepool/memory/MEMORY.md`. Only files of scopes that apply to the caller are
//! listed and read, as by the tool `show`.
//!
//! A subscription is a look at the file every second while there is one: other programs write these files, too. Clients of
//! the protocol's newest version keep a request open for it ([`listen`]); older ones subscribe to each file.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail};
use daybook_engine::files::layout::folder;
use daybook_engine::files::named_file::{self, NamedFileError};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdatedNotificationParam, SubscriptionFilter,
};
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::call::McpCall;
use super::graph;
use super::memory::LazyMemory;
use crate::service::caller::{NamedCaller, check_file, reach_of, reached_scopes};
use crate::service::graph::graph_file;
use crate::service::scope_choice::open_folder;
use crate::wiring::Daybook;
use daybook_domain::Reach;
use daybook_engine::recall::interface_use::InterfaceUse;

/// What stands before the path of a file below the data folder.
const SCHEME: &str = "daybook:///";
/// The knowledge graph, as clients of the server `server-memory` name it.
const GRAPH: &str = "memory://knowledge-graph";
/// What is written in another form in a name.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');
const MARKDOWN: &str = "text/markdown";
/// Most resources in one answer.
const PAGE: usize = 100;
/// Most subscriptions of a client.
const SUBSCRIPTIONS: usize = 64;
/// How often subscribed files are looked at.
const LOOK: Duration = Duration::from_secs(1);

fn uri_of(path: &str) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path, ESCAPED))
}

/// The path of a file below the data folder.
fn path_of(uri: &str) -> Result<String> {
    let Some(path) = uri.strip_prefix(SCHEME) else {
        bail!(
            "{uri} is no memory file; `resources/list` names them, such as {SCHEME}projects/tidepool/memory/MEMORY.md"
        );
    };
    let path = percent_decode_str(path).decode_utf8();
    Ok(path.context("the name is not UTF-8")?.into_owned())
}

/// How any memory file is named.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{kind}}/{{scope}}/memory/{{+file}}"), "memory file")
        .with_description(
            "A file of a memory: kind is projects, users, agents, teams or rooms; file is such as MEMORY.md",
        )
        .with_mime_type(MARKDOWN)
}

async fn caller_reach(daybook: &Daybook) -> Result<Reach> {
    let caller = NamedCaller::default().held_in(&daybook.settings.venue);
    reach_of(daybook, Some(&caller)).await
}

/// The memory files after the one that `after` names, in the order of scopes and names.
pub(super) fn list(call: &McpCall<'_>, after: Option<&str>) -> Result<ListResourcesResult> {
    let after = after.map(path_of).transpose()?;
    let Some(daybook) = call.memory.existing()? else {
        return Ok(ListResourcesResult::default());
    };
    let mut paths = call.read(file_paths(&daybook))?;
    paths.retain(|path| after.as_ref().is_none_or(|after| path > after));
    let next = (paths.len() > PAGE).then(|| uri_of(&paths[PAGE - 1]));
    paths.truncate(PAGE);
    let mut listed = ListResourcesResult::with_all_items(
        paths
            .into_iter()
            .map(|path| Resource::new(uri_of(&path), path).with_mime_type(MARKDOWN))
            .collect(),
    );
    listed.next_cursor = next;
    Ok(listed)
}

/// The files of all scopes that apply, as paths below the data folder.
async fn file_paths(daybook: &Daybook) -> Result<Vec<String>> {
    let reach = caller_reach(daybook).await?;
    let mut paths = Vec::new();
    for scope in reached_scopes(daybook, &reach).await? {
        let memory = folder(&daybook.root, &scope);
        if !memory.join(".git").exists() {
            continue;
        }
        let below = memory.strip_prefix(&daybook.root)?.display().to_string();
        let files = open_folder(daybook, &scope).await?.head_files()?;
        paths.extend(files.into_keys().map(|file| format!("{below}/{file}")));
    }
    paths.sort();
    Ok(paths)
}

/// Reads a memory file that this caller reads.
pub(super) async fn memory_file(daybook: &Daybook, reach: &Reach, path: &str) -> Result<String> {
    daybook.check_out_shared_files().await?;
    let text = named_file::read(&daybook.root, path);
    if !matches!(text, Err(NamedFileError::NoMemoryFile(..))) {
        check_file(daybook, reach, path).await?;
    }
    text.context("give a path such as projects/tidepool/memory/MEMORY.md, as `recall` does")
}

/// The resource of the knowledge graph.
pub(super) fn graph_resource() -> Resource {
    Resource::new(GRAPH, "knowledge-graph")
        .with_title("Knowledge Graph")
        .with_description("All entities and relations")
        .with_mime_type("application/json")
}

/// The text of a resource.
pub(super) fn read(call: &McpCall<'_>, uri: &str) -> Result<ReadResourceResult> {
    if uri == GRAPH {
        let graph = serde_json::to_string_pretty(&graph::read(call)?)?;
        let contents = ResourceContents::text(graph, uri).with_mime_type("application/json");
        return Ok(ReadResourceResult::new(vec![contents]));
    }
    let path = path_of(uri)?;
    let Some(daybook) = call.memory.existing()? else {
        bail!("nothing is remembered yet, so there is no {path}");
    };
    let text = call.read(async {
        let reach = caller_reach(&daybook).await?;
        memory_file(&daybook, &reach, &path).await
    })?;
    call.record_shown(InterfaceUse::Text(text.clone()));
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// A file as it was when it was looked at; `None` where there is none.
type Seen = Option<(SystemTime, u64)>;

/// Looks at a file that is to be watched.
pub(super) fn seen(call: &McpCall<'_>, uri: &str) -> Result<Seen> {
    read(call, uri)?;
    Ok(look(call.memory, uri))
}

fn look(memory: &LazyMemory, uri: &str) -> Seen {
    let path = match uri {
        GRAPH => graph_file(&*memory.existing().ok()??),
        _ => memory.root().join(path_of(uri).ok()?),
    };
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// The files of a request that may be watched. Whether its caller reads them, [`readable`] decides.
pub(super) fn watchable(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let uris = uris.filter(|uri| *uri == GRAPH || path_of(uri).is_ok());
    let uris = uris.take(SUBSCRIPTIONS);
    SubscriptionFilter::builder()
        .resource_subscriptions(uris)
        .build()
}

/// Those of the files that this caller reads.
pub(super) fn readable(call: &McpCall<'_>, mut uris: Vec<String>) -> Result<Vec<String>> {
    uris.retain(|uri| read(call, uri).is_ok());
    Ok(uris)
}

/// Tells the client of changes until it ends the subscription.
pub(super) async fn listen(
    memory: &LazyMemory,
    uris: Vec<String>,
    subscription: &SubscriptionContext,
) {
    // The client knows that it is subscribed before the first look, which therefore reports every file: a change in between
    // would be lost.
    let mut files: BTreeMap<String, Seen> = uris.into_iter().map(|uri| (uri, None)).collect();
    let mut looks = looks();
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            _ = looks.tick() => {}
        }
        for uri in changed(memory, &mut files) {
            let told = subscription.sink().notify_resource_updated(uri).await;
            if told.is_err() {
                return;
            }
        }
    }
}

fn looks() -> Interval {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    looks
}

/// The files that changed since the last look.
fn changed(memory: &LazyMemory, files: &mut BTreeMap<String, Seen>) -> Vec<String> {
    let mut changed = Vec::new();
    for (uri, seen) in files {
        let now = look(memory, uri);
        if *seen != now {
            *seen = now;
            changed.push(uri.clone());
        }
    }
    changed
}

/// The files that a client watches.
pub(super) struct Subscriptions {
    memory: Arc<LazyMemory>,
    watched: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    files: BTreeMap<String, Seen>,
    /// Whether a task looks at them.
    is_watching: bool,
}

impl Subscriptions {
    pub(super) fn new(memory: Arc<LazyMemory>) -> Self {
        Self {
            memory,
            watched: Mutex::default(),
        }
    }

    fn watched(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches a file from now on, and tells `peer` when it changes.
    pub(super) fn add(
        self: &Arc<Self>,
        uri: String,
        seen: Seen,
        peer: Peer<RoleServer>,
    ) -> Result<()> {
        let mut watched = self.watched();
        if watched.files.len() >= SUBSCRIPTIONS && !watched.files.contains_key(&uri) {
            bail!("{SUBSCRIPTIONS} memory files are watched already; unsubscribe from one");
        }
        watched.files.insert(uri, seen);
        if !std::mem::replace(&mut watched.is_watching, true) {
            tokio::spawn(Arc::clone(self).watch(peer));
        }
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        self.watched().files.remove(uri);
    }

    /// Looks at the files until none is watched, or the client is gone.
    async fn watch(self: Arc<Self>, peer: Peer<RoleServer>) {
        let mut looks = looks();
        loop {
            looks.tick().await;
            if peer.is_transport_closed() {
                return;
            }
            let Some(changed) = self.changed() else {
                return;
            };
            for uri in changed {
                let param = ResourceUpdatedNotificationParam::new(uri);
                if peer.notify_resource_updated(param).await.is_err() {
                    return;
                }
            }
        }
    }

    /// The files that changed since the last look; `None` when none is watched any more.
    fn changed(&self) -> Option<Vec<String>> {
        let mut watched = self.watched();
        if watched.files.is_empty() {
            watched.is_watching = false;
            return None;
        }
        Some(changed(&self.memory, &mut watched.files))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_the_file_that_it_was_made_of() {
        for path in [
            "projects/tidepool/memory/MEMORY.md",
            "users/ada/memory/notes/what is 100 % über?.md",
            "rooms/#pier%3A/memory/a|b.md",
        ] {
            assert_eq!(path_of(&uri_of(path)).unwrap(), path);
        }
        assert!(path_of("file:///etc/passwd").is_err());
        assert!(path_of("daybook:///%ff").is_err());
    }
}
