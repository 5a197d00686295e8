//! What a person can do after an import: read the memory, ask it, tell an agent, take it back.
//!
//! A question is suggested only if it has an answer now, and every command works as it is printed.
//!
//! Not here: what the import did (`first_run`).

use anyhow::Result;
use daybook_domain::{Scope, ScopeKind};
use daybook_engine::files::entry::{Block, blocks, unmarked};
use daybook_engine::files::layout::{CURATED, folder};
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader;
use daybook_engine::jobs::UpdateReport;
use daybook_engine::recall::search::Recalled;

use super::first_run::Told;
use super::recall;
use crate::desk::{Ask, ask};
use crate::output::{bold, dim};
use crate::wiring::Daybook;
use crate::{root, suggest};

/// Asked of the sample.
const SAMPLE_QUESTIONS: &[&str] = &["which limit does cache.rs have"];
/// Asked of any other memory, the first one that has an answer.
const QUESTIONS: &[&str] = &[
    "what did we decide",
    "what should you never do",
    "what failed, and what fixed it",
    "what is still open",
];
/// Most words of a memory that a question is made of.
const WORDS: usize = 8;

/// Prints them for the memory whose largest scope is `largest`.
pub(super) async fn say(daybook: &Daybook, largest: Option<&Scope>, told: &Told<'_>) -> Result<()> {
    let Some(largest) = largest else {
        say_nothing(told);
        return Ok(());
    };
    let memory = folder(&daybook.root, largest);
    let text = reader::text(&memory, &FilePath::new(CURATED)?);
    let text = text.ok().flatten().unwrap_or_default();
    let entry = first_entry(&text);
    if let Some(entry) = &entry {
        anstream::println!("{}   {entry}", bold("Where you left off"));
    }
    if !text.is_empty() {
        anstream::println!(
            "{}              {}",
            bold("Read it"),
            root::shown(&memory.join(CURATED))
        );
    }
    if let Some((question, recalled)) = answered_question(daybook, told.sample, entry).await? {
        let command = suggest::command_of(&["recall", &question]);
        anstream::println!("{}               {command}", bold("Ask it"));
        if told.sample {
            recall::show(daybook, &recalled);
        }
    }
    let mut words = vec!["context"];
    if largest.kind == ScopeKind::Project {
        words.extend(["--project", &largest.name]);
    }
    let context = suggest::command_of(&words);
    anstream::println!("{}        {context}", bold("Tell an agent"));
    say_undo(told);
    Ok(())
}

fn say_nothing(told: &Told<'_>) {
    let is_read = |learned: &UpdateReport| {
        let outcomes = learned.outcomes();
        let mut sessions = told.report.sessions.iter();
        sessions.all(|session| outcomes.contains_key(session))
    };
    let why = match told.learned {
        Some(learned) if is_read(learned) && learned.failed.is_empty() => {
            "Nothing was worth keeping, so there is nothing to read yet."
        }
        Some(_) | None => "Nothing was learned yet, so there is nothing to read yet.",
    };
    anstream::println!("{}", dim(why));
    say_undo(told);
}

fn say_undo(told: &Told<'_>) {
    let Some(import) = told.report.import else {
        return;
    };
    let undo = suggest::command_of(&["import", "--undo", &import.0.to_string()]);
    let what = dim("(removes exactly what this import added)");
    anstream::println!("{}           {undo}   {what}", bold("Not happy?"));
}

/// The first entry of a memory file, without its mark.
fn first_entry(text: &str) -> Option<String> {
    blocks(text).into_iter().find_map(|block| match block {
        Block::Ours(_, held) => held
            .first()
            .map(|line| unmarked(line).trim_start_matches("- ").to_owned()),
        Block::Altered(..) | Block::Heading(..) | Block::Other(_) => None,
    })
}

/// A question that has an answer, with its best answer.
async fn answered_question(
    daybook: &Daybook,
    sample: bool,
    entry: Option<String>,
) -> Result<Option<(String, Recalled)>> {
    let fixed = match sample {
        true => SAMPLE_QUESTIONS,
        false => QUESTIONS,
    };
    let own = entry.map(|entry| question_about(&entry));
    for text in fixed.iter().map(|text| (*text).to_owned()).chain(own) {
        if text.is_empty() {
            continue;
        }
        let asked = Ask {
            text: text.clone(),
            limit: 1,
            strict: true,
            ..Ask::default()
        };
        let recalled = ask(daybook, &asked).await?;
        if !recalled.answers.is_empty() {
            return Ok(Some((text, recalled)));
        }
    }
    Ok(None)
}

/// The first words of an entry, as a question about it.
fn question_about(entry: &str) -> String {
    let words = entry
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.take(WORDS).collect::<Vec<_>>().join(" ")
}
