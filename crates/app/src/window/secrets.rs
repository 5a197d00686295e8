//! *Secrets*: how many were hidden, by file, by family and by place. The secrets themselves are nowhere.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::page::visit_all;
use daybook_domain::source::TranscriptSource;
use maud::{Markup, html};

use super::frame::{Page, table};
use super::links;
use super::text::plain;
use crate::service::hidden_secrets::count_hidden;
use crate::service::persons_secrets::persons_secrets;
use crate::terminal::output::count;
use crate::wiring::Daybook;

/// Transcripts, and lines of own files, that are named.
const FILES: usize = 20;
const LINES: usize = 200;
/// The name of the page that counts every event.
pub(crate) const BY_FAMILY: &str = "family";

/// The page: what imports have hidden, or with [`BY_FAMILY`] everything that is stored, which reads every event.
pub(crate) async fn page(daybook: &Daybook, by: &str) -> Result<Page> {
    let body = match by {
        BY_FAMILY => by_family(daybook).await?,
        _ => by_file(daybook).await?,
    };
    Ok(Page::new("secrets", "Secrets", body))
}

async fn by_file(daybook: &Daybook) -> Result<Markup> {
    let mut formats: BTreeMap<String, u64> = BTreeMap::new();
    let mut files: Vec<(u32, String)> = Vec::new();
    let add = |source: TranscriptSource| {
        *formats.entry(source.format).or_default() += u64::from(source.secrets);
        files.push((source.secrets, source.path));
    };
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    visit_all(|page| store.sources_with_secrets(tenant, page), add).await?;
    let all: u64 = formats.values().sum();
    let with_some = files.len();
    files.sort_by_key(|(n, path)| (Reverse(*n), path.clone()));
    let of_format = formats
        .iter()
        .map(|(format, n)| vec![html! { (plain(format)) }, html! { (n) }]);
    let of_file = files
        .iter()
        .take(FILES)
        .map(|(n, path)| vec![html! { (plain(path)) }, html! { (n) }]);
    Ok(html! {
        p { @if all == 0 { "No import met a secret." } @else {
            (count(all, "secret")) " in " (count(with_some as u64, "transcript")) ", hidden before anything was written." } }
        p { a href=(links::page("secrets", &[("by", BY_FAMILY)])) { "Count by family and place, and look through your own files" }
            span.quiet { " (reads every event)" } }
        @if all > 0 {
            (table("By the agent that wrote the transcript", &["Format", "Times"], &of_format.collect::<Vec<_>>()))
            (table("The transcripts with most", &["Transcript", "Times"], &of_file.collect::<Vec<_>>()))
        }
    })
}

async fn by_family(daybook: &Daybook) -> Result<Markup> {
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
    Ok(html! {
        @if rows.is_empty() { p { "None was met." } }
        @else { (table("Hidden before anything was written", &["Family", "Where", "Times"], &rows)) }
        @if !own.is_empty() {
            h2 { "In your own files" }
            p.quiet { "Daybook does not change what you wrote. Agents are not shown these lines." }
            ul.entries { @for one in own.iter().take(LINES) { li { (plain(&one.file)) ":" (one.line) " · " (plain(&one.rule)) } } }
        }
    })
}
