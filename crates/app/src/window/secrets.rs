//! *Secrets*: how many were hidden, by family and place. The secrets themselves are nowhere.

use anyhow::Result;
use maud::{Markup, html};

use super::frame::{Page, table};
use super::text::plain;
use crate::service::hidden_secrets::count_hidden;
use crate::service::persons_secrets::persons_secrets;
use crate::wiring::Daybook;

/// Lines of own files that are named.
const LINES: usize = 200;

/// The page.
pub(crate) async fn page(daybook: &Daybook) -> Result<Page> {
    let hidden = count_hidden(daybook).await?;
    let own = persons_secrets(daybook).await?;
    let rows: Vec<Vec<Markup>> = hidden
        .iter()
        .flat_map(|(family, found)| {
            found.places.iter().map(move |(place, n)| {
                let family = html! { (plain(family)) @if found.different > 0 { " " span.quiet { (found.different) " different" } } };
                vec![family, html! { (place) }, html! { (n) }]
            })
        })
        .collect();
    let body = html! {
        @if rows.is_empty() { p { "None was met." } }
        @else { (table("Hidden before anything was written", &["Family", "Where", "Times"], &rows)) }
        @if !own.is_empty() {
            h2 { "In your own files" }
            p.quiet { "Daybook does not change what you wrote. Agents are not shown these lines." }
            ul.entries { @for one in own.iter().take(LINES) { li { (plain(&one.file)) ":" (one.line) " · " (plain(&one.rule)) } } }
        }
    };
    Ok(Page::new("secrets", "Secrets", body))
}
