//! *Sessions*: transcripts as a person reads them, with what each part taught, and what was left out.

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::page::read_first;
use daybook_domain::{Event, EventSeq, Observation, Origin, Reach, Session, Timestamp};
use maud::{Markup, html};

use super::chart::bars;
use super::frame::{FormProof, Page, more};
use super::text::plain;
use super::why::block;
use super::{files, links};
use crate::service::sessions::{page_of_sessions, parse_id, state};
use crate::service::show::byline;
use crate::service::{RequestError, format_time};
use crate::wiring::Daybook;

/// Sessions and events on one page, and most bytes of these events.
const SESSIONS: usize = 50;
const EVENTS: usize = 60;
const BYTES: usize = 120 * 1024;
/// The agent of the session that holds a person's own notes.
const NOTES: &str = "daybook";
/// Sessions that the chart counts.
const CHARTED: usize = 500;
/// Milliseconds of a week.
const WEEK: i64 = 7 * 24 * 60 * 60 * 1000;
/// Observations of a session that are shown.
const TAUGHT: usize = 60;

/// One line about a session: what it was about, how it ended, and when.
pub(super) async fn session_row(daybook: &Daybook, session: &Session) -> Result<Markup> {
    let id = session.id.to_string();
    let extractions = daybook.store.extractions_of(&session.id).await?;
    let digests = extractions
        .iter()
        .rev()
        .filter_map(|one| one.digest.as_ref());
    let digest = digests
        .clone()
        .find(|digest| digest.title.is_some() || digest.task.is_some());
    let title = digest.and_then(|digest| digest.title.as_ref().or(digest.task.as_ref()));
    let outcome = digests.clone().find_map(|digest| digest.outcome);
    let branch = digests.clone().find_map(|digest| digest.branch.clone());
    let at = format_time(daybook, session.last_at, "%-d %b %Y %H:%M");
    let title = match title {
        Some(title) => super::text::cut(&title.text, 160),
        None if session.id.agent == NOTES => "notes of yours".to_owned(),
        None => "without a task".to_owned(),
    };
    Ok(html! {
        a href=(links::page("session", &[("id", &id)])) { (plain(&title)) }
        br; span.quiet {
            @if let Some(at) = at { (at) " · " }
            (plain(&session.id.agent)) " · " (plain(&session.label))
            @if let Some(branch) = branch { " · " (plain(&branch)) }
            @if let Some(outcome) = outcome { " · " (outcome.as_str()) }
        }
    })
}

/// All sessions, newest activity first.
pub(crate) async fn page(daybook: &Daybook, after: Option<&str>) -> Result<Page> {
    let (sessions, next) = page_of_sessions(daybook, &Reach::Everything, after, SESSIONS).await?;
    let (mut rows, switches) = (Vec::new(), daybook.switches());
    for (session, job) in &sessions {
        let state = state(session, job.as_ref(), &switches);
        rows.push((session_row(daybook, session).await?, state));
    }
    let weeks = match after {
        None => weeks(daybook).await?,
        Some(_) => Vec::new(),
    };
    let body = html! {
        @if rows.is_empty() { p { "No session is known yet." } }
        @if weeks.len() > 1 { (bars("Sessions by week", &weeks, "sessions")) }
        ul.entries { @for (row, state) in rows { li { (row) " " span.quiet { "· " (plain(&state)) } } } }
        (more(next.map(|next| links::page("sessions", &[("after", &next)]))))
    };
    Ok(Page::new("sessions", "Sessions", body).live())
}

/// How many of the latest sessions were in each week, from the first to the last.
async fn weeks(daybook: &Daybook) -> Result<Vec<(String, f64)>> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let sessions = read_first(CHARTED, |page| store.sessions(tenant, page)).await?;
    let mut counts: BTreeMap<i64, u32> = BTreeMap::new();
    for session in sessions.iter().filter(|one| one.last_at.0 > 0) {
        *counts.entry(session.last_at.0 / WEEK).or_default() += 1;
    }
    let (Some((first, _)), Some((last, _))) = (counts.first_key_value(), counts.last_key_value())
    else {
        return Ok(Vec::new());
    };
    // A session of years ago does not make the others invisible.
    let first = (*first).max(last - 52);
    let week = |n: i64| {
        let day = format_time(daybook, Timestamp(n * WEEK), "%-d %b %Y").unwrap_or_default();
        (day, f64::from(counts.get(&n).copied().unwrap_or_default()))
    };
    Ok((first..=*last).map(week).collect())
}

/// The session with this id or label.
pub(crate) async fn find(daybook: &Daybook, name: &str) -> Result<Session> {
    if name.is_empty() {
        return Err(files::needed("a session"));
    }
    if let Some(id) = parse_id(daybook, name)
        && let Some(session) = daybook.store.session(&id).await?
    {
        return Ok(session);
    }
    let id = name.split_once(':').map_or(name, |(_, id)| id);
    let found = daybook.store.find_sessions(&daybook.tenant, id).await?;
    let mut fitting = found
        .into_iter()
        .filter(|one| one.id.to_string() == name || one.label == name || one.id.host_id == name);
    match (fitting.next(), fitting.next()) {
        (Some(session), None) => Ok(session),
        (Some(_), Some(_)) => {
            Err(RequestError::Invalid(format!("several sessions are called {name}")).into())
        }
        (None, _) => Err(RequestError::NotFound(format!("no session is called {name}")).into()),
    }
}

/// One session: a page of its events after `after`.
pub(crate) async fn session_page(
    daybook: &Daybook,
    name: &str,
    after: u64,
    proof: &FormProof,
) -> Result<Page> {
    let session = find(daybook, name).await?;
    let id = session.id.to_string();
    let store = &daybook.store;
    let events = store
        .events(&session.id, EventSeq(after), session.events, EVENTS, BYTES)
        .await?;
    let taught = taught(daybook, &session).await?;
    let job = store
        .job(&daybook_domain::JobKey::Extract(session.id.clone()))
        .await?;
    let how_far = state(&session, job.as_ref(), &daybook.switches());
    let last = events
        .last()
        .map(|event| event.seq.0)
        .filter(|last| *last < session.events.0);
    let body = html! {
        p.quiet { (plain(&id)) " · " (session.events.0) " events · " (plain(&how_far))
            @if let Some(user) = &session.user { " · words of " (plain(user)) } }
        (switches(&session, &id, proof))
        @if after == 0 { (taught_list(&taught)) }
        h2 { "What was said" }
        @for event in &events { (event_markup(daybook, &session, event, &taught)) }
        @if events.is_empty() { p { "Nothing more." } }
        (more(last.map(|last| links::page("session", &[("id", &id), ("after", &last.to_string())]))))
    };
    Ok(Page::new(
        "sessions",
        format!("Session {}", session.label),
        body,
    ))
}

fn switches(session: &Session, id: &str, proof: &FormProof) -> Markup {
    let is_off = session.switched_off;
    html! {
        div.row {
            form.inline method="post" action=(links::page("session-memory", &[])) {
                (proof.field())
                input type="hidden" name="id" value=(id);
                input type="hidden" name="memory" value=(if is_off { "on" } else { "off" });
                button type="submit" { (if is_off { "Learn from this again" } else { "Never learn from this" }) }
            }
            details {
                summary { "Remove it for good" }
                form method="post" action=(links::page("purge-session", &[])) {
                    (proof.field())
                    input type="hidden" name="id" value=(id);
                    label for="sure" { "All its words, and what rests on them alone, are removed from every file and past state. Write " b { (plain(&session.label)) } " to do it:" }
                    p.row { input #sure name="sure" required autocomplete="off"; button type="submit" { "Remove" } }
                }
            }
        }
    }
}

/// The observations of a session with the lines that they rest on, by line.
type Taught = BTreeMap<u32, Vec<Observation>>;

async fn taught(daybook: &Daybook, session: &Session) -> Result<Taught> {
    let mut by_line: Taught = BTreeMap::new();
    let texts = daybook.store.session_texts(&session.id).await?;
    let mut seen = std::collections::BTreeSet::new();
    for evidence in texts.evidence.into_iter().take(TAUGHT) {
        if !seen.insert((evidence.scope.clone(), evidence.id)) {
            continue;
        }
        let Some(known) = daybook
            .store
            .known_observation(&evidence.scope, evidence.id)
            .await?
        else {
            continue;
        };
        let of_session = known
            .0
            .evidence
            .iter()
            .filter(|one| one.session == session.id);
        let line = of_session.filter_map(|one| one.lines.last()).max();
        by_line
            .entry(line.copied().unwrap_or_default())
            .or_default()
            .push(known.0.clone());
    }
    Ok(by_line)
}

/// The kind of an observation, in words.
fn kind(one: &Observation) -> String {
    one.kind.as_str().replace('_', " ")
}

fn taught_list(taught: &Taught) -> Markup {
    html! {
        h2 { "What it taught" }
        @if taught.is_empty() { p { "Nothing: it had nothing worth keeping, or was not learned from yet." } }
        ul.entries {
            @for (line, observations) in taught {
                @for one in observations {
                    li { (plain(&one.text)) " " span.quiet { (kind(one)) " · " a href=(format!("#L{line}")) { "L" (line) } } }
                }
            }
        }
    }
}

fn event_markup(daybook: &Daybook, session: &Session, event: &Event, taught: &Taught) -> Markup {
    let is_passed = session
        .passed
        .iter()
        .any(|(from, to)| (*from..=*to).contains(&event.seq.0));
    html! {
        div.event.human[event.origin == Origin::Human] id=(format!("L{}", event.line)) {
            p.quiet { (plain(&byline(daybook, event)))
                @if let Some(why) = left_out(event) { " · " (why) }
                @if is_passed { " · never learned from: memory was switched off" } }
            @if is_short(event) { (block(&event.text)) }
            @else { details { summary { "Show " (event.text.len()) " bytes" } (block(&event.text)) } }
            @for one in taught.get(&event.line).into_iter().flatten() {
                div.taught { span.quiet { "taught · " (kind(one)) " · " } (plain(&one.text)) }
            }
        }
    }
}

/// Why nothing is learned from an event of itself.
fn left_out(event: &Event) -> Option<&'static str> {
    match event.origin {
        Origin::Harness => Some("written by the host, nobody's words"),
        Origin::Synthetic => Some("made up by the host for the agent, nobody's words"),
        Origin::Recalled => Some("memory that was shown to the agent, not learned again"),
        Origin::Human
        | Origin::Assistant
        | Origin::ToolCall
        | Origin::ToolResult
        | Origin::Retraction => None,
    }
}

/// Whether an event is shown open: what people and agents say is, what tools print is not.
fn is_short(event: &Event) -> bool {
    matches!(event.origin, Origin::Human | Origin::Assistant) || event.text.len() < 300
}
