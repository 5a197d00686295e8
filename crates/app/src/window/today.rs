//! *Today*: what was learned lately and from which sessions, what is open, and what waits for a person.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use daybook_domain::page::{read_all, read_first};
use daybook_domain::quarantine::QuarantinedObservation;
use daybook_domain::{Evidence, Scope, Session, Timestamp};
use daybook_engine::consolidate::LEFT_OFF;
use daybook_engine::files::layout::{CURATED, folder};
use daybook_engine::files::path::FilePath;
use daybook_engine::jobs::memories::{ShownLine, lines_of};
use daybook_engine::jobs::quarantine;
use maud::{Markup, html};

use super::chart::bars;
use super::files::file_text;
use super::frame::{FormProof, Page};
use super::links;
use super::sessions::session_row;
use super::text::{cited, own_words, plain};
use crate::service::activity::latest_taught;
use crate::service::format_time;
use crate::service::history::hidden;
use crate::service::troubles::find_troubles;
use crate::wiring::Daybook;

/// Memories that are opened, the latest changed first.
const SCOPES: usize = 4;
/// Open ends of each.
const OPEN: usize = 4;
/// Sessions, the latest first.
const SESSIONS: usize = 10;
/// What each of them taught.
const TAUGHT: usize = 3;
/// Suggestions that wait, of all that do.
const WAITING: usize = 8;
/// The weeks of the chart.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const WEEKS: i64 = 52;

/// The first page.
pub(crate) async fn page(daybook: &Daybook, proof: &FormProof) -> Result<Page> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let waiting = quarantine::waiting(&**store, tenant).await?;
    let sessions = read_first(SESSIONS, |page| store.sessions(tenant, page)).await?;
    let scopes = latest_scopes(daybook).await?;
    let troubles = find_troubles(daybook).await?;
    let weeks = learned_by_week(daybook, &sessions).await?;
    let body = html! {
        @if sessions.is_empty() && scopes.is_empty() { (nothing_yet()) }
        @if !troubles.is_empty() {
            h2 { "Waits for you" }
            ul.entries { @for line in &troubles { li.warn { (plain(line)) } } }
        }
        @if !waiting.is_empty() { (to_decide(&waiting, proof)) }
        @for scope in &scopes { (scope_section(daybook, scope)) }
        @if !sessions.is_empty() { (latest_sessions(daybook, &sessions).await?) }
        @if weeks.len() > 1 { (bars("Learned or confirmed, by week", &weeks, "things")) }
    };
    Ok(Page::new("", "Today", body).live())
}

/// How much was learned in each of the weeks that end with the latest session.
async fn learned_by_week(daybook: &Daybook, sessions: &[Session]) -> Result<Vec<(String, f64)>> {
    let Some(latest) = sessions.iter().map(|session| session.last_at).max() else {
        return Ok(Vec::new());
    };
    let week = WEEK.as_millis() as i64;
    let last = latest.0 / week;
    let from = Timestamp((last - WEEKS + 1).max(1) * week);
    let learned = daybook.store.learned_by_span(&daybook.tenant, from, WEEK);
    let learned: BTreeMap<i64, u64> = learned
        .await?
        .into_iter()
        .map(|(at, n)| (at.0 / week, n))
        .collect();
    let first = learned.first_key_value().map_or(last, |(first, _)| *first);
    let named = (first..=last).map(|n| {
        let day = format_time(daybook, Timestamp(n * week), "%-d %b %Y").unwrap_or_default();
        (day, learned.get(&n).copied().unwrap_or_default() as f64)
    });
    Ok(named.collect())
}

fn nothing_yet() -> Markup {
    html! {
        p { "Nothing was learned yet." }
        p { "In a terminal " code { "daybook import" } " finds the sessions of the agents on this machine, and "
            code { "daybook import --sample" } " shows what comes of it." }
    }
}

/// What waits in quarantine, each to be accepted or rejected.
fn to_decide(waiting: &[QuarantinedObservation], proof: &FormProof) -> Markup {
    html! {
        h2 { "Is this true? (" (waiting.len()) ")" }
        p.quiet { "Learned from text that you did not write. It is no part of your memory until you accept it." }
        ul.entries {
            @for one in waiting.iter().take(WAITING) {
                li {
                    (plain(&hidden(&one.observation.text)))
                    " " span.quiet { (plain(one.reason.as_str())) }
                    @if let Some(first) = one.observation.evidence.first() { " " (super::text::citation(&cite(first))) }
                    div.row {
                        @for (answer, label) in [("accept", "Accept"), ("reject", "Reject")] {
                            form.inline method="post" action=(links::page("quarantine", &[])) {
                                (proof.field())
                                input type="hidden" name="id" value=(one.observation.id.to_string());
                                input type="hidden" name="answer" value=(answer);
                                button type="submit" { (label) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `7f78:L382`
fn cite(evidence: &Evidence) -> String {
    let line = evidence.lines.first();
    line.map_or_else(
        || evidence.label.clone(),
        |line| format!("{}:L{line}", evidence.label),
    )
}

/// The scopes whose memory file changed last.
async fn latest_scopes(daybook: &Daybook) -> Result<Vec<Scope>> {
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let dated = known.into_iter().filter_map(|state| {
        let file = folder(&daybook.root, &state.scope).join(CURATED);
        Some((changed(&file)?, state.observations, state.scope))
    });
    let mut dated: Vec<(u64, u64, Scope)> = dated.collect();
    dated.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.2.cmp(&b.2)));
    dated.truncate(SCOPES);
    Ok(dated.into_iter().map(|(.., scope)| scope).collect())
}

/// The hour in which a file changed: of those that one import wrote, the largest memory comes first.
fn changed(file: &Path) -> Option<u64> {
    let at = file.metadata().ok()?.modified().ok()?;
    Some(at.duration_since(UNIX_EPOCH).ok()?.as_secs() / 3600)
}

/// What is open in a memory, and the way to the rest of it.
fn scope_section(daybook: &Daybook, scope: &Scope) -> Markup {
    let name = scope.to_string();
    let open = open_ends(daybook, scope);
    html! {
        h2 { a href=(links::file(&name, CURATED)) { (plain(&name)) } }
        @if open.is_empty() { p.quiet { "Nothing is open." } }
        ul.entries { @for line in &open { li { (cited(own_words(&line.text))) } } }
    }
}

fn open_ends(daybook: &Daybook, scope: &Scope) -> Vec<ShownLine> {
    let Ok(file) = FilePath::new(CURATED) else {
        return Vec::new();
    };
    let text = file_text(daybook, scope, &file).unwrap_or_default();
    let heading = format!("## {LEFT_OFF}");
    let lines = text.lines().enumerate();
    let mut lines = lines.skip_while(|(_, line)| !line.starts_with(&heading));
    let Some((first, _)) = lines.next() else {
        return Vec::new();
    };
    let last = lines.find(|(_, line)| line.starts_with("## "));
    let last = last.map_or(usize::MAX, |(n, _)| n + 1);
    let shown = lines_of(&file, &text).into_iter();
    let shown = shown.filter(|shown| shown.line > first && shown.line < last);
    shown.take(OPEN).collect()
}

async fn latest_sessions(daybook: &Daybook, sessions: &[Session]) -> Result<Markup> {
    let mut rows = Vec::new();
    for session in sessions {
        let row = session_row(daybook, session).await?;
        rows.push((row, latest_taught(daybook, session, TAUGHT).await?));
    }
    Ok(html! {
        h2 { "What the latest sessions taught" }
        ul.entries {
            @for (row, taught) in rows {
                li { (row)
                    @for words in taught { div.taught { (plain(&words)) } } }
            }
        }
        p { a href=(links::page("sessions", &[])) { "All sessions" } }
    })
}
