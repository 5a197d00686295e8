//! The diary and the pages of sessions, which are rendered where their text is needed.
//!
//! A scope has thousands of these pages, and one more session changes two of them. Each has a number of what it is
//! rendered from, by which a writer knows it again, so that only pages that changed are rendered.
//!
//! Not here: what a page shows (`session_page`), which page stays as it is (`files::settled_pages`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use daybook_domain::{EventId, SessionId};
use jiff::tz::TimeZone;

use super::by_session::PlacesBySession;
use super::merge::MergedObservation;
use super::number::number_of;
use super::session_account::SessionAccount;
use super::session_page::{
    ForgottenEvents, SessionSource, date_and_hours, diary_entry, forgotten_events, session_page,
};
use super::{MemoryInput, MemoryPage, keep_lines_whole};

/// Most characters of a session's slug.
const SLUG: usize = 48;
/// Most sessions with pages of their own, the latest: a commit names each file of a folder, and a folder has a bound. Older
/// ones are in the diary, and what they taught is found as before.
const SESSION_PAGES: usize = 10_000;
/// Raised when the same source is rendered in another way, so that the pages that an older engine wrote are rendered once
/// more.
const RENDERING: u8 = 1;

/// The pages of a scope's sessions and days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedPages {
    title: String,
    observations: Vec<MergedObservation>,
    forgotten: ForgottenEvents,
    sessions: Vec<DatedSession>,
    /// The sessions of each day, by their places.
    days: BTreeMap<String, Vec<usize>>,
    /// The sessions that have pages of their own, by the names of these.
    names: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DatedSession {
    account: SessionAccount,
    /// The places of the observations with evidence in it.
    observations: Vec<u32>,
    /// The day on which it began.
    date: String,
    /// The hours at which it began and ended.
    hours: String,
    /// The number of its source.
    source: u128,
}

/// One page of them.
#[derive(Debug, Clone, Copy)]
pub struct DatedPage<'a> {
    pages: &'a DatedPages,
    content: DatedContent<'a>,
}

#[derive(Debug, Clone, Copy)]
enum DatedContent<'a> {
    Day(&'a str, &'a [usize]),
    Session(&'a DatedSession),
}

/// A page as a writer gets it: made already, or rendered where its text is needed.
#[derive(Debug, Clone, Copy)]
pub enum PlannedPage<'a> {
    /// A page that is made anew by each consolidation.
    Made(&'a MemoryPage),
    /// A page of a session or a day.
    Dated(DatedPage<'a>),
}

impl<'a> PlannedPage<'a> {
    /// The page itself.
    #[must_use]
    pub fn page(self) -> Cow<'a, MemoryPage> {
        match self {
            Self::Made(page) => Cow::Borrowed(page),
            Self::Dated(page) => Cow::Owned(page.render()),
        }
    }

    /// The number of what decides its text: pages with the same number are the same.
    #[must_use]
    pub fn number(self) -> u128 {
        match self {
            Self::Made(page) => number_of(page),
            Self::Dated(page) => page.number(),
        }
    }
}

impl DatedPages {
    pub(super) fn new(
        input: &MemoryInput,
        accounts: Vec<SessionAccount>,
        observations: Vec<MergedObservation>,
    ) -> Self {
        let mut places = PlacesBySession::new(&observations);
        let places = accounts.iter().map(|account| places.take(&account.session));
        let places: Vec<Vec<u32>> = places.collect();
        let mut pages = Self {
            title: input.title.clone(),
            observations,
            forgotten: forgotten_events(&input.persons),
            sessions: Vec::with_capacity(accounts.len()),
            days: BTreeMap::new(),
            names: BTreeMap::new(),
        };
        // They are in the order of time.
        let without_page = accounts.len().saturating_sub(SESSION_PAGES);
        for (n, (account, places)) in accounts.into_iter().zip(places).enumerate() {
            let place = pages.add_session(&input.zone, account, places);
            if n >= without_page {
                pages.name_page(place);
            }
        }
        pages
    }

    /// Adds a session to its day. Returns its place.
    fn add_session(
        &mut self,
        zone: &TimeZone,
        account: SessionAccount,
        observations: Vec<u32>,
    ) -> usize {
        let (date, hours) = date_and_hours(&account, zone);
        let mut session = DatedSession {
            account,
            observations,
            date,
            hours,
            source: 0,
        };
        session.source = number_of(&self.source_of(&session));
        let place = self.sessions.len();
        match self.days.get_mut(&session.date) {
            Some(sessions) => sessions.push(place),
            None => drop(self.days.insert(session.date.clone(), vec![place])),
        }
        self.sessions.push(session);
        place
    }

    /// Gives a session a page of its own.
    fn name_page(&mut self, place: usize) {
        let session = &self.sessions[place];
        let mut name = file_name(session);
        if self.names.contains_key(&name) {
            // Another task and label can give the same words.
            let SessionId { agent, host_id, .. } = &session.account.session;
            let print = EventId::of(&[agent.as_bytes(), host_id.as_bytes()]).0;
            name = format!("{name}~{print:032x}");
        }
        self.names.insert(name, place);
    }

    fn source_of<'a>(&'a self, session: &'a DatedSession) -> SessionSource<'a> {
        let places = session.observations.iter();
        SessionSource::new(
            &session.account,
            (&session.date, &session.hours),
            places.map(|place| &self.observations[*place as usize]),
            &self.forgotten,
        )
    }

    /// `daily/<date>.md`: one entry per session, on the day it began. By name.
    pub fn days(&self) -> impl Iterator<Item = (&str, PlannedPage<'_>)> {
        let days = self.days.iter();
        days.map(|(day, sessions)| (day.as_str(), self.page(DatedContent::Day(day, sessions))))
    }

    /// `sessions/<date>-<slug>.md`: one page for each of the latest sessions. By name.
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = (&str, PlannedPage<'_>)> {
        let names = self.names.iter();
        names.map(|(name, place)| {
            let session = DatedContent::Session(&self.sessions[*place]);
            (name.as_str(), self.page(session))
        })
    }

    fn page<'a>(&'a self, content: DatedContent<'a>) -> PlannedPage<'a> {
        let pages = self;
        PlannedPage::Dated(DatedPage { pages, content })
    }

    /// Leaves sessions to the diary: they have other files.
    pub fn drop_session_pages(&mut self) {
        self.names.clear();
    }

    /// The number of all sessions.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there is no session.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }
}

impl DatedPage<'_> {
    fn number(self) -> u128 {
        match self.content {
            DatedContent::Session(session) => number_of(&(RENDERING, session.source)),
            DatedContent::Day(day, places) => {
                let sources = places
                    .iter()
                    .map(|place| self.pages.sessions[*place].source);
                let sources: Vec<u128> = sources.collect();
                number_of(&(RENDERING, &self.pages.title, day, sources))
            }
        }
    }

    fn render(self) -> MemoryPage {
        let pages = self.pages;
        let mut page = match self.content {
            DatedContent::Session(session) => session_page(&pages.source_of(session)),
            DatedContent::Day(day, places) => {
                let sessions = places.iter().map(|place| &pages.sessions[*place]);
                let entries = sessions.map(|session| diary_entry(&pages.source_of(session)));
                MemoryPage::without_titles(format!("{} · {day}", pages.title), entries.collect())
            }
        };
        keep_lines_whole(&mut page);
        page
    }
}

fn file_name(session: &DatedSession) -> String {
    let DatedSession { account, date, .. } = session;
    let words = account.slug.as_deref();
    let words = words.or(account.task.as_ref().map(|task| task.text.as_str()));
    let slug = words.map(slug).unwrap_or_default();
    // The label keeps two sessions of one day and one task apart.
    format!(
        "{date}-{}",
        [slug.as_str(), &account.label]
            .join("-")
            .trim_start_matches('-')
    )
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        if slug.len() + word.len() + 1 > SLUG {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_lowercase());
    }
    slug
}

#[cfg(test)]
#[path = "dated_pages_tests.rs"]
mod tests;
