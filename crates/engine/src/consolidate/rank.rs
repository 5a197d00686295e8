//! Ranks observations where there are more of them than entries.
//!
//! A session that cited an observation counts like one with evidence for it: both show that it
//! mattered there. Having been shown does not. It only breaks ties, and
//! never before recency: `MEMORY.md` is shown in every session, so that its entries would
//! otherwise outrank everything newer merely by being there.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use daybook_domain::{Evidence, ObservationKind, SessionId};
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::merge::MergedObservation;
use crate::extract::extractive::REFUSED_PLAN;
use crate::extract::extractive::worth::{ConversationKind, worth_of_message};

/// Most observations of one session before others have their turn.
const OF_ONE_SESSION: usize = 3;
/// Steps of worth that tell facts apart.
const LEAST_WORTH: i32 = -2;
const MOST_WORTH: i32 = 4;
/// Least worth of a correction that has no words of a rule.
const LASTING_WORTH: f32 = 0.0;

/// The best `most` observations in display order, without corrections of a moment: pinned ones first, then by relevant sessions, then by how long they will
/// bear on the work ([`Bearing`]), then by number of events, then facts by worth, then by recency, then by how often they were shown, then by text.
/// Of one session the best few come first and the others after those of all sessions, so that a long one leaves room.
pub(super) fn top_ranked(
    observations: &[&MergedObservation],
    most: usize,
) -> Vec<MergedObservation> {
    let mut ranked: Vec<&MergedObservation> = observations.to_vec();
    ranked.sort_by_cached_key(|merged: &&MergedObservation| {
        (
            !merged.pinned,
            Reverse(
                merged
                    .usage
                    .relevant_sessions(&merged.sessions_of_evidence()),
            ),
            bearing(merged),
            Reverse(times_stated(merged)),
            Reverse(worth_of_fact(merged)),
            Reverse(merged.last_at()),
            Reverse(merged.usage.times_shown()),
            merged.text.as_str(),
        )
    });
    let mut of_session: HashMap<&SessionId, usize> = HashMap::new();
    let (first, others): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|merged| {
        let Some(first) = merged.evidence.first().filter(|_| !merged.pinned) else {
            return true;
        };
        let known = of_session.entry(&first.session).or_default();
        *known += 1;
        *known <= OF_ONE_SESSION
    });
    first
        .into_iter()
        .chain(others)
        .filter(|merged| !is_of_its_moment(merged))
        .take(most)
        .cloned()
        .collect()
}

/// How often a person stated it, at most five. What a choice or a fix rests on is several events of one moment.
fn times_stated(merged: &MergedObservation) -> usize {
    match merged.kind {
        ObservationKind::Decision | ObservationKind::Fix => 1,
        ObservationKind::Correction
        | ObservationKind::Preference
        | ObservationKind::Fact
        | ObservationKind::Value
        | ObservationKind::OpenEnd
        | ObservationKind::Note => merged.times().min(5),
    }
}

/// What a fact is worth by its words, in whole steps; 0 of others.
fn worth_of_fact(merged: &MergedObservation) -> i32 {
    if merged.kind != ObservationKind::Fact {
        return 0;
    }
    let conversation = match is_of_chat(merged) {
        true => ConversationKind::Chat,
        false => ConversationKind::Work,
    };
    let worth = worth_of_message(&merged.text, conversation).unwrap_or_default();
    (worth.floor() as i32).clamp(LEAST_WORTH, MOST_WORTH)
}

/// Whether it is a fact that people stated of themselves, not where an agent works in a folder.
pub(super) fn is_of_chat(merged: &MergedObservation) -> bool {
    let of_chat = |evidence: &Evidence| evidence.root.is_none();
    merged.kind == ObservationKind::Fact && merged.evidence.iter().all(of_chat)
}

/// How long an observation will bear on the work, by its words alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bearing {
    /// It tells how something always is to be.
    Standing,
    /// It may be for long.
    Open,
    /// It is about its moment: a question, one piece of work, a correction of what was just done, or words that point at
    /// something in the conversation.
    Momentary,
}

fn bearing(merged: &MergedObservation) -> Bearing {
    let text = merged.text.as_str();
    let is_momentary = match merged.kind {
        ObservationKind::Decision => is_piece_of_work(merged) || POINTS.is_match(text),
        ObservationKind::Correction => !RULE.is_match(text) || POINTS.is_match(text),
        _ => false,
    };
    if is_momentary || is_question(text) {
        Bearing::Momentary
    } else if is_open(merged) && !HOW_IT_IS_TO_BE.is_match(text) {
        Bearing::Open
    } else {
        Bearing::Standing
    }
}

/// Whether it may be about its moment, unless its words tell otherwise.
fn is_open(merged: &MergedObservation) -> bool {
    matches!(
        merged.kind,
        ObservationKind::Decision | ObservationKind::Fact
    )
}

/// Whether a correction in a person's words was about its moment alone: "no, revert those changes". It is on the pages of
/// its day and its session, and is no rule for others.
fn is_of_its_moment(merged: &MergedObservation) -> bool {
    merged.kind == ObservationKind::Correction
        && merged.quoted
        && !merged.pinned
        && merged.times() == 1
        && merged.validity.past.is_empty()
        && bearing(merged) == Bearing::Momentary
        && (opens_with_question(&merged.text)
            || is_of_one_plan(merged)
            || !is_worth_lasting(&merged.text))
}

fn is_worth_lasting(text: &str) -> bool {
    let worth = worth_of_message(text, ConversationKind::Work);
    worth.is_some_and(|worth| worth >= LASTING_WORTH)
}

/// Words of a rule, in the languages of the extraction without a model.
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)(^|\(|[.,;:!] |\bplease |\band |\bno )(don['’]t|do not)\b|\b(always|never|prefer|instead of|rather than|avoid|must|only when|stop \w+ing|no more|immer|nie(mals)?|statt|kein\w*|nur wenn|hör auf|toujours|jamais|plutôt|arrête|siempre|nunca|en vez de|deja de)\b|\buse [^,.;]+,? not\b|不要|必须|只能|一律|禁止",
    )
});

/// Words that tell how something is to be from now on.
static HOW_IT_IS_TO_BE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(should|must|needs? to|have to|has to|want to|only|every|each|all|always|never|no longer|once we|same|default|optional|instead|rather|on purpose|let['’]s (use|store|call|keep|name)|keep|use|without|soll\w*|muss|müssen|nur|jede\w*|alle|immer|nie|statt|toujours|jamais|doit|doivent|chaque|seulement|debe\w*|siempre|nunca|solo|sólo|cada|todos)\b|[:→] (only|inline|always|never)\b|应该|必须|只|每|一律|统一|不再|始终",
    )
});

/// Words that only the conversation around them explains.
static POINTS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)^(this|that|these|those|it|they|das|dies\w*|esto|eso|ça|cela|这|那)\b|\b(this|that|these|those) (from|to|should|would|will|is|was|in|as|again|too|instead|for|with)\b|\b(this|that|these|those|it)[.,!…]?$|\blet['’]s \w+ (it|this|that)\b",
    )
});

/// The verb with which an option names one piece of work.
static PIECE_OF_WORK: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)(^|→ |^quick \w+(?: now)? [-–—:] )(add|share|fix|remove|delete|rename|update|duplicate|move|create|run|rerun|write|extract|skip|commit|push|merge|rebase|open|close|file|try|test|check|review|refactor|bump|revert|apply|address|split|missing|implement|investigate|proceed|continue)\b",
    )
});

/// Whether a decision accepted one piece of work that an agent offered: once it is done, it tells little.
fn is_piece_of_work(merged: &MergedObservation) -> bool {
    !merged.quoted && PIECE_OF_WORK.is_match(&merged.text)
}

/// Whether it answers one plan of an agent's, which it refuses.
fn is_of_one_plan(merged: &MergedObservation) -> bool {
    let context = merged.context.as_deref().unwrap_or_default();
    context.starts_with(REFUSED_PLAN)
}

/// Whether a text asks: it is in a person's words, which are about the moment rather than for long.
fn is_question(text: &str) -> bool {
    text.trim_end_matches(['"', '”', ')', ' '])
        .ends_with(['?', '？'])
}

/// Whether the first sentence of a text asks.
fn opens_with_question(text: &str) -> bool {
    let end = text.find(['.', '!', '?', '。', '！', '？']);
    end.is_some_and(|end| text[end..].starts_with(['?', '？']))
}

#[cfg(test)]
mod tests {
    use daybook_domain::{EventId, EventSeq, Observation, Use, UseKind, UsedBy};
    use daybook_testkit::fixtures::{at, evidence, observation, session, user_scope};

    use super::*;
    use crate::consolidate::merge::merge_observations;
    use crate::consolidate::parsed_texts::ParsedTexts;

    /// An observation with these events of sessions as evidence.
    fn observation_of(text: &str, on: &[(&str, u64)]) -> Observation {
        let evidence = on
            .iter()
            .map(|(id, event)| evidence(&session(id), &[*event]));
        observation(&user_scope("ada"), text, evidence.collect())
    }

    fn use_of(kind: UseKind, by: &str, (id, event): (&str, u64)) -> Use {
        let by = match by.contains('/') {
            true => UsedBy::Interface(by.to_owned()),
            false => UsedBy::Session {
                session: session(by),
                event: EventId(1),
            },
        };
        Use {
            session: session(id),
            event: EventSeq(event),
            kind,
            by,
            at: at(0),
        }
    }

    fn check(observations: &[Observation], uses: &[Use], expected: &[&str]) {
        let merged = merge_observations(observations.to_vec(), uses, &mut ParsedTexts::default());
        let best = top_ranked(&merged.iter().collect::<Vec<_>>(), 9);
        let texts: Vec<&str> = best.iter().map(|merged| merged.text.as_str()).collect();
        assert_eq!(texts, expected, "{uses:?}");
    }

    use UseKind::{Cited, Shown};

    #[test]
    fn a_session_that_cited_a_belief_counts_like_one_in_which_it_was_said() {
        let old = observation_of("tabs", &[("old", 1)]);
        let new = observation_of("spaces", &[("old", 2)]);
        let twice = observation_of("brief", &[("old", 3), ("other", 1)]);
        let all = [old, new, twice];
        check(&all, &[], &["brief", "spaces", "tabs"]);
        let one = use_of(Cited, "later", ("old", 1));
        // One event and one citation: as many sessions as two events in two sessions, but fewer events.
        check(
            &all,
            std::slice::from_ref(&one),
            &["brief", "tabs", "spaces"],
        );
        let another = use_of(Cited, "cli/2026-11-22", ("old", 1));
        check(&all, &[one.clone(), another], &["tabs", "brief", "spaces"]);
        // A session with evidence for it counts already.
        let known = use_of(Cited, "other", ("old", 3));
        check(&all, &[one, known], &["brief", "tabs", "spaces"]);
    }

    #[test]
    fn a_session_cites_a_belief_once_however_many_of_its_events_it_names() {
        let long = observation_of("tabs", &[("old", 1), ("old", 2), ("old", 3)]);
        let other = observation_of("spaces", &[("old", 4), ("old", 5), ("old", 6), ("old", 7)]);
        let uses = [1, 2, 3].map(|event| use_of(Cited, "later", ("old", event)));
        let once = use_of(Cited, "later", ("old", 4));
        let all = [uses.to_vec(), vec![once]].concat();
        check(&[long, other], &all, &["spaces", "tabs"]);
    }

    #[test]
    fn being_shown_decides_only_where_nothing_else_does() {
        let old = observation_of("tabs", &[("old", 1)]);
        let new = observation_of("spaces", &[("old", 2)]);
        let same = observation_of("zebra", &[("other", 2)]);
        let all = [old, new, same];
        check(&all, &[], &["spaces", "zebra", "tabs"]);
        let often: Vec<Use> = (0..9)
            .map(|n| use_of(Shown, &format!("later-{n}"), ("old", 1)))
            .collect();
        check(&all, &often, &["spaces", "zebra", "tabs"]);
        let zebra = [use_of(Shown, "later", ("other", 2))];
        check(&all, &zebra, &["zebra", "spaces", "tabs"]);
    }

    #[test]
    fn what_is_to_be_for_long_comes_before_one_piece_of_work_and_words_that_point() {
        let decided = |text: &str, quoted: bool, day: u64| Observation {
            kind: ObservationKind::Decision,
            quoted,
            ..observation_of(text, &[("one", day)])
        };
        let all = [
            decided("keys must stay sorted", true, 1),
            decided("Inline strings", false, 2),
            decided("Quick fix - duplicate the helper", false, 3),
            decided("I think we should prevent this from happening", true, 4),
            decided("let's store it in the header", true, 5),
        ];
        let merged = merge_observations(all.to_vec(), &[], &mut ParsedTexts::default());
        let found: Vec<Bearing> = merged.iter().map(bearing).collect();
        use Bearing::{Momentary, Open, Standing};
        assert_eq!(found, [Standing, Open, Momentary, Momentary, Momentary]);
    }

    #[test]
    fn a_correction_of_a_moment_is_no_rule() {
        let corrected = |text: &str, on: &[(&str, u64)]| Observation {
            kind: ObservationKind::Correction,
            quoted: true,
            ..observation_of(text, on)
        };
        let all = [
            corrected("no, revert those changes", &[("one", 1)]),
            corrected("should we not use the helper?", &[("one", 2)]),
            corrected(
                "how can we tell? we base on main or master here",
                &[("one", 8)],
            ),
            corrected("don't amend commits", &[("one", 3)]),
            corrected("no, the port is 8080 on staging", &[("one", 4)]),
            corrected("tests tests tests", &[("one", 5), ("one", 6)]),
            Observation {
                quoted: false,
                ..corrected("The port of staging is another", &[("one", 7)])
            },
        ];
        let expected = [
            "don't amend commits",
            "tests tests tests",
            "The port of staging is another",
            "no, the port is 8080 on staging",
        ];
        check(&all, &[], &expected);
    }

    #[test]
    fn what_is_stated_against_one_plan_is_no_rule_without_its_words() {
        let against_plan = |text: &str, event: u64| Observation {
            kind: ObservationKind::Correction,
            quoted: true,
            context: Some(format!("{REFUSED_PLAN} “Cache the tides”")),
            ..observation_of(text, &[("one", event)])
        };
        let all = [
            against_plan("no, the port is 8080 on staging", 1),
            against_plan("don't cache tides", 2),
        ];
        check(&all, &[], &["don't cache tides"]);
    }

    #[test]
    fn uses_of_other_events_change_nothing() {
        let all = [
            observation_of("tabs", &[("old", 1)]),
            observation_of("spaces", &[("old", 2)]),
        ];
        let elsewhere = [
            use_of(Cited, "later", ("old", 9)),
            use_of(Cited, "later", ("other", 1)),
        ];
        assert_eq!(
            merge_observations(all.to_vec(), &elsewhere, &mut ParsedTexts::default()),
            merge_observations(all.to_vec(), &[], &mut ParsedTexts::default())
        );
    }
}
