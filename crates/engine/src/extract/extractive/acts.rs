//! What a person's sentences do: correct, wish, decide, state.
//!
//! Of each message the surest sentences are kept, in words that can stand alone. Orders and
//! questions that do none of these are left out.
//!
//! Not here: how sure a sentence is (`verdict`), picking from the agent's options (`choices`),
//! insisting again and again (`insistence`), what the agent's side adds (`context`).

use daybook_domain::ObservationKind as Kind;

use super::clauses::{shortened_around, without_requests};
use super::context::context;
use super::finds::{Find, SURE};
use super::lexicon::{Cue, Lexicon};
use super::sentences::{QUOTE, Sentence, lowered};
use super::turns::{Talk, Turn};
use super::verdict::{Place, Verdict, judge};

/// Finds that one message may yield.
const PER_MESSAGE: usize = 2;
/// Score that a correction or decision needs in a talk without any work.
const IN_TALK: i32 = 60;
/// Content words that stay when an order of the moment is cut off.
pub(super) const LEAST: usize = 2;

/// What the person's sentences say, message by message.
pub(super) fn acts(talk: &Talk<'_>) -> Vec<Find> {
    talk.new_turns()
        .flat_map(|(_, turn)| acts_of(talk, turn))
        .collect()
}

fn acts_of(talk: &Talk<'_>, turn: &Turn<'_>) -> Vec<Find> {
    let Some(lexicon) = turn.lexicon.filter(|_| !turn.closes()) else {
        return Vec::new();
    };
    let working = talk.works_in(talk.horizon(turn.at), turn.end);
    let judged = judged(turn, lexicon, working);
    let alone = judged.len() == 1;
    let finds = judged.into_iter().map(|(i, verdict)| {
        let words = words_around(turn, i, alone, verdict.kind, lexicon);
        let context = context(talk, turn, verdict.kind, &words);
        let find = Find::said(verdict.kind, verdict.score, &[turn.said], &words);
        let mut find = find.in_context(context);
        find.draft.general = verdict.general;
        find
    });
    finds.collect()
}

/// The surest sentences of a message: one of each kind, but any number of wishes and facts.
fn judged(turn: &Turn<'_>, lexicon: &Lexicon, working: bool) -> Vec<(usize, Verdict)> {
    let place = Place {
        refused: turn.refused.is_some(),
        stopped: turn.interrupting,
        conceded: turn.conceded.is_some(),
    };
    let sentences = turn.prose.iter().enumerate().filter(|(_, s)| !s.redacted);
    let mut judged: Vec<(usize, Verdict)> = sentences
        .filter_map(|(i, s)| Some((i, judge(s, place, lexicon)?)))
        .filter(|(_, verdict)| {
            verdict.score >= SURE && (working || verdict.score >= IN_TALK || !judges(verdict.kind))
        })
        .collect();
    judged.sort_by_key(|(i, verdict)| (-verdict.score, *i));
    let mut kinds = Vec::new();
    judged.retain(|(_, v)| {
        let first = !kinds.contains(&v.kind);
        kinds.push(v.kind);
        first || matches!(v.kind, Kind::Preference | Kind::Fact)
    });
    judged.truncate(PER_MESSAGE);
    judged
}

/// Kinds that judge work: where no work is done they must be surer.
fn judges(kind: Kind) -> bool {
    matches!(kind, Kind::Correction | Kind::Decision)
}

/// The sentence, with its neighbours where the whole message fits, or with the reason behind it.
fn words_around(turn: &Turn<'_>, at: usize, alone: bool, kind: Kind, lexicon: &Lexicon) -> String {
    let prose = &turn.prose;
    let whole: Vec<&str> = prose.iter().map(|s| s.text.as_str()).collect();
    let whole = whole.join(" ");
    let fits = whole.chars().count() <= QUOTE && !prose.iter().any(|s| s.redacted);
    if turn.refused.is_some() && fits {
        return whole;
    }
    let plain = |s: &Sentence| without_requests(&s.text, LEAST, lexicon);
    if alone && fits {
        return prose.iter().map(plain).collect::<Vec<_>>().join(" ");
    }
    let own = plain(&prose[at]);
    let reason = prose
        .get(at + 1)
        .filter(|next| gives_reason(&next.low) && !next.redacted);
    match reason.map(|next| format!("{own} {}", next.text)) {
        Some(both) if both.chars().count() <= QUOTE => both,
        _ => shortened_around(&own, QUOTE, |text| telling(text, kind, lexicon)),
    }
}

/// Where the words are that made the sentence worth keeping.
fn telling(text: &str, kind: Kind, lexicon: &Lexicon) -> Option<usize> {
    let low = lowered(text);
    let cues: &[Cue] = match kind {
        Kind::Preference => &[Cue::Preference, Cue::General],
        Kind::Fact => &[Cue::Fact],
        Kind::OpenEnd => &[Cue::Later],
        Kind::Correction | Kind::Decision | Kind::Value | Kind::Fix | Kind::Note => {
            &[Cue::Correction, Cue::Decision]
        }
    };
    cues.iter()
        .filter_map(|cue| lexicon.strongest(*cue, &low))
        .max()
        .map(|(_, at)| at)
}

fn gives_reason(low: &str) -> bool {
    let starts = [
        "because",
        "otherwise",
        "that'll",
        "that will",
        "that way",
        "it makes",
        "so that",
        "since",
    ];
    starts.iter().any(|start| low.starts_with(start))
}
