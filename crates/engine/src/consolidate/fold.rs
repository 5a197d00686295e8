//! A session's account: the fold of what its windows came to.

use daybook_domain::extraction::Said;
use daybook_domain::{ExtractionRecord, Outcome, SessionId, Timestamp};

/// What one session came to, over all its windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The session.
    pub session: SessionId,
    /// Its label in citations.
    pub label: String,
    /// What the person wanted.
    pub task: Option<Said>,
    /// How it ended.
    pub outcome: Outcome,
    /// The person's last words that ask for something.
    pub last_words: Option<Said>,
    /// They were answered.
    pub answered: bool,
    /// Commits made.
    pub commits: u32,
    /// How many of them were pushed.
    pub pushed: u32,
    /// What happened, in order.
    pub highlights: Vec<Said>,
    /// The branch at the end.
    pub branch: Option<String>,
    /// First dated event.
    pub from_at: Timestamp,
    /// Last dated event.
    pub to_at: Timestamp,
}

/// Accounts of all sessions that came to something, oldest first, then by label.
pub(super) fn accounts(extractions: &[ExtractionRecord]) -> Vec<Account> {
    let mut ordered: Vec<&ExtractionRecord> = extractions.iter().collect();
    ordered.sort_by(|a, b| (&a.session, a.from).cmp(&(&b.session, b.from)));
    let mut accounts: Vec<Account> = Vec::new();
    for record in ordered {
        let same = accounts
            .last()
            .is_some_and(|account| account.session == record.session);
        if !same {
            accounts.extend(first_window(record));
        } else if let Some(account) = accounts.last_mut() {
            next_window(account, record);
        }
    }
    accounts.sort_by(|a, b| (a.from_at, &a.label).cmp(&(b.from_at, &b.label)));
    accounts
}

fn first_window(record: &ExtractionRecord) -> Option<Account> {
    let digest = record.digest.clone()?;
    Some(Account {
        session: record.session.clone(),
        label: record.label.clone(),
        task: digest.task,
        outcome: digest.outcome.unwrap_or(Outcome::Uncertain),
        last_words: digest.last_words,
        answered: digest.answered,
        commits: digest.commits,
        pushed: digest.pushed,
        highlights: digest.highlights,
        branch: digest.branch,
        from_at: digest.from_at,
        to_at: digest.to_at,
    })
}

fn next_window(account: &mut Account, record: &ExtractionRecord) {
    let Some(digest) = record.digest.clone() else {
        return;
    };
    account.task = account.task.take().or(digest.task);
    account.outcome = digest.outcome.unwrap_or(account.outcome);
    if digest.last_words.is_some() {
        account.last_words = digest.last_words;
        account.answered = digest.answered;
    }
    account.commits += digest.commits;
    account.pushed += digest.pushed;
    account.highlights.extend(digest.highlights);
    account.branch = digest.branch.or_else(|| account.branch.take());
    if account.from_at == Timestamp::ZERO {
        account.from_at = digest.from_at;
    }
    account.to_at = account.to_at.max(digest.to_at);
}
