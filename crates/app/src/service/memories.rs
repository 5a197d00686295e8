//! What a scope remembers: listed, and found by a name.
//!
//! Not here: where it comes from (`line_origin`), changing it (`memory_changes`).

use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::citation::Citation;
use daybook_domain::{Evidence, Observation, ObservationKind, ObservationOrigin, Scope, Timestamp};
use daybook_engine::files::layout::{DAILY, folder};
use daybook_engine::files::log_marks::page_text;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::rollouts::is_rollout_file;
use daybook_engine::jobs::MemorySource;
use daybook_engine::jobs::memories::{
    FoundMemories, Memory, ShownLine, find, lines_of, main_line, memories, stated_in_rollout,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::agent_memory::{failed, server_of};
use super::history::{hidden, parse_file};
use super::scope_choice::ScopeChoice;
use super::{RequestError, agent_memory};
use crate::models::mem0_server::ServerMemory;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Most matches that a refusal names.
const MATCHES: usize = 10;

/// One thing that is remembered.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedMemory {
    /// Its id; the first digits are enough to name it.
    #[schema(example = "9f31ac2e5d1b4a77")]
    pub id: String,
    /// Whose memory it is in, such as `project/tidepool`.
    pub scope: String,
    /// What sort of thing: `correction`, `preference`, `fact`, `decision`, `value`, `fix`, `open_end` or `note`.
    pub kind: &'static str,
    /// What is remembered.
    pub text: String,
    /// What the value is of, for values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Whether a person stated it; otherwise it was concluded.
    pub stated: bool,
    /// Where it was learned from: `typed`, `pasted`, `concluded`, `tool`, `external` or `unknown`.
    pub learned_from: &'static str,
    /// How far it is trusted: `full`, `medium`, `low` or `untrusted`.
    pub trust: &'static str,
    /// The first citation of each session that it rests on, for `show`.
    pub citations: Vec<String>,
    /// When it was last stated, RFC 3339.
    #[schema(format = DateTime)]
    pub last_at: Option<String>,
    /// The lines that show it, as `MEMORY.md:12`; empty where there is no room for it.
    pub shown_in: Vec<String>,
    /// Whether a person pinned it.
    pub pinned: bool,
}

impl ListedMemory {
    pub(crate) fn of(memory: &Memory, observation: &Observation) -> Self {
        let merged = memory.observations.iter();
        let lines = memory.lines.iter();
        Self {
            id: observation.id.to_string(),
            scope: memory.scope.to_string(),
            kind: observation.kind.as_str(),
            text: hidden(&memory.words),
            subject: observation.subject.as_deref().map(hidden),
            stated: observation.stated,
            learned_from: observation.origin.as_str(),
            trust: observation.origin.trust().as_str(),
            citations: merged.flat_map(|one| &one.evidence).map(cite).collect(),
            last_at: rfc3339(last_at(memory)),
            shown_in: lines.map(place).collect(),
            pinned: memory.lines.iter().any(|line| line.is_pinned),
        }
    }
}

impl ListedMemory {
    /// A memory that a mem0 server keeps, which knows less about it.
    pub(crate) fn of_server(scope: &Scope, memory: &ServerMemory) -> Self {
        let origin = ObservationOrigin::Unknown;
        Self {
            id: memory.id.clone(),
            scope: scope.to_string(),
            kind: ObservationKind::Note.as_str(),
            text: hidden(&memory.text),
            subject: None,
            stated: false,
            learned_from: origin.as_str(),
            trust: origin.trust().as_str(),
            citations: Vec::new(),
            last_at: memory.updated_at.clone().or(memory.created_at.clone()),
            shown_in: Vec::new(),
            pinned: false,
        }
    }
}

fn last_at(memory: &Memory) -> Timestamp {
    let times = memory.observations.iter().map(Observation::last_at);
    times.max().unwrap_or_default()
}

/// `MEMORY.md:12`
pub(crate) fn place(line: &ShownLine) -> String {
    format!("{}:{}", line.file, line.line)
}

/// `7f78:L382,476`
fn cite(evidence: &Evidence) -> String {
    let lines = evidence.lines.iter().map(|line| (*line, *line)).collect();
    let session = evidence.label.clone();
    Citation { session, lines }.to_string()
}

/// What a list is limited to.
#[derive(Debug, Clone, Default)]
pub struct ListQuery {
    /// Only these kinds; empty for all.
    pub kinds: Vec<ObservationKind>,
    /// Only memories that contain all of these words.
    pub words: Option<String>,
    /// Most memories.
    pub limit: usize,
    /// The id after which the list goes on.
    pub after: Option<String>,
}

/// Some memories of a scope, and where the list goes on.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryList {
    /// Whose memory it is.
    pub scope: String,
    /// How many memories match in all.
    pub total: usize,
    /// Those of this page: what files show first, in their order.
    pub memories: Vec<ListedMemory>,
    /// The value of `after` for the next page; `null` on the last.
    pub next: Option<String>,
}

/// Parses the name of a kind.
pub(crate) fn parse_kind(name: &str) -> Result<ObservationKind> {
    let known = name.replace('-', "_").parse();
    known.map_err(|_| {
        let kinds = ObservationKind::ALL.map(ObservationKind::as_str);
        RequestError::Invalid(format!("a kind is one of: {}", kinds.join(", "))).into()
    })
}

/// Lists what a scope remembers.
pub(crate) async fn list(
    daybook: &Daybook,
    scope: &Scope,
    query: &ListQuery,
) -> Result<MemoryList> {
    let words: Vec<String> = query
        .words
        .iter()
        .flat_map(|words| words.split_whitespace())
        .map(str::to_lowercase)
        .collect();
    let mut listed = all_listed(daybook, scope).await?;
    listed.retain(|one| {
        let mut kinds = query.kinds.iter().map(|kind| kind.as_str());
        let is_wanted = query.kinds.is_empty() || kinds.any(|kind| kind == one.kind);
        let text = one.text.to_lowercase();
        is_wanted && words.iter().all(|word| text.contains(word.as_str()))
    });
    let total = listed.len();
    let from = match &query.after {
        None => 0,
        Some(after) => match listed.iter().position(|one| one.id == *after) {
            Some(place) => place + 1,
            None => bail!(RequestError::NotFound(format!(
                "no memory of {scope} has the id {after} any more; list from the beginning"
            ))),
        },
    };
    let page: Vec<ListedMemory> = listed.into_iter().skip(from).take(query.limit).collect();
    let is_last = from + page.len() >= total;
    let next = page.last().filter(|_| !is_last).map(|one| one.id.clone());
    Ok(MemoryList {
        scope: scope.to_string(),
        total,
        memories: page,
        next,
    })
}

/// All that a scope remembers, as it is listed, wherever it is kept.
async fn all_listed(daybook: &Daybook, scope: &Scope) -> Result<Vec<ListedMemory>> {
    if let Some(server) = server_of(daybook, scope)? {
        let all = server.list(scope).await.map_err(failed)?;
        let listed = all.iter().map(|one| ListedMemory::of_server(scope, one));
        return Ok(listed.collect());
    }
    let all = memories_of(daybook, scope).await?;
    let listed = all
        .iter()
        .filter_map(|memory| Some(ListedMemory::of(memory, memory.observation()?)));
    Ok(listed.collect())
}

/// All that Daybook itself keeps of a scope.
pub(crate) async fn memories_of(daybook: &Daybook, scope: &Scope) -> Result<Vec<Memory>> {
    Ok(memories(source(daybook), &daybook.root, scope).await?)
}

fn source(daybook: &Daybook) -> MemorySource<'_> {
    MemorySource {
        store: &*daybook.store,
        person: &daybook.settings.person,
        zone: &daybook.settings.zone,
        layout: daybook.settings.profile.consolidation.layout,
    }
}

/// Finds what `name` names: in the chosen scope, or in all, each exact match before those that contain the words.
pub(crate) async fn find_memories(
    daybook: &Daybook,
    choice: &ScopeChoice,
    here: Option<&Path>,
    name: &str,
) -> Result<FoundMemories> {
    let mut found = FoundMemories::default();
    let name = &own_name(name);
    let scopes = choice.all(daybook, here).await?;
    let here = scopes
        .into_iter()
        .filter(|it| !daybook.settings.is_in_mem0(it));
    for scope in here {
        let mut all = memories(source(daybook), &daybook.root, &scope).await?;
        let name = match stated_at(daybook, &scope, name)? {
            Some(words) => words,
            None => {
                add_named_line(daybook, &scope, name, &mut all)?;
                named_below(daybook, &scope, name)
            }
        };
        let in_scope = find(&all, &name);
        found.exact.extend(in_scope.exact);
        found.near.extend(in_scope.near);
    }
    Ok(found)
}

/// The memories that have exactly the id, the line or the text that `name` is. The error for none lists what contains it;
/// `verb` says what the caller wants with one.
pub(crate) async fn find_exact(
    daybook: &Daybook,
    choice: &ScopeChoice,
    (name, verb): (&str, &str),
) -> Result<Vec<Memory>> {
    let found = find_memories(daybook, choice, None, name).await?;
    if found.exact.is_empty() && found.near.is_empty() {
        bail!(none_found(name));
    }
    if found.exact.is_empty() {
        let list: String = found.near.iter().take(MATCHES).map(described).collect();
        bail!(RequestError::Conflict(format!(
            "nothing has exactly this id or text; {verb} one of these by its id:\n{list}"
        )));
    }
    Ok(found.exact)
}

/// The memory with this id as it is listed, wherever it is kept.
pub(crate) async fn listed_by_id(
    daybook: &Daybook,
    choice: &ScopeChoice,
    id: &str,
) -> Result<ListedMemory> {
    match agent_memory::find(daybook, choice, None, id).await? {
        Some(kept) => Ok(ListedMemory::of_server(&kept.scope, &kept.memory)),
        None => listed(&by_id(daybook, choice, id).await?),
    }
}

/// The memory with this id.
pub(crate) async fn by_id(daybook: &Daybook, choice: &ScopeChoice, id: &str) -> Result<Memory> {
    let found = find_memories(daybook, choice, None, id).await?;
    let has_id = |memory: &Memory| {
        let mut ids = memory.observations.iter().map(|one| one.id.to_string());
        ids.any(|known| known.starts_with(id))
    };
    match found.exact.into_iter().find(has_id) {
        Some(memory) => Ok(memory),
        None => bail!(RequestError::NotFound(format!(
            "no memory that this caller reads has the id {id}; the list of memories has their ids"
        ))),
    }
}

/// A memory as it is listed.
pub(crate) fn listed(memory: &Memory) -> Result<ListedMemory> {
    match memory.observation() {
        Some(observation) => Ok(ListedMemory::of(memory, observation)),
        None => bail!(RequestError::NotFound(
            "nothing is behind this line: it is a person's own".to_owned()
        )),
    }
}

/// A name as it is here: MindRoom writes `file:` before a line's place, and has days in `memory/`.
fn own_name(name: &str) -> String {
    match name.trim().strip_prefix("file:") {
        Some(place) => match place.strip_prefix("memory/") {
            Some(day) => format!("{DAILY}/{day}"),
            None => place.to_owned(),
        },
        None => name.to_owned(),
    }
}

/// The words of the memory that `FILE:LINE` states, where the file holds accounts of rollouts: an account is one entry, and
/// its other lines are no memories.
fn stated_at(daybook: &Daybook, scope: &Scope, name: &str) -> Result<Option<String>> {
    let Some((file, line)) = name.rsplit_once(':') else {
        return Ok(None);
    };
    let (Ok(line), Ok(file)) = (line.parse::<usize>(), parse_file(daybook, scope, file)) else {
        return Ok(None);
    };
    if !is_rollout_file(file.as_str()) {
        return Ok(None);
    }
    let Some(text) = page_text(&folder(&daybook.root, scope), &file) else {
        return Ok(None);
    };
    match stated_in_rollout(&text, line) {
        Some(words) => Ok(Some(words.to_owned())),
        None => bail!(RequestError::Invalid(format!(
            "{name} states no memory; name a line that begins with \"- \", or change the account in the file itself, \
             where your words stay"
        ))),
    }
}

/// `FILE:LINE` with the file's name in the scope's folder, and the line that stands for its entry.
fn named_below(daybook: &Daybook, scope: &Scope, name: &str) -> String {
    let split = name.rsplit_once(':');
    let below = split.and_then(|(file, line)| {
        let file = parse_file(daybook, scope, file).ok()?;
        let line = line.parse::<usize>().ok()?;
        Some(format!(
            "{file}:{}",
            line_of_entry(daybook, scope, &file, line)
        ))
    });
    below.unwrap_or_else(|| name.to_owned())
}

fn line_of_entry(daybook: &Daybook, scope: &Scope, file: &FilePath, line: usize) -> usize {
    match page_text(&folder(&daybook.root, scope), file) {
        Some(text) => main_line(&text, line),
        None => line,
    }
}

/// Adds the line that `FILE:LINE` names, where it is in a file that shows parts of memories.
fn add_named_line(
    daybook: &Daybook,
    scope: &Scope,
    name: &str,
    all: &mut Vec<Memory>,
) -> Result<()> {
    let Some((file, line)) = name.rsplit_once(':') else {
        return Ok(());
    };
    let (Ok(line), Ok(file)) = (line.parse::<usize>(), parse_file(daybook, scope, file)) else {
        return Ok(());
    };
    let line = line_of_entry(daybook, scope, &file, line);
    let is_known = |shown: &ShownLine| shown.file == file && shown.line == line;
    if all.iter().any(|memory| memory.lines.iter().any(is_known)) {
        return Ok(());
    }
    let text = page_text(&folder(&daybook.root, scope), &file);
    let lines = lines_of(&file, &text.unwrap_or_default());
    let named = lines.into_iter().rfind(|shown| shown.line <= line);
    all.extend(named.map(|shown| Memory {
        scope: scope.clone(),
        entry: shown.entry.clone(),
        observations: Vec::new(),
        words: shown.text.clone(),
        lines: vec![ShownLine { line, ..shown }],
    }));
    Ok(())
}

/// The one memory that `name` names.
pub(crate) async fn find_one(
    daybook: &Daybook,
    choice: &ScopeChoice,
    here: Option<&Path>,
    name: &str,
) -> Result<Memory> {
    let found = find_memories(daybook, choice, here, name).await?;
    let candidates = match found.exact.is_empty() {
        true => found.near,
        false => found.exact,
    };
    match <[Memory; 1]>::try_from(candidates) {
        Ok([one]) => Ok(one),
        Err(none) if none.is_empty() => bail!(none_found(name)),
        Err(several) => {
            // One scope's line may be repeated by another's: the first scope is that of the current folder. A line that
            // rests on no observation may quote one that does.
            let mut in_first: Vec<&Memory> = several
                .iter()
                .filter(|memory| memory.scope == several[0].scope)
                .collect();
            if in_first
                .iter()
                .any(|memory| !memory.observations.is_empty())
            {
                in_first.retain(|memory| !memory.observations.is_empty());
            }
            if let [one] = in_first.as_slice() {
                return Ok((*one).clone());
            }
            bail!(RequestError::Invalid(format!(
                "\"{name}\" may be any of {}; name one by its id:\n{}",
                in_first.len(),
                in_first
                    .iter()
                    .take(10)
                    .map(|memory| described(memory))
                    .collect::<String>()
            )))
        }
    }
}

/// The error for a name that names nothing.
pub(crate) fn none_found(name: &str) -> RequestError {
    RequestError::NotFound(format!(
        "nothing that is remembered is called \"{name}\"; `daybook list --query WORDS` finds ids"
    ))
}

/// One line about a memory, with the id that names it.
pub(crate) fn described(memory: &Memory) -> String {
    let id = match (memory.observation(), memory.lines.first()) {
        (Some(observation), _) => observation.id.to_string()[..8].to_owned(),
        (None, Some(line)) => place(line),
        (None, None) => String::new(),
    };
    let words: String = memory.words.chars().take(100).collect();
    format!("  {id}  {}  {}\n", memory.scope, hidden(&words))
}
