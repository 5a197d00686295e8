//! What a scope remembers: listed, found by a name, explained from its sources, and changed in a person's words.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::citation::Citation;
use daybook_domain::{Evidence, Observation, ObservationKind, Scope, Timestamp};
use daybook_engine::files::layout::CURATED;
use daybook_engine::files::reader;
use daybook_engine::files::stamp::Person;
use daybook_engine::jobs::MemorySource;
use daybook_engine::jobs::memories::{FoundMemories, Memory, ShownLine, find, lines_of, memories};
use daybook_engine::jobs::persons_word::{ChangeOutcome, PersonsChange, change};
use daybook_text::redact::Redactor;
use serde::Serialize;
use utoipa::ToSchema;

use super::RequestError;
use super::history::{HistoryCommit, hidden, parse_file};
use super::scope_choice::{ScopeChoice, busy, open_folder};
use super::show::byline;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Most characters of an original text in an explanation.
const WORDS: usize = 600;
/// Most original texts in an explanation.
const SOURCES: usize = 20;
/// Longest new words of a line, in bytes.
const EDIT_BYTES: usize = 16 * 1024;

/// One thing that is remembered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedMemory {
    /// Its id; the first digits are enough to name it.
    #[schema(example = "9f31ac2e5d1b4a77")]
    pub(crate) id: String,
    /// Whose memory it is in, such as `project/tidepool`.
    pub(crate) scope: String,
    /// What sort of thing: `correction`, `preference`, `fact`, `decision`, `value`, `fix`, `open_end` or `note`.
    pub(crate) kind: &'static str,
    /// What is remembered.
    pub(crate) text: String,
    /// What the value is of, for values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    /// Whether a person stated it; otherwise it was concluded.
    pub(crate) stated: bool,
    /// Where it was learned from: `typed`, `pasted`, `concluded`, `tool`, `external` or `unknown`.
    pub(crate) learned_from: &'static str,
    /// How far it is trusted: `full`, `medium`, `low` or `untrusted`.
    pub(crate) trust: &'static str,
    /// The first citation of each session that it rests on, for `show`.
    pub(crate) citations: Vec<String>,
    /// When it was last stated, RFC 3339.
    #[schema(format = DateTime)]
    pub(crate) last_at: Option<String>,
    /// The lines that show it, as `MEMORY.md:12`; empty where there is no room for it.
    pub(crate) shown_in: Vec<String>,
    /// Whether a person pinned it.
    pub(crate) pinned: bool,
}

impl ListedMemory {
    fn of(memory: &Memory, observation: &Observation) -> Self {
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
pub(crate) struct ListQuery {
    /// Only these kinds; empty for all.
    pub(crate) kinds: Vec<ObservationKind>,
    /// Only memories that contain all of these words.
    pub(crate) words: Option<String>,
    /// Most memories.
    pub(crate) limit: usize,
    /// The id after which the list goes on.
    pub(crate) after: Option<String>,
}

/// Some memories of a scope, and where the list goes on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryList {
    /// Whose memory it is.
    pub(crate) scope: String,
    /// How many memories match in all.
    pub(crate) total: usize,
    /// Those of this page: what files show first, in their order.
    pub(crate) memories: Vec<ListedMemory>,
    /// The value of `after` for the next page; `null` on the last.
    pub(crate) next: Option<String>,
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
    let all = memories(source(daybook), &daybook.root, scope).await?;
    let listed = all.iter().filter_map(|memory| {
        let observation = memory.observation()?;
        let text = memory.words.to_lowercase();
        let is_wanted = query.kinds.is_empty() || query.kinds.contains(&observation.kind);
        let matches = words.iter().all(|word| text.contains(word.as_str()));
        (is_wanted && matches).then(|| ListedMemory::of(memory, observation))
    });
    let listed: Vec<ListedMemory> = listed.collect();
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

fn source(daybook: &Daybook) -> MemorySource<'_> {
    MemorySource {
        store: &*daybook.store,
        person: &daybook.settings.person,
        zone: &daybook.settings.zone,
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
    for scope in choice.all(daybook, here).await? {
        let mut all = memories(source(daybook), &daybook.root, &scope).await?;
        add_named_line(daybook, &scope, name, &mut all)?;
        let name = named_below(daybook, &scope, name);
        let in_scope = find(&all, &name);
        found.exact.extend(in_scope.exact);
        found.near.extend(in_scope.near);
    }
    Ok(found)
}

/// `FILE:LINE` with the file's name in the scope's folder.
fn named_below(daybook: &Daybook, scope: &Scope, name: &str) -> String {
    let split = name.rsplit_once(':');
    let below = split.and_then(|(file, line)| {
        let file = parse_file(daybook, scope, file).ok()?;
        line.parse::<usize>()
            .ok()
            .map(|line| format!("{file}:{line}"))
    });
    below.unwrap_or_else(|| name.to_owned())
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
    let is_known = |shown: &ShownLine| shown.file == file && shown.line == line;
    if all.iter().any(|memory| memory.lines.iter().any(is_known)) {
        return Ok(());
    }
    let folder = daybook_engine::files::layout::folder(&daybook.root, scope);
    let text = reader::text(&folder, &file).ok().flatten();
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

/// Where a line of a memory file comes from.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LineOrigin {
    /// Whose memory it is in.
    pub(crate) scope: String,
    /// The line.
    pub(crate) line: String,
    /// Where it stands, as `MEMORY.md:12`; `MEMORY.md` first.
    pub(crate) shown_in: Vec<String>,
    /// Whether a person changed the line.
    pub(crate) changed_by_person: bool,
    /// Whether a person pinned it.
    pub(crate) pinned: bool,
    /// The change since which it stands there in these words.
    pub(crate) since: Option<HistoryCommit>,
    /// What stood there before.
    pub(crate) before: Option<String>,
    /// What it was made from.
    pub(crate) observations: Vec<ListedMemory>,
    /// The original texts behind its citations.
    pub(crate) sources: Vec<OriginalText>,
    /// How many more there are.
    pub(crate) more_sources: usize,
}

/// The original text behind a citation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OriginalText {
    /// The citation, for `show`.
    #[schema(example = "7f78:L382")]
    pub(crate) citation: String,
    /// The speaker, place and time.
    pub(crate) by: String,
    /// The text, cut if it is long; `null` when the source has expired.
    pub(crate) text: Option<String>,
}

/// Explains where a memory comes from.
pub(crate) async fn why(daybook: &Daybook, memory: &Memory) -> Result<LineOrigin> {
    let line = memory.lines.first();
    let history = match line {
        None => daybook_engine::files::line_history::LineHistory::default(),
        Some(line) => {
            let folder = open_folder(daybook, &memory.scope).await?;
            folder.line_history(&line.file, line.entry.as_ref(), &line.text)?
        }
    };
    let cited = cited_lines(memory);
    let mut sources = Vec::new();
    for (label, line) in cited.iter().take(SOURCES) {
        sources.push(original(daybook, label, *line).await?);
    }
    let observations = memory.observations.iter();
    Ok(LineOrigin {
        scope: memory.scope.to_string(),
        line: hidden(line.map_or(&memory.words, |line| &line.text)),
        shown_in: memory.lines.iter().map(place).collect(),
        changed_by_person: line.is_some_and(|line| line.is_altered),
        pinned: memory.lines.iter().any(|line| line.is_pinned),
        since: history.since.as_ref().map(HistoryCommit::from),
        before: history.before.as_deref().map(hidden),
        observations: observations
            .map(|one| {
                let alone = Memory {
                    observations: vec![one.clone()],
                    words: one.text.clone(),
                    ..memory.clone()
                };
                ListedMemory::of(&alone, one)
            })
            .collect(),
        more_sources: cited.len().saturating_sub(sources.len()),
        sources,
    })
}

/// The cited lines: of the observations, or of a line that rests on none.
fn cited_lines(memory: &Memory) -> BTreeSet<(String, u32)> {
    let evidence = memory.observations.iter().flat_map(|one| &one.evidence);
    let mut cited: BTreeSet<(String, u32)> = evidence
        .flat_map(|one| one.lines.iter().map(|line| (one.label.clone(), *line)))
        .collect();
    if cited.is_empty() {
        let texts = memory
            .lines
            .iter()
            .flat_map(|line| line.text.split(['[', ']']));
        for citation in texts.filter_map(Citation::parse) {
            let lines = citation.lines.iter().flat_map(|(from, to)| *from..=*to);
            let lines = lines
                .take(SOURCES)
                .map(|line| (citation.session.clone(), line));
            cited.extend(lines);
        }
    }
    cited
}

async fn original(daybook: &Daybook, label: &str, line: u32) -> Result<OriginalText> {
    let citation = format!("{label}:L{line}");
    let events = match super::show::load_cited(daybook, &citation, 0).await {
        Ok((_, events)) => events,
        // A source that is gone is part of the explanation.
        Err(error) if error.downcast_ref::<RequestError>().is_some() => Vec::new(),
        Err(error) => return Err(error),
    };
    let Some(event) = events.first() else {
        return Ok(OriginalText {
            citation,
            by: "source expired".to_owned(),
            text: None,
        });
    };
    let mut text: String = event.text.chars().take(WORDS).collect();
    if text.len() < event.text.len() {
        text.push('…');
    }
    Ok(OriginalText {
        citation,
        by: byline(daybook, event),
        text: Some(text),
    })
}

/// Who requests a change of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedBy {
    /// The person, at the command line.
    Person,
    /// An agent, over HTTP or MCP: the history says so.
    Agent,
}

/// A change that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryChange {
    /// Whose memory it was made in.
    pub(crate) scope: String,
    /// The commit that made it, and that `daybook undo` takes back; `null` when everything was so already.
    pub(crate) commit: Option<String>,
}

/// Makes a change of a scope's memory.
pub(crate) async fn make_change(
    daybook: &Daybook,
    scope: &Scope,
    wanted: &PersonsChange,
    by: RequestedBy,
) -> Result<MemoryChange> {
    let (worker, _lock) = daybook.worker().await?;
    let person = &daybook.settings.person;
    let author = match by {
        RequestedBy::Person => Person::named(person),
        RequestedBy::Agent => Person::named(&format!("{person} (through an agent)")),
    };
    match change(&worker, scope, wanted, &author).await? {
        ChangeOutcome::Made(commit) => Ok(MemoryChange {
            scope: scope.to_string(),
            commit: Some(commit.to_string()),
        }),
        ChangeOutcome::Unchanged => Ok(MemoryChange {
            scope: scope.to_string(),
            commit: None,
        }),
        ChangeOutcome::Busy => bail!(busy(scope)),
    }
}

/// Adds to memories that several projects share, and that the person's own file repeats, those that they repeat.
async fn with_sources(daybook: &Daybook, memories: &[Memory]) -> Result<Vec<Memory>> {
    let mut all = memories.to_vec();
    for memory in memories {
        let Some(observation) = memory.observation() else {
            continue;
        };
        let held = daybook.store.observations(&memory.scope).await?;
        if held.iter().any(|one| one.id == observation.id) {
            continue;
        }
        let anywhere = ScopeChoice::default();
        let found = find_memories(daybook, &anywhere, None, &observation.text).await?;
        let is_new = |one: &Memory| !one.observations.is_empty() && !all.contains(one);
        let sources: Vec<Memory> = found.exact.into_iter().filter(is_new).collect();
        all.extend(sources);
    }
    Ok(all)
}

/// Forgets memories, one commit for each scope.
pub(crate) async fn forget(
    daybook: &Daybook,
    memories: &[Memory],
    by: RequestedBy,
) -> Result<Vec<MemoryChange>> {
    let memories = with_sources(daybook, memories).await?;
    let scopes: BTreeSet<&Scope> = memories.iter().map(|memory| &memory.scope).collect();
    let mut changes = Vec::new();
    for scope in scopes {
        let here = memories.iter().filter(|memory| memory.scope == *scope);
        let wanted = PersonsChange::Forget(here.cloned().collect());
        changes.push(make_change(daybook, scope, &wanted, by).await?);
    }
    Ok(changes)
}

/// Gives a line of a memory file other words. Returns the change, and how many secrets in the words were hidden.
pub(crate) async fn edit(
    daybook: &Daybook,
    memory: &Memory,
    words: &str,
    by: RequestedBy,
) -> Result<(MemoryChange, usize)> {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() || words.len() > EDIT_BYTES {
        bail!(RequestError::Invalid(format!(
            "new words are 1 to {EDIT_BYTES} bytes; `daybook forget` removes a line"
        )));
    }
    let Some(line) = memory.lines.first() else {
        bail!(RequestError::Conflict(format!(
            "no memory file shows it; `daybook pin` puts it into {CURATED} first"
        )));
    };
    let redacted = Redactor::current().redact(&words);
    let (secrets, words) = (redacted.findings.len(), redacted.text.into_owned());
    let wanted = PersonsChange::Edit(line.clone(), words);
    let made = make_change(daybook, &memory.scope, &wanted, by).await?;
    Ok((made, secrets))
}
