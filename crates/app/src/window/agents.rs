//! *Agents*: what a folder, a branch and a prompt would put before an agent, with its tokens against the budget.

use std::path::Path;

use anyhow::Result;
use daybook_text::fence::visible;
use maud::{Markup, html};

use super::chart::{Share, shares};
use super::frame::Page;
use super::links;
use super::text::{cited, own_words, plain};
use crate::service::RequestError;
use crate::service::context::{AgentContext, ContextQuery, context_in};
use crate::service::projects::load_projects;
use crate::wiring::Daybook;

/// Longest prompt, in bytes.
const PROMPT: usize = 16 * 1024;
/// Folders that are suggested.
const FOLDERS: usize = 100;
/// Estimated bytes of a token.
const TOKEN: usize = 3;

/// Where an agent would be, and what it would be asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentPlace {
    pub(crate) folder: String,
    pub(crate) branch: String,
    pub(crate) prompt: String,
}

/// The page, with the context where a folder is named.
pub(crate) async fn page(daybook: &Daybook, at: &AgentPlace) -> Result<Page> {
    let projects = load_projects(daybook).await?;
    let folders = projects.values().flat_map(|facts| &facts.checkouts);
    let folders: Vec<&str> = folders.map(String::as_str).take(FOLDERS).collect();
    let context = match at.folder.as_str() {
        "" => None,
        folder => Some(context(daybook, folder, at).await?),
    };
    let budget = daybook.settings.context_tokens;
    let body = html! {
        (form(at, &folders))
        @if let Some(context) = &context { (shown(context, budget)) }
    };
    Ok(Page::new("agents", "What an agent is told", body))
}

async fn context(daybook: &Daybook, folder: &str, at: &AgentPlace) -> Result<AgentContext> {
    if !Path::new(folder).is_absolute() || at.prompt.len() > PROMPT {
        let message =
            format!("a folder is an absolute path, and a prompt has at most {PROMPT} bytes");
        return Err(RequestError::Invalid(message).into());
    }
    let given = |text: &String| Some(text.clone()).filter(|text| !text.trim().is_empty());
    let query = ContextQuery {
        branch: given(&at.branch),
        prompt: given(&at.prompt),
        ..ContextQuery::default()
    };
    context_in(daybook, Path::new(folder), &query).await
}

fn form(at: &AgentPlace, folders: &[&str]) -> Markup {
    html! {
        form.stack method="get" action=(links::page("agents", &[])) {
            label for="folder" { "Folder" }
            input #folder name="folder" value=(visible(&at.folder)) list="folders" required placeholder="/home/ada/tidepool";
            datalist #folders { @for folder in folders { option value=(visible(folder)) {} } }
            label for="branch" { "Branch" }
            input #branch name="branch" value=(visible(&at.branch)) placeholder="the one that is checked out";
            label for="prompt" { "Prompt" }
            input #prompt name="prompt" value=(visible(&at.prompt)) placeholder="what you would ask";
            p { button.main type="submit" { "Show" } }
        }
    }
}

/// The tokens of the lines, of what frames them, and of the room that is left.
fn tokens(context: &AgentContext, budget: usize) -> Vec<Share> {
    let assembled = &context.assembled;
    let of_lines: usize = assembled.lines.iter().map(|line| line_tokens(line)).sum();
    let of_lines = of_lines.min(assembled.tokens);
    let share = |name: String, value: usize, tone| Share {
        name,
        value: value as u64,
        tone,
    };
    vec![
        share(
            format!("in {} lines", assembled.lines.len()),
            of_lines,
            "good",
        ),
        share(
            "in headings and instructions".to_owned(),
            assembled.tokens - of_lines,
            "wait",
        ),
        share(
            "free".to_owned(),
            budget.saturating_sub(assembled.tokens),
            "room",
        ),
    ]
}

fn line_tokens(line: &str) -> usize {
    line.len().div_ceil(TOKEN)
}

fn shown(context: &AgentContext, budget: usize) -> Markup {
    let assembled = &context.assembled;
    let project = context.at.project.as_ref().map(ToString::to_string);
    html! {
        h2 { "Its context" }
        p.quiet {
            @if let Some(project) = &project { a href=(links::file(project, "")) { (plain(project)) } " · " } @else { "no project · " }
            @if let Some(branch) = &context.branch { (plain(branch)) " · " }
            (assembled.lines.len()) " lines, " (assembled.left_out) " left out for want of room"
        }
        (shares(&format!("{} of {budget} tokens", assembled.tokens), &tokens(context, budget), "tokens"))
        @if assembled.text.is_empty() { p { "Nothing: an agent there is told nothing." } }
        @else {
            ol.entries {
                @for line in &assembled.lines {
                    li { (cited(own_words(line))) " " span.quiet { "about " (line_tokens(line)) " tokens" } }
                }
            }
            details { summary { "The whole text" } (super::why::block(&assembled.text)) }
        }
        @for refused in &context.refused { p.warn { (plain(&refused.to_string())) } }
    }
}
