//! The account of a session: the fold of its windows' digests.

use daybook_domain::extraction::{CitedText, OutcomeFacts};
use daybook_domain::{ExtractionRecord, HabitualRequest, Outcome, SessionId, Timestamp};
use daybook_text::fence::without_citations;

/// The account of one session, over all its windows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionAccount {
    /// The session.
    pub session: SessionId,
    /// Its label in citations.
    pub label: String,
    /// The person's first request.
    pub task: Option<CitedText>,
    /// What the work is called, by the newest accepted plan or pull request.
    pub title: Option<CitedText>,
    /// The outcome of the work.
    pub outcome: Outcome,
    /// The person's last message that asks for something.
    pub last_words: Option<CitedText>,
    /// That message was answered.
    pub answered: bool,
    /// The agent's last question, if it is unanswered.
    pub open_question: Option<CitedText>,
    /// The facts that determine the outcome, where the windows have them.
    pub course: Option<OutcomeFacts>,
    /// Number of commits made.
    pub commits: u32,
    /// Number of commits pushed.
    pub pushed: u32,
    /// The subjects of commits, in order.
    pub committed: Vec<CitedText>,
    /// Highlights, in order.
    pub highlights: Vec<CitedText>,
    /// Requests for something habitual, in order.
    pub habits: Vec<HabitualRequest>,
    /// The branch at the end.
    pub branch: Option<String>,
    /// Time of the first dated event.
    pub from_at: Timestamp,
    /// Time of the last dated event.
    pub to_at: Timestamp,
    /// A model's summary of the session, of the newest window that has one.
    pub summary: Option<String>,
    /// A few words for its file's name; the first window's, so that the file keeps its name.
    pub slug: Option<String>,
    /// The windows' notes for consolidation, oldest first.
    pub raw_memory: Vec<String>,
}

/// Accounts of all sessions with a digest, oldest first, then by label.
pub(crate) fn accounts(extractions: &[ExtractionRecord]) -> Vec<SessionAccount> {
    take_accounts(&mut extractions.to_vec())
}

/// [`accounts`], which takes the digests out of the extractions.
pub(super) fn take_accounts(extractions: &mut [ExtractionRecord]) -> Vec<SessionAccount> {
    let mut ordered: Vec<&mut ExtractionRecord> = extractions.iter_mut().collect();
    ordered.sort_by(|a, b| (&a.session, a.from).cmp(&(&b.session, b.from)));
    let mut accounts: Vec<SessionAccount> = Vec::new();
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

fn first_window(record: &mut ExtractionRecord) -> Option<SessionAccount> {
    let digest = record.digest.take()?;
    if digest.task.is_none() && digest.course.is_some() {
        // A window before the first request holds no work.
        return None;
    }
    Some(SessionAccount {
        session: record.session.clone(),
        label: record.label.clone(),
        task: digest.task,
        title: digest.title,
        outcome: digest.outcome.unwrap_or(Outcome::Uncertain),
        last_words: digest.last_words,
        answered: digest.answered,
        open_question: digest.open_question,
        course: digest.course,
        commits: digest.commits,
        pushed: digest.pushed,
        committed: digest.committed,
        highlights: digest.highlights,
        habits: digest.habits,
        branch: digest.branch.map(uncited),
        from_at: digest.from_at,
        to_at: digest.to_at,
        summary: digest.summary,
        slug: digest.slug,
        raw_memory: digest.raw_memory.into_iter().collect(),
    })
}

fn next_window(account: &mut SessionAccount, record: &mut ExtractionRecord) {
    let Some(digest) = record.digest.take() else {
        return;
    };
    account.task = account.task.take().or(digest.task);
    account.title = digest.title.or_else(|| account.title.take());
    if digest.course.as_ref().is_some_and(|course| course.spoken) {
        account.answered = account.last_words.is_some();
        account.open_question = None;
    }
    if digest.last_words.is_some() {
        account.last_words = digest.last_words;
        account.answered = digest.answered;
        account.open_question = digest.open_question;
    }
    let pushes = digest.course.as_ref().is_none_or(|course| course.pushes);
    account.pushed = match (&account.course, &digest.course) {
        // A push includes the commits of earlier windows.
        (Some(_), Some(_)) if pushes => account.commits + digest.pushed,
        (Some(_), Some(_)) => account.pushed,
        _ => account.pushed + digest.pushed,
    };
    account.commits += digest.commits;
    account.committed.extend(digest.committed);
    account.course = match (account.course.take(), digest.course) {
        (Some(before), Some(next)) => Some(before.then(&next, digest.commits)),
        (_, next) => next,
    };
    account.outcome = match &account.course {
        Some(course) => course.outcome(account.commits),
        None => digest.outcome.unwrap_or(account.outcome),
    };
    account.highlights.extend(digest.highlights);
    account.habits.extend(digest.habits);
    if digest.root.is_some() {
        account.branch = digest.branch.map(uncited).or_else(|| account.branch.take());
    }
    if account.from_at == Timestamp::ZERO {
        account.from_at = digest.from_at;
    }
    account.to_at = account.to_at.max(digest.to_at);
    account.summary = digest.summary.or_else(|| account.summary.take());
    account.slug = account.slug.take().or(digest.slug);
    account.raw_memory.extend(digest.raw_memory);
}

/// A name that cites nothing.
fn uncited(name: String) -> String {
    without_citations(&name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use daybook_domain::{Digest, EventSeq, Provenance};

    fn window(from: u64, digest: Digest) -> ExtractionRecord {
        ExtractionRecord {
            session: daybook_testkit::fixtures::session("7f78aa01"),
            label: "7f78".to_owned(),
            from: EventSeq(from),
            to: EventSeq(from + 9),
            digest: Some(digest),
            provenance: Provenance::of("extract/1 test/model"),
            at: Timestamp::ZERO,
        }
    }

    #[test]
    fn the_newest_summary_tells_the_session_and_its_first_slug_names_it() {
        let some = |text: &str| Some(text.to_owned());
        let digest = |summary, slug, raw_memory| Digest {
            summary,
            slug,
            raw_memory,
            ..Digest::default()
        };
        let accounts = accounts(&[
            window(11, digest(some("second"), some("other"), some("b"))),
            window(1, digest(some("first"), some("the-limit"), some("a"))),
            window(21, Digest::default()),
        ]);
        assert_eq!(accounts.len(), 1);
        assert_eq!(accounts[0].summary.as_deref(), Some("second"));
        assert_eq!(accounts[0].slug.as_deref(), Some("the-limit"));
        assert_eq!(accounts[0].raw_memory, ["a", "b"]);
    }
}
