//! *Ask*: recall, with its confidence and the parts of each score.

use anyhow::Result;
use daybook_domain::index::MemoryLayer;
use daybook_engine::recall::search::{RankedAnswer, RecallResult};
use daybook_text::fence::visible;
use maud::{Markup, html};

use super::frame::Page;
use super::links;
use super::text::{citation, cited, plain};
use crate::service::recall::{RecallQuery, answer_query, no_answer_message, parse_layer};
use crate::service::search_result::replaced_line;
use crate::service::{RequestError, format_time};
use crate::wiring::Daybook;

/// Answers to a question.
const ANSWERS: usize = 10;
/// Longest question, in bytes.
const QUESTION: usize = 4 * 1024;
/// What can be searched: name, label.
const LAYERS: [(&str, &str); 4] = [
    ("", "everything"),
    ("entry", "memory files"),
    ("observation", "observations"),
    ("event", "original words"),
];

/// A question, as the form has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) question: String,
    pub(crate) scope: String,
    pub(crate) layer: String,
    pub(crate) at: String,
}

/// The page, with answers where something is asked.
pub(crate) async fn page(daybook: &Daybook, asked: &Asked) -> Result<Page> {
    if asked.question.trim().is_empty() {
        return Ok(Page::new("ask", "Ask", form(asked)));
    }
    if asked.question.len() > QUESTION {
        let message = format!("a question has at most {QUESTION} bytes");
        return Err(RequestError::Invalid(message).into());
    }
    let layer: Option<MemoryLayer> = match asked.layer.as_str() {
        "" => None,
        name => Some(parse_layer(name).map_err(RequestError::Invalid)?),
    };
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let query = RecallQuery {
        text: asked.question.clone(),
        limit: ANSWERS,
        layers: layer.into_iter().collect(),
        scopes: given(&asked.scope).into_iter().collect(),
        at: given(&asked.at),
        ..RecallQuery::default()
    };
    let recalled = answer_query(daybook, &query).await?;
    let body = html! { (form(asked)) (answers(daybook, &recalled)) };
    Ok(Page::new("ask", "Ask", body))
}

fn form(asked: &Asked) -> Markup {
    html! {
        form.stack method="get" action=(links::page("ask", &[])) role="search" {
            label for="question" { "Question" }
            input #question name="question" value=(visible(&asked.question)) autofocus[asked.question.is_empty()] required;
            details open[!asked.scope.is_empty() || !asked.layer.is_empty() || !asked.at.is_empty()] {
                summary { "Where and when" }
                label for="scope" { "Whose memory" }
                input #scope name="scope" value=(visible(&asked.scope)) placeholder="all, or for example project/tidepool";
                label for="layer" { "Search in" }
                select #layer name="layer" {
                    @for (name, label) in LAYERS { option value=(name) selected[name == asked.layer] { (label) } }
                }
                label for="at" { "As it held at" }
                input #at name="at" value=(visible(&asked.at)) placeholder="now, or for example 2026-02-04";
            }
            p { button.main type="submit" { "Ask" } }
        }
    }
}

fn answers(daybook: &Daybook, recalled: &RecallResult) -> Markup {
    let confidence = recalled.confidence;
    html! {
        h2 { "Answers" }
        p.quiet { "Confidence that it was discussed at all: " (confidence.label.as_str()) " (" (format!("{:.2}", confidence.score)) ")" }
        @if recalled.answers.is_empty() { p { (no_answer_message(recalled)) } }
        ol.entries { @for answer in &recalled.answers { li { (answer_markup(daybook, answer)) } } }
    }
}

fn answer_markup(daybook: &Daybook, answer: &RankedAnswer) -> Markup {
    let scope = answer.scope.as_ref().map(ToString::to_string);
    let at = format_time(daybook, answer.time, "%-d %b %Y");
    html! {
        (cited(&answer.text))
        @if let Some(replaced) = &answer.replaced { br; span.warn { (cited(&replaced_line(daybook, replaced))) } }
        @if let Some(context) = &answer.context { br; span.quiet { (plain(context)) } }
        br; span.quiet {
            @if let Some(cited) = &answer.citation { (citation(cited)) " · " }
            @if let Some(at) = at { (at) " · " }
            (answer.layer.as_str())
            @if let (Some(scope), Some(file)) = (&scope, &answer.file) {
                " · " a href=(links::file(scope, file)) { (plain(file)) }
            } @else if let Some(scope) = &scope { " · " (plain(scope)) }
        }
        details { summary { "score " (format!("{:.2}", answer.score)) } (parts(answer)) }
    }
}

/// The parts of a score, as recall names them.
fn parts(answer: &RankedAnswer) -> Markup {
    let parts = serde_json::to_value(answer.parts).unwrap_or_default();
    let parts = parts.as_object().into_iter().flatten();
    let parts: Vec<Vec<Markup>> = parts
        .map(|(name, value)| {
            vec![
                html! { (name.replace('_', " ")) },
                html! { (value.to_string()) },
            ]
        })
        .collect();
    super::frame::table("Parts of the score", &["Part", "Value"], &parts)
}
