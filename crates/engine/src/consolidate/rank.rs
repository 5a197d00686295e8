//! Ranks observations where there are more of them than entries.
//!
//! A session that cited an observation counts like one with evidence for it: both show that it
//! mattered there. Having been shown does not. It only breaks ties, and
//! never before recency: `MEMORY.md` is shown in every session, so that its entries would
//! otherwise outrank everything newer merely by being there.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use daybook_domain::{ObservationKind, SessionId};
use regex::Regex;

use super::merge::MergedObservation;

/// Most observations of one session before others have their turn.
const OF_ONE_SESSION: usize = 3;

/// The best `most` observations in display order: pinned ones first, then by relevant sessions, then statements before questions and rules
/// before corrections of the moment, then by number of events, then by recency, then by how often they were shown, then by text. Of one
/// session the best few come first and the others after those of all sessions, so that a long one leaves room.
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
            is_question(&merged.text),
            merged.kind == ObservationKind::Correction && !is_standing(&merged.text),
            Reverse(times_stated(merged)),
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

/// Words of a rule, in the languages of the extraction without a model.
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(^|[.,;:!] |\bplease |\band |\bno )(don['’]t|do not)\b|\b(always|never|prefer|instead of|rather than|avoid|must|only when|immer|nie(mals)?|statt|kein\w*|nur wenn|toujours|jamais|plutôt|siempre|nunca|en vez de)\b",
    )
    .expect("the pattern is constant")
});

fn is_standing(text: &str) -> bool {
    RULE.is_match(text)
}

/// Whether a text asks: it is in a person's words, which are about the moment rather than for long.
fn is_question(text: &str) -> bool {
    text.trim_end_matches(['"', '”', ')', ' '])
        .ends_with(['?', '？'])
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
