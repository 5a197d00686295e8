//! *Why*: from a line of memory to its observations, the words in the transcript, and what replaced what.

use anyhow::Result;
use daybook_domain::Reach;
use daybook_engine::jobs::line_memory::memory_of_line;
use daybook_engine::jobs::memories::Memory;
use daybook_text::fence::visible;
use maud::{Markup, html};

use super::frame::{FormProof, Page};
use super::links;
use super::text::{citation, cited, own_words, plain, when};
use crate::service::history::parse_file;
use crate::service::line_origin::{LineOrigin, OriginalText, why};
use crate::service::memories::{ListedMemory, find_one};
use crate::service::scope_choice::ScopeChoice;
use crate::service::show::{byline, load_cited};
use crate::wiring::Daybook;

/// Lines before and after the cited ones.
const AROUND: u32 = 3;
/// Longest text of one event, in characters, and events that are shown.
const WORDS: usize = 6_000;
const EVENTS: usize = 40;

/// The page. Without a line it asks for one.
pub(crate) async fn page(
    daybook: &Daybook,
    scope: &str,
    line: &str,
    proof: &FormProof,
) -> Result<Page> {
    if line.is_empty() {
        return Ok(Page::new("why", "Why do you think so?", asking()));
    }
    let choice = ScopeChoice {
        scope: Some(scope.to_owned()).filter(|name| !name.is_empty()),
        ..ScopeChoice::default()
    };
    let memory = match line_memory(daybook, &choice, line).await? {
        Some(memory) => memory,
        None => find_one(daybook, &choice, None, line).await?,
    };
    let origin = why(daybook, &memory, &Reach::Everything).await?;
    let id = memory.observation().map(|one| one.id.to_string());
    let body = html! {
        p { (cited(own_words(&origin.line))) }
        p.quiet { (plain(&origin.scope)) @for place in &origin.shown_in { " · " (plain(place)) }
            @if origin.pinned { " · pinned" } @if origin.changed_by_person { " · in your words" } }
        @if let Some(id) = &id { (mending(&origin, id, proof)) }
        h2 { "How it came to be" }
        (chain(daybook, &origin))
        h2 { "The words behind it" }
        @for source in &origin.sources { (source_markup(source)) }
        @if origin.sources.is_empty() { p { "It cites nothing: it is a person's own line." } }
        @if origin.more_sources > 0 { p.quiet { (origin.more_sources) " more." } }
    };
    Ok(Page::new("why", "Why do you think so?", body))
}

/// The memory of a line of a file, found by what it cites; `None` where that does not show it.
async fn line_memory(
    daybook: &Daybook,
    choice: &ScopeChoice,
    line: &str,
) -> Result<Option<Memory>> {
    let place = line
        .rsplit_once(':')
        .and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (Some((file, line)), true) = (place, choice.scope.is_some()) else {
        return Ok(None);
    };
    let scope = choice.one(daybook, None).await?;
    let Ok(file) = parse_file(daybook, &scope, file) else {
        return Ok(None);
    };
    Ok(memory_of_line(&*daybook.store, &daybook.root, &scope, (&file, line)).await?)
}

fn asking() -> Markup {
    html! {
        p { "Follow " i { "why?" } " beside a line of memory, or name one:" }
        form.stack method="get" action=(links::page("why", &[])) {
            label for="line" { "A line's words, its place such as MEMORY.md:12, or its id" }
            input #line name="line" required;
            p { button.main type="submit" { "Explain" } }
        }
    }
}

/// What a person can do about it, there and then.
fn mending(origin: &LineOrigin, id: &str, proof: &FormProof) -> Markup {
    let words = origin
        .observations
        .first()
        .map_or("", |one| one.text.as_str());
    let hidden = |id: &str| {
        html! {
            (proof.field())
            input type="hidden" name="scope" value=(origin.scope);
            input type="hidden" name="id" value=(id);
        }
    };
    let pin = if origin.pinned { "unpin" } else { "pin" };
    html! {
        form.stack method="post" action=(links::page("correct", &[])) {
            (hidden(id))
            label for="words" { "In your own words" }
            input #words name="words" value=(visible(words)) maxlength="16000" required;
            p.row { button.main type="submit" { "Correct" } }
        }
        div.row {
            form.inline method="post" action=(links::page("forget", &[])) { (hidden(id)) button type="submit" { "Forget it" } }
            form.inline method="post" action=(links::page(pin, &[])) {
                (hidden(id))
                @if let Some(line) = origin.shown_in.first() { input type="hidden" name="line" value=(line); }
                button type="submit" { (if origin.pinned { "Unpin" } else { "Pin" }) }
            }
        }
    }
}

/// What was there before, the observations in order, and since when it stands so: drawn as a chain.
fn chain(daybook: &Daybook, origin: &LineOrigin) -> Markup {
    let mut observations: Vec<&ListedMemory> = origin.observations.iter().collect();
    observations.sort_by(|a, b| a.last_at.cmp(&b.last_at));
    html! {
        ol.chain {
            @if let Some(before) = &origin.before { li.past { span.quiet { "before" } br; (cited(own_words(before))) } }
            @for one in observations {
                li {
                    span.quiet { (one.kind.replace('_', " ")) " · " (one.learned_from) " · trust " (one.trust)
                        @if let Some(at) = &one.last_at { " · " (when(daybook, at)) } }
                    br; (plain(&one.text))
                    @for cited in &one.citations { " " (citation(cited)) }
                }
            }
            li.now {
                span.quiet { "now" @if let Some(since) = &origin.since {
                    ", since " (when(daybook, since.time.as_deref().unwrap_or_default())) " · "
                    a href=(links::page("change", &[("scope", &origin.scope), ("at", &since.id)])) { (plain(&since.subject)) } } }
                br; (cited(own_words(&origin.line)))
            }
        }
    }
}

fn source_markup(source: &OriginalText) -> Markup {
    html! {
        div.event {
            p.quiet { (citation(&source.citation)) " · " (plain(&source.by)) }
            @if let Some(text) = &source.text { (block(text)) }
        }
    }
}

/// A text of several lines as it was written.
pub(super) fn block(text: &str) -> Markup {
    let text = super::text::cut(text, WORDS);
    let lines: Vec<_> = text.lines().map(daybook_text::fence::visible).collect();
    html! { pre dir="auto" { (lines.join("\n")) } }
}

/// The words behind a citation, with a few lines around them.
pub(crate) async fn words_page(daybook: &Daybook, cited_as: &str) -> Result<Page> {
    let (session, events) = load_cited(daybook, cited_as, AROUND, &Reach::Everything).await?;
    let id = session.id.to_string();
    let body = html! {
        p.quiet { (plain(cited_as)) " · " a href=(links::page("session", &[("id", &id)])) { "the whole session" } " · "
            a href=(links::page("memory", &[])) { "memory" } }
        @for event in events.iter().take(EVENTS) {
            div.event.human[event.origin == daybook_domain::Origin::Human] id=(format!("L{}", event.line)) {
                p.quiet { (plain(&byline(daybook, event))) }
                (block(&event.text))
            }
        }
    };
    Ok(Page::new("sessions", "What was said", body))
}
