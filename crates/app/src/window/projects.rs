//! *Projects and branches*: which checkouts belong together, and what that rests on.

use anyhow::Result;
use maud::{Markup, html};

use super::frame::Page;
use super::links;
use super::text::plain;
use crate::service::projects::{ProjectFacts, load_projects};
use crate::terminal::output::count;
use crate::wiring::Daybook;

/// Names that one project shows of each kind.
const NAMES: usize = 50;

/// The page.
pub(crate) async fn page(daybook: &Daybook) -> Result<Page> {
    let projects = load_projects(daybook).await?;
    let body = html! {
        @if projects.is_empty() { p { "No project is known yet: no imported session names its folder." } }
        @for (key, facts) in &projects { (project(key, facts)) }
        @if !projects.is_empty() { p.quiet { "Wrong? " code { "daybook projects merge" } ", " code { "split" } " and " code { "rename" } " mend it." } }
    };
    Ok(Page::new("projects", "Projects and branches", body))
}

fn project(key: &str, facts: &ProjectFacts) -> Markup {
    let scope = format!("project/{key}");
    html! {
        h2 { a href=(links::file(&scope, "")) { (plain(key)) } }
        p.quiet {
            (count(facts.checkouts.len() as u64, "checkout"))
            @if !facts.gone.is_empty() { ", " (facts.gone.len()) " of them gone" }
            @if facts.guessed { " · a guess by its folder's name" }
            @for identity in &facts.identities { " · " (plain(identity)) }
        }
        ul.entries {
            @for checkout in facts.checkouts.iter().take(NAMES) {
                li { (plain(checkout))
                    @if facts.gone.contains(checkout) { " " span.quiet { "gone" } }
                    @if let Some(guess) = facts.guesses.get(checkout) { " " span.warn { (guess) } } }
            }
        }
        @if !facts.branches.is_empty() {
            p { "Branches: " @for (n, branch) in facts.branches.iter().take(NAMES).enumerate() {
                @if n > 0 { ", " }
                (plain(branch)) }
                @if facts.branches.len() > NAMES { ", …" } }
        }
        @if !facts.moved_sessions.is_empty() {
            p.quiet { (count(facts.moved_sessions.len() as u64, "session")) " moved here by hand" }
        }
    }
}
