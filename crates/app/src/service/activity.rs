//! What moves in a memory: work, spending, what waits for a person, and what was learned last.
//!
//! Not here: rendering.

use anyhow::Result;
use daybook_domain::Session;
use daybook_domain::calendar::Day;
use daybook_domain::page::read_first;
use daybook_domain::spend::SpendBy;
use serde::Serialize;

use crate::service::job_list::{JobList, list_jobs};
use crate::service::overview::Coverage;
use crate::service::spending::{SpendAnswer, SpendReport};
use crate::service::troubles::find_troubles;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Jobs that are listed.
const JOBS: usize = 200;
/// Sessions, the latest first, and what each of them taught.
const SESSIONS: usize = 5;
const TAUGHT: usize = 3;

/// A look at a memory.
#[derive(Serialize)]
pub(crate) struct Activity {
    /// When, RFC 3339.
    pub(crate) at: Option<String>,
    /// How far sessions have been learned from.
    pub(crate) sessions: Coverage,
    /// Work that is not done, and what was given up.
    #[serde(flatten)]
    pub(crate) work: JobList,
    /// Calls of models this month, by model, and the caps.
    pub(crate) spend: SpendAnswer,
    /// Their cost today.
    pub(crate) spent_today: String,
    /// What went wrong and waits, in one line each.
    pub(crate) troubles: Vec<String>,
    /// The latest sessions with what they taught.
    pub(crate) learned: Vec<LearnedSession>,
}

/// A session with the latest of what it taught.
#[derive(Serialize)]
pub(crate) struct LearnedSession {
    /// The session, as `agent:id`.
    pub(crate) session: String,
    /// When its last event was, RFC 3339.
    pub(crate) last: Option<String>,
    /// What it taught.
    pub(crate) taught: Vec<String>,
}

impl Activity {
    pub(crate) async fn load(daybook: &Daybook) -> Result<Self> {
        let now = daybook.clock.now();
        let (sessions, _) = Coverage::load(daybook).await?;
        let spend = SpendReport::load(daybook, SpendBy::Model, None).await?;
        let today = SpendReport::load(daybook, SpendBy::Day, Some(Day::of(now).begins())).await?;
        Ok(Self {
            at: rfc3339(now),
            sessions,
            work: list_jobs(daybook, false, None, JOBS).await?,
            spend: spend.answer(daybook),
            spent_today: today.all.money.to_string(),
            troubles: find_troubles(daybook).await?,
            learned: learned(daybook).await?,
        })
    }
}

async fn learned(daybook: &Daybook) -> Result<Vec<LearnedSession>> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let sessions = read_first(SESSIONS, |page| store.sessions(tenant, page)).await?;
    let mut learned = Vec::new();
    for session in &sessions {
        learned.push(LearnedSession {
            session: session.id.to_string(),
            last: rfc3339(session.last_at),
            taught: latest_taught(daybook, session, TAUGHT).await?,
        });
    }
    Ok(learned)
}

/// The latest of what a session taught.
pub(crate) async fn latest_taught(
    daybook: &Daybook,
    session: &Session,
    most: usize,
) -> Result<Vec<String>> {
    let texts = daybook.store.session_texts(&session.id).await?;
    let mut words: Vec<String> = texts.evidence.into_iter().map(|one| one.text).collect();
    words.dedup();
    words.truncate(most);
    Ok(words)
}
