//! Suggests what to do after an import: read the memory, ask it, give it to an agent, undo the import.
//!
//! A question is suggested only if it has an answer now, and every command works as it is printed.
//!
//! Not here: what the import did (`first_run`).

use anyhow::Result;
use daybook_domain::{Scope, ScopeKind};
use daybook_engine::consolidate::VALUES;
use daybook_engine::files::entry::{PageBlock, parse_blocks, without_marker};
use daybook_engine::files::layout::{CURATED, folder};
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader;
use daybook_engine::jobs::UpdateReport;
use daybook_engine::recall::search::RecallResult;

use super::import_summary::ImportSummary;
use super::recall;
use crate::folders::data_folder;
use crate::service::recall::{RecallQuery, answer_query};
use crate::setup::installed_hosts;
use crate::terminal::output::{bold, dim, print_line};
use crate::terminal::suggest;
use crate::terminal::wrap::{columns, wrapped};
use crate::wiring::Daybook;

/// Questions for the sample.
const SAMPLE_QUESTIONS: &[&str] = &["which limit does cache.rs have"];
/// Questions about the sections of a memory file, by words of their titles. The first with an answer is suggested.
const QUESTIONS: &[(&str, &str)] = &[
    ("Decisions", "what did we decide"),
    ("insisted on", "what should you never do"),
    ("What failed", "what failed, and what fixed it"),
    ("left off", "what is still open"),
];
/// Most words of a quotation that is searched for.
const WORDS: usize = 8;
/// Columns before what is suggested.
const INDENT: usize = 21;

/// Prints the suggestions for a memory whose largest scope is `largest`.
pub(super) async fn print_suggestions(
    daybook: &Daybook,
    largest: Option<&Scope>,
    summary: &ImportSummary<'_>,
) -> Result<()> {
    let Some(largest) = largest else {
        print_nothing_learned(summary);
        return Ok(());
    };
    let memory = folder(&daybook.root, largest);
    let text = reader::text(&memory, &FilePath::new(CURATED)?);
    let text = text.ok().flatten().unwrap_or_default();
    let entry = first_entry(&text);
    if let Some(entry) = &entry {
        let entry = wrapped(&recall::excerpt(entry), INDENT);
        print_line!("{}   {entry}", bold("Where you left off"));
    }
    if !text.is_empty() {
        print_line!(
            "{}              {}",
            bold("Read it"),
            data_folder::display_path(&memory.join(CURATED))
        );
    }
    if let Some((question, recalled)) = answered_question(daybook, summary.sample, &text).await? {
        let command = suggest::command_of(&["recall", &question]);
        print_line!("{}               {command}", bold("Ask it"));
        if summary.sample {
            recall::show(daybook, &recalled);
        }
    }
    let mut words = vec!["context"];
    if largest.kind == ScopeKind::Project {
        words.extend(["--project", &largest.name]);
    }
    let context = suggest::command_of(&words);
    print_line!("{}        {context}", bold("Tell an agent"));
    if !summary.sample && !installed_hosts()?.is_empty() {
        let setup = suggest::command("setup");
        let what = beside(
            &setup,
            "(shows the change first; --undo takes it back)",
            INDENT,
        );
        print_line!("{}    {what}", bold("Give it to agents"));
    }
    print_undo(summary);
    Ok(())
}

fn print_nothing_learned(summary: &ImportSummary<'_>) {
    let is_read = |learned: &UpdateReport| {
        let outcomes = learned.outcomes();
        let mut sessions = summary.report.sessions.iter();
        sessions.all(|session| outcomes.contains_key(session))
    };
    let why = match summary.learned {
        Some(learned) if is_read(learned) && learned.failed.is_empty() => {
            "Nothing was worth keeping, so there is nothing to read yet."
        }
        Some(_) | None => "Nothing was learned yet, so there is nothing to read yet.",
    };
    print_line!("{}", dim(why));
    print_undo(summary);
}

fn print_undo(summary: &ImportSummary<'_>) {
    let Some(import) = summary.report.import else {
        return;
    };
    let undo = suggest::command_of(&["import", "--undo", &import.0.to_string()]);
    let what = beside(&undo, "(removes exactly what this import added)", INDENT);
    print_line!("{}           {what}", bold("Not happy?"));
}

/// A command with a remark beside it, or below it where they do not fit into one line.
fn beside(command: &str, remark: &str, indent: usize) -> String {
    let width = command.chars().count() + remark.chars().count() + 3;
    match columns().is_some_and(|columns| indent + width > columns) {
        true => format!("{command}\n{:indent$}{}", "", dim(remark)),
        false => format!("{command}   {}", dim(remark)),
    }
}

/// The first entry of a memory file, without its mark.
fn first_entry(text: &str) -> Option<String> {
    parse_blocks(text)
        .into_iter()
        .find_map(|block| match block {
            PageBlock::Ours(_, held) | PageBlock::Pinned(_, held) => held
                .first()
                .map(|line| without_marker(line).trim_start_matches("- ").to_owned()),
            PageBlock::Altered(..) | PageBlock::Heading(..) | PageBlock::Other(_) => None,
        })
}

/// A question that has an answer, with its best answer.
async fn answered_question(
    daybook: &Daybook,
    sample: bool,
    memory: &str,
) -> Result<Option<(String, RecallResult)>> {
    let questions = match sample {
        true => SAMPLE_QUESTIONS.iter().map(|it| (*it).to_owned()).collect(),
        false => questions_about(memory),
    };
    for text in questions {
        let query = RecallQuery {
            text: text.clone(),
            limit: 1,
            strict: true,
            ..RecallQuery::default()
        };
        let recalled = answer_query(daybook, &query).await?;
        if !recalled.answers.is_empty() {
            return Ok(Some((text, recalled)));
        }
    }
    Ok(None)
}

/// Questions about what a memory file holds: the value of a setting first, because its answer is the shortest.
fn questions_about(memory: &str) -> Vec<String> {
    let values = format!("## {VALUES}\n");
    let value = memory
        .split_once(&values)
        .and_then(|(_, section)| section.lines().next())
        .and_then(|line| line.strip_prefix("- ")?.split_once(": "))
        .map(|(subject, _)| format!("what is {subject}"));
    let titles: Vec<&str> = memory
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let is_held = |title: &&str| titles.iter().any(|held| held.contains(*title));
    let sections = QUESTIONS.iter().filter(|(title, _)| is_held(title));
    let sections = sections.map(|(_, question)| (*question).to_owned());
    value
        .into_iter()
        .chain(sections)
        .chain(quoted(memory))
        .collect()
}

/// The first words that a memory quotes from a person, which it surely finds again.
fn quoted(memory: &str) -> Option<String> {
    let mut lines = memory.lines().filter_map(|line| line.strip_prefix("- \""));
    let words = lines.next()?.split_once('"')?.0;
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    Some(words.split(' ').take(WORDS).collect::<Vec<_>>().join(" "))
}
