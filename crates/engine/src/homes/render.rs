//! Renders memories that a home has not had, in the form in which its system takes in new ones.
//!
//! Codex reads notes that its person asked it to keep, and puts them into its handbook itself. MindRoom and Daycare
//! append to a log. So nothing that stands in a home's files is rewritten for a new memory.

use std::collections::BTreeMap;

use daybook_domain::Timestamp;
use jiff::tz::TimeZone;

use super::entry::one_line;
use super::{HomeKind, HomeOwner};

/// Longest slug in the name of a note.
const SLUG: usize = 40;

/// A memory that the home has not had.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NewMemory {
    /// When it was learned.
    pub at: Timestamp,
    /// Whose memory it is.
    pub owner: HomeOwner,
    /// Its words.
    pub words: String,
    /// What makes it understandable.
    pub context: Option<String>,
    /// A number that only this memory has.
    pub id: u64,
}

/// What is appended to each file of a home, by its path. `is_one_user` means that the home is one user's folder.
#[must_use]
pub fn new_entries(
    kind: HomeKind,
    memories: &[NewMemory],
    is_one_user: bool,
) -> BTreeMap<String, String> {
    let mut memories: Vec<&NewMemory> = memories.iter().collect();
    memories.sort();
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for memory in memories {
        let (path, text) = match kind {
            HomeKind::Codex => note(memory),
            HomeKind::Mindroom => id_line(memory),
            HomeKind::Daycare => block(memory, is_one_user),
            // What these systems keep is only read.
            HomeKind::Claude
            | HomeKind::ServerMemory
            | HomeKind::Mem0
            | HomeKind::BasicMemory
            | HomeKind::Obsidian => continue,
        };
        files.entry(path).or_default().push_str(&text);
    }
    files
}

fn utc(at: Timestamp, format: &str) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    at.to_zoned(TimeZone::UTC).strftime(format).to_string()
}

/// A note for Codex: `extensions/ad_hoc/notes/<time>-<slug>.md`.
fn note(memory: &NewMemory) -> (String, String) {
    let stamp = utc(memory.at, "%Y-%m-%dT%H-%M-%S");
    let letters = memory.words.to_lowercase();
    let words: Vec<&str> = letters
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let slug: String = words.join("-").chars().take(SLUG).collect();
    let id = format!("{:08x}", memory.id & 0xffff_ffff);
    let slug = match slug.trim_end_matches('-') {
        "" => format!("note-{id}"),
        slug => format!("{slug}-{id}"),
    };
    let path = format!("memories/extensions/ad_hoc/notes/{stamp}-{slug}.md");
    (path, format!("{}\n", one_line(&memory.words)))
}

/// A line of MindRoom's log of the day.
fn id_line(memory: &NewMemory) -> (String, String) {
    let folder = match &memory.owner {
        HomeOwner::Agent(agent) => format!("agents/{}/workspace", component(agent)),
        HomeOwner::Team(team) => {
            let first = team.split('+').next().unwrap_or(team);
            let team = component(team);
            format!("agents/{}/memory_files/team_{team}", component(first))
        }
        HomeOwner::Room(room) => format!("memory_files/room_{}", component(room)),
        // MindRoom has no memory of a person: an agent of its own holds it.
        HomeOwner::Person => "agents/daybook/workspace".to_owned(),
        HomeOwner::User(user) => format!("agents/{}/workspace", component(user)),
    };
    let path = format!("{folder}/memory/{}.md", utc(memory.at, "%Y-%m-%d"));
    let stamp = utc(memory.at, "%Y%m%d%H%M%S");
    let id = memory.id & 0xffff_ffff;
    let words = one_line(&memory.words);
    (path, format!("- [id=m_{stamp}_{id:08x}] {words}\n"))
}

/// A name as MindRoom writes it into a path.
fn component(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let name: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    match name.trim_matches('_') {
        "" | "." | ".." => "default".to_owned(),
        name => name.to_owned(),
    }
}

/// A block of Daycare's log.
fn block(memory: &NewMemory, is_one_user: bool) -> (String, String) {
    let user = match &memory.owner {
        HomeOwner::User(name)
        | HomeOwner::Agent(name)
        | HomeOwner::Team(name)
        | HomeOwner::Room(name) => Some(name),
        HomeOwner::Person => None,
    };
    let path = match user.filter(|_| !is_one_user) {
        Some(user) => format!("users/{}/memory/observations.md", component(user)),
        None => "memory/observations.md".to_owned(),
    };
    let time = utc(memory.at, "%Y-%m-%d %H:%M");
    let words = one_line(&memory.words);
    // Daycare drops an observation without context.
    let context = memory.context.as_deref().map(one_line);
    let context = context.filter(|context| !context.is_empty());
    let context = context.unwrap_or_else(|| "learned by Daybook".to_owned());
    let text = format!("## {time}\n- **Text**: {words}\n- **Context**: {context}\n\n");
    (path, text)
}
