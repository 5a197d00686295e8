//! Tells what a person typed from what they pasted: mails, chats, quotations, listings, pages.
//!
//! What is pasted was written by others, so nothing in it is the person's wish, decision or statement. Marks that the
//! sender's program leaves decide: fences, marks of quotation, headers of a mail, times beside speakers. After a sentence
//! that announces a mail, a page or a review, all that follows is that. A paragraph that reads like a reviewer's comment
//! on code throughout is one (`review`). What could be either is taken for pasted.
//!
//! Not here: logs and code without a fence, which only the extraction without a model tells apart.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use crate::lazy_pattern::constant_regex;
use crate::quotation::quoted_passages;
use crate::review::{is_foreign_review, is_review};
use regex::{Regex, RegexSet};

/// Lines that begin a mail of which the rest of the message is a part.
static MAIL: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)^\s*(-{3,}\s*(original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht)|begin forwarded message|anfang der weitergeleiteten nachricht)",
    )
});

/// The same, where the line ends in a colon.
static QUOTED_MAIL: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"(?i)^\s*on .{6,80}\bwrote:\s*$",
        r"(?i)^\s*am .{6,80}\bschrieb\b.{0,60}:\s*$",
        r"(?i)^\s*le .{6,80}\ba écrit\s*:\s*$",
    ])
    .expect("the patterns are constant")
});

/// A line of a mail's header.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    let names =
        "from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|datum|gesendet|de|à|objet";
    constant_regex(&format!(r"(?i)^\s*\*{{0,2}}({names})\s?:\*{{0,2}}\s+\S"))
});

/// Lines of a chat: a time with a speaker, or a speaker in angle brackets.
static CHAT: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"^\s*[\[(]?(\d{1,4}[-./]\d{1,2}[-./]\d{1,4},?[ T])?\d{1,2}:\d{2}(:\d{2})?( ?[AaPp][Mm])?[\])]?\s*[-–]?\s*<?[\p{L}@][\p{L}\p{N}_ .@-]{0,30}>?:\s",
        r"^\s*<@?[\p{L}][\p{L}\p{N}_.-]{0,30}> \S",
        r"^\s*[\p{L}@][\p{L}\p{N}_ .@-]{0,30},? {1,4}[\[(]?(\d{1,4}[-./]\d{1,2}[-./]\d{1,4},? )?\d{1,2}:\d{2}( ?[AaPp][Mm])?[\])]?:?\s*$",
        r"^\s*[\p{L}@][\p{L}\p{N}_ .@-]{0,30} [\[(]\d{1,2}:\d{2}( ?[AaPp][Mm])?[\])]:\s",
    ])
    .expect("the patterns are constant")
});

/// A paragraph that announces another person's text.
static ANNOUNCES: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"(?i)\b(this|that|these|following|below|attached|his|her|their)\b.{0,24}\b(e-?mails?|mails?|articles?|web ?pages?|blog ?posts?|tweets?|chats?|chat logs?|conversations?|transcripts?|letters?|newsletters?|invitations?)\b[^\n]{0,60}[:?.]?\s*$",
        r"(?i)\b(diese[rsnm]?|folgende[rsnm]?|seine[rsn]?|ihre[rsn]?)\b.{0,24}\b(e-?mails?|mail|nachricht(en)?|artikel|webseite|blogbeitrag|chat|chatverlauf|gespräch|brief)\b[^\n]{0,60}[:?.]?\s*$",
        r"(?i)\b(wrote|writes|says|sent( me| us)?( this)?|replied|answered|schreibt|schrieb|sagt|meint|antwortete|schickte)\b[^\n]{0,20}:\s*$",
    ])
    .expect("the patterns are constant")
});

/// An announcement of a review with the review after its colon: "I got this feedback: The function …".
static REVIEW: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(feedback|(review|pr|bot|copilot|bugbot|coderabbit)('s)? (comments?|feedback|notes?|findings?|suggestions?)|(comments?|findings?|suggestions?) (from|by|of) \S+|rückmeldung(en)?|anmerkung(en)?|retours?|comentarios?)\b[^.:?!\n]{0,48}:",
    )
});

/// Longest paragraph, in bytes, that announces a text.
const ANNOUNCEMENT: usize = 200;
/// Lines of a header that make a mail.
const HEADER_LINES: usize = 2;
/// Lines with speakers that make a chat.
const CHAT_LINES: usize = 2;

/// The message without what was pasted into it: see [`split`].
///
/// ```
/// use daybook_text::pasted::typed;
///
/// let message = "what does he mean?\n\nOn Tue, Mar 3, 2026 Bob wrote:\n> always use LedgerPro";
/// assert_eq!(typed(message).trim_end(), "what does he mean?");
/// assert_eq!(typed("always use tabs"), "always use tabs");
/// ```
#[must_use]
pub fn typed(message: &str) -> Cow<'_, str> {
    split(message).0
}

/// What a person typed of a message, and what they pasted; the first is borrowed when nothing was pasted.
#[must_use]
pub fn split(message: &str) -> (Cow<'_, str>, String) {
    let mut quoted = quoted_passages(message).peekable();
    if quoted.peek().is_none() {
        return split_lines(message);
    }
    let (mut rest, mut pasted, mut from) = (String::new(), String::new(), 0);
    for passage in quoted {
        rest.push_str(&message[from..passage.start]);
        from = passage.end;
        pasted.push_str(&message[passage]);
        pasted.push('\n');
    }
    rest.push_str(&message[from..]);
    let (own, of_lines) = split_lines(&rest);
    (Cow::Owned(own.into_owned()), pasted + &of_lines)
}

/// As [`split`], by marks of lines alone.
fn split_lines(message: &str) -> (Cow<'_, str>, String) {
    let lines: Vec<&str> = message.split_inclusive('\n').collect();
    let end = foreign_from(&lines);
    let is_chat = is_chat(&lines[..end]);
    let (mut own, mut pasted) = (String::new(), String::new());
    let (mut fence, mut speaks) = (None, false);
    let reviews = review_lines(&lines[..end]);
    for (at, line) in lines[..end].iter().enumerate() {
        let bare = line.trim();
        speaks = is_chat && (CHAT.is_match(line) || (speaks && !bare.is_empty()));
        let is_review = reviews.iter().any(|review| review.contains(&at));
        let is_own = fence.is_none() && !speaks && !is_review && !bare.starts_with('>');
        match fence {
            Some(mark) if bare.starts_with(mark) => fence = None,
            Some(_) => {}
            None => fence = opened_fence(bare),
        }
        match is_own && fence.is_none() {
            true => own.push_str(line),
            false => pasted.push_str(line),
        }
    }
    pasted.extend(lines[end..].iter().copied());
    if own.contains(':')
        && let Some(announced) = REVIEW.find(&own)
        && is_foreign_review(&own[announced.end()..])
    {
        pasted.insert_str(0, &own[announced.end()..]);
        own.truncate(announced.end());
    }
    match pasted.is_empty() {
        true => (Cow::Borrowed(message), pasted),
        false => (Cow::Owned(own), pasted),
    }
}

/// Whether people speak to each other in these lines.
fn is_chat(lines: &[&str]) -> bool {
    // A line alone is none, and needs no pattern: compiling it takes longer than to read a short session.
    if lines.len() < CHAT_LINES {
        return false;
    }
    let chats = lines.iter().filter(|line| CHAT.is_match(line));
    chats.count() >= CHAT_LINES
}

/// The paragraphs that are a reviewer's comments.
fn review_lines(lines: &[&str]) -> Vec<Range<usize>> {
    let mut paragraphs = Vec::new();
    let mut begin = 0;
    for (at, line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            paragraphs.push(begin..at);
            begin = at + 1;
        }
    }
    paragraphs.push(begin..lines.len());
    paragraphs.retain(|paragraph| is_review(&lines[paragraph.clone()].concat()));
    paragraphs
}

/// The mark that a line opens a block with.
fn opened_fence(bare: &str) -> Option<&'static str> {
    let marks = ["```", "~~~", "\"\"\"", "'''", "“““", "<<<<"];
    let mark = marks.into_iter().find(|mark| bare.starts_with(mark))?;
    // A fence that closes in its own line is a word.
    (!bare[mark.len()..].contains(mark)).then_some(mark)
}

/// The line from which on the message is another's: the first of a mail, or the one after an announcement.
fn foreign_from(lines: &[&str]) -> usize {
    let mut paragraph = 0;
    for (at, line) in lines.iter().enumerate() {
        let ends_in_colon = line.trim_end().ends_with(':');
        let quotes_mail = || ends_in_colon && QUOTED_MAIL.is_match(line);
        if MAIL.is_match(line) || quotes_mail() || opens_header(&lines[at..]) {
            return at;
        }
        if line.trim().is_empty() {
            let announced = announces(&lines[paragraph..at]);
            if announced && lines[at..].iter().any(|rest| !rest.trim().is_empty()) {
                return at;
            }
            paragraph = at + 1;
        } else if ends_in_colon && announces(&lines[paragraph..=at]) {
            return at + 1;
        }
    }
    lines.len()
}

fn opens_header(lines: &[&str]) -> bool {
    lines.len() >= HEADER_LINES
        && HEADER.is_match(lines[0])
        && lines
            .iter()
            .take(4)
            .filter(|line| HEADER.is_match(line))
            .count()
            >= HEADER_LINES
}

fn announces(paragraph: &[&str]) -> bool {
    let text: String = paragraph.concat();
    let text = text.trim();
    text.len() <= ANNOUNCEMENT && ANNOUNCES.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[track_caller]
    fn check(message: &str, expected: &str) {
        assert_eq!(typed(message).trim_end(), expected, "{message}");
    }

    #[test]
    fn what_a_person_types_stays_whole() {
        for message in [
            "always use tabs",
            "# Task\n\nWrite the page.\n\n## Rules\n- never push\n- always sign",
            "note: we use SQLite\nresult: it works",
            "the page is slow. we decided to cache it\n\nalways measure first",
            "reply to the mail and from now on sign as Ada",
            "I wrote the article.\n\nPlease check it.",
            "start at 10:30: always at that time",
            "use `a > b` here\n\nand ```this``` too",
        ] {
            check(message, message);
        }
    }

    #[test]
    fn mails_are_of_their_senders() {
        let mail = "From: Bob <bob@example.org>\nSubject: ledger\n\nalways use X\n\nBob";
        check(&format!("look\n{mail}"), "look");
        check(
            &format!("can you sum this up?\n\n{mail}"),
            "can you sum this up?",
        );
        check(
            "hm\n\nAm Di., 3. März 2026 um 08:00 Uhr schrieb Bob <b@example.org>:\nimmer X",
            "hm",
        );
        check("see\n-----Original Message-----\nuse X", "see");
        check(
            "and this? \n> always use X\n> Bob\nI disagree",
            "and this? \nI disagree",
        );
    }

    #[test]
    fn quoted_passages_are_of_their_writers() {
        check(
            "what does he mean?\n\n\"Always use LedgerPro. It is the best.\"\n\nI never will",
            "what does he mean?\n\n\n\nI never will",
        );
        check("call it \"always use X\"", "call it \"always use X\"");
    }

    #[test]
    fn chats_are_of_their_speakers() {
        check(
            "sum up\n\n[08:01] bob: hi\n[08:02] eve: always use X\nand Y\n\nin one line please",
            "sum up\n\n\nin one line please",
        );
        check("<bob> use X\n<eve> ok", "");
        check("Bob  8:01 AM\nalways use X\nEve  8:02 AM\nok", "");
        check(
            "[03.03.26, 08:01:12] Bob: use X\n[03.03.26, 08:02:12] Eve: ok",
            "",
        );
    }

    #[test]
    fn what_is_announced_is_anothers() {
        check(
            "what do you think of this article?\n\nAlways use X.",
            "what do you think of this article?",
        );
        check("he wrote:\nalways use X", "he wrote:");
        check(
            "was hältst du von dieser Nachricht?\n\nImmer X.",
            "was hältst du von dieser Nachricht?",
        );
    }

    #[test]
    fn reviews_are_of_their_reviewers() {
        let review = "The ledgerTotal function reads the file twice, which could lead to different sums. Consider \
            reading it once instead of calling readLedger() for every month.";
        check(review, "");
        check(
            &format!("can you fix this?\n\n{review}"),
            "can you fix this?",
        );
        check(
            &format!("I got this feedback: {review}"),
            "I got this feedback:",
        );
        check(
            "got this feedback on the PR:\n\nThe totals lack a test. This could break `sum`.",
            "got this feedback on the PR:",
        );
        for own in [
            "my feedback: the totals should be in euros, I want them rounded",
            "The ledgerTotal function reads the file twice, so we should read it once instead of calling readLedger() each month.",
            "Add a test for ledgerTotal(), which should cover months without entries, and replace the helper instead of copying it.",
            "The ledger of each customer lives in Frankfurt and is copied to Dublin every night, always after the monthly totals ran.",
        ] {
            check(own, own);
        }
    }

    #[test]
    fn blocks_are_not_typed() {
        check("it fails\n```\nalways use X\n```\nwhy?", "it fails\nwhy?");
        check("read\n\"\"\"\nwe use X\n\"\"\"", "read");
        check("an open one\n~~~\nwe use X", "an open one");
    }
}
