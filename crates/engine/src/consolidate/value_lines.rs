//! Lines of values: what was set, what it was before, and the reason that the person gave, if any.
//!
//! Not here: which values were set (`extract::extractive`), and statements that end them (`supersede`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use daybook_domain::{EventSeq, Evidence, ObservationKind, SessionId};
use daybook_text::digits::digit_runs;
use daybook_text::lazy_pattern::LazyPattern;

use super::content::{ContentWords, subject_words};
use super::merge::MergedObservation;
use super::phrase::citations;
use super::{MemoryEntry, SECTION_ENTRIES};

/// Longest words that are shown beside a value, in bytes: longer ones say more than its reason.
const REASON: usize = 200;

/// Words that give a reason.
static GIVES_REASON: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        r"(?i)\b(?:because|since|so that|otherwise|due to|in order to)\b|\b(?:weil|damit|sonst|denn|wegen)\b|\b(?:porque|ya que|para que|así que)\b|\b(?:parce que|pour que|sinon)\b|因为|所以|这样|否则|由于",
    )
});

/// One entry for each subject with all its values, the last in bold.
pub(super) fn value_entries(observations: &[MergedObservation]) -> Vec<MemoryEntry> {
    let mut by_subject = by_subject(observations);
    // A statement in other words may have ended the last value: the line is that statement's.
    by_subject.retain(|_, values| {
        let last = values
            .iter()
            .max_by_key(|value| (value.last_at(), &value.text));
        last.is_some_and(|last| last.validity.ended.is_none())
    });
    // The first name of the subject stays: the entry is found by it.
    let named = by_subject.into_values().filter_map(|values| {
        let first = values.iter().min_by_key(|value| value.first_at())?;
        Some((first.subject.as_deref().unwrap_or_default(), values))
    });
    let mut subjects: Vec<(&str, Vec<&MergedObservation>)> = named.collect();
    subjects.sort_by_key(|(subject, values)| {
        let last = values.iter().map(|value| value.last_at()).max();
        (
            !values.iter().any(|value| value.pinned),
            Reverse(values.len().min(3)),
            Reverse(last),
            (*subject).to_owned(),
        )
    });
    subjects.truncate(SECTION_ENTRIES);
    subjects
        .into_iter()
        .map(|(subject, values)| value_entry(subject, values))
        .collect()
}

/// The values of each subject.
fn by_subject(
    observations: &[MergedObservation],
) -> BTreeMap<ContentWords, Vec<&MergedObservation>> {
    let mut by_subject: BTreeMap<ContentWords, Vec<&MergedObservation>> = BTreeMap::new();
    let values = observations.iter();
    for merged in values.filter(|merged| merged.kind == ObservationKind::Value) {
        let subject = merged.subject.as_deref().unwrap_or_default();
        let of_subject = by_subject.entry(subject_words(subject)).or_default();
        of_subject.push(merged);
    }
    by_subject
}

/// Leaves out what stands behind a statement where it names a value that its message set, and that was set anew since: "yes,
/// and at most 20" behind the option that it accepted.
pub(super) fn drop_outdated_words(observations: &mut [MergedObservation]) {
    let outdated = outdated_numbers(observations);
    let statements = observations.iter_mut();
    for merged in statements.filter(|merged| merged.kind != ObservationKind::Value) {
        let shown = merged.context.iter().flat_map(|it| digit_runs(it));
        let shown: Vec<&str> = shown.collect();
        if shown.is_empty() {
            continue;
        }
        let mut events = merged.evidence.iter().flat_map(events_of);
        let is_outdated = events.any(|event| {
            let of_event = outdated.get(&event).into_iter().flatten();
            of_event
                .into_iter()
                .any(|number| shown.contains(&number.as_str()))
        });
        if is_outdated {
            merged.context = None;
        }
    }
}

/// The numbers that messages set and later ones set anew, by the events that set them.
fn outdated_numbers(
    observations: &[MergedObservation],
) -> BTreeMap<(SessionId, EventSeq), Vec<String>> {
    let mut outdated: BTreeMap<(SessionId, EventSeq), Vec<String>> = BTreeMap::new();
    for values in by_subject(observations).into_values() {
        let last = values
            .iter()
            .max_by_key(|value| (value.last_at(), &value.text));
        let is_last = |value: &MergedObservation| last.is_some_and(|it| it.text == value.text);
        for value in values.iter().filter(|value| !is_last(value)) {
            for event in value.evidence.iter().flat_map(events_of) {
                outdated
                    .entry(event)
                    .or_default()
                    .extend(digit_runs(&value.text).map(str::to_owned));
            }
        }
    }
    outdated
}

fn events_of(evidence: &Evidence) -> impl Iterator<Item = (SessionId, EventSeq)> {
    let events = evidence.events.iter();
    events.map(|event| (evidence.session.clone(), *event))
}

fn value_entry(subject: &str, mut values: Vec<&MergedObservation>) -> MemoryEntry {
    values.sort_by(|a, b| (a.last_at(), &a.text).cmp(&(b.last_at(), &b.text)));
    let evidence = values.iter().flat_map(|value| &*value.evidence);
    let last = values.len() - 1;
    let steps: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(n, v)| {
            if n == last {
                format!("**{}**", v.text)
            } else {
                v.text.clone()
            }
        })
        .collect();
    MemoryEntry {
        key: format!("value/{subject}"),
        lines: vec![format!(
            "{subject}: {}{} {}",
            steps.join(" → "),
            why_suffix(values[last]),
            citations(evidence)
        )],
        observations: values
            .iter()
            .flat_map(|value| value.observations.clone())
            .collect(),
    }
}

/// The words that set a value, in brackets, where they say why. Words with other numbers would show what is outdated.
fn why_suffix(value: &MergedObservation) -> String {
    let said = value.context.as_deref().filter(|said| {
        said.len() <= REASON && GIVES_REASON.is_match(said) && names_one_number(said, &value.text)
    });
    said.map_or_else(String::new, |said| format!(" (“{said}”)"))
}

/// Whether all numbers of a text are those of a value.
fn names_one_number(said: &str, value: &str) -> bool {
    let own: Vec<&str> = digit_runs(value).collect();
    digit_runs(said).all(|number| own.contains(&number))
}

#[cfg(test)]
mod tests {
    use daybook_domain::Observation;
    use daybook_testkit::fixtures::{evidence, observation, session, user_scope};

    use super::*;
    use crate::consolidate::merge::merge_observations;
    use crate::consolidate::parsed_texts::ParsedTexts;

    fn value(text: &str, event: u64) -> Observation {
        let one = evidence(&session("tide"), &[event]);
        Observation {
            kind: ObservationKind::Value,
            subject: Some("rows of a page".to_owned()),
            ..observation(&user_scope("ada"), text, vec![one])
        }
    }

    /// What stands behind a decision whose message set the value 20, once these values are known.
    fn context_beside(values: Vec<Observation>) -> Option<String> {
        let one = evidence(&session("tide"), &[3, 4]);
        let decision = Observation {
            kind: ObservationKind::Decision,
            context: Some("accepted: “yes, and at most 20”".to_owned()),
            ..observation(&user_scope("ada"), "Page the station list", vec![one])
        };
        let all = values.into_iter().chain([decision]).collect();
        let mut merged = merge_observations(all, &[], &mut ParsedTexts::default());
        drop_outdated_words(&mut merged);
        let decision = |one: &MergedObservation| one.kind == ObservationKind::Decision;
        merged.into_iter().find(decision)?.context
    }

    #[test]
    fn words_that_name_an_outdated_value_do_not_stand_behind_a_decision() {
        assert!(context_beside(Vec::new()).is_some());
        assert!(context_beside(vec![value("20", 4)]).is_some());
        assert_eq!(context_beside(vec![value("20", 4), value("50", 9)]), None);
        // Another message set it.
        assert!(context_beside(vec![value("20", 1), value("50", 9)]).is_some());
    }

    #[track_caller]
    fn check(said: &str, value: &str, is_shown: bool) {
        let is_reason = GIVES_REASON.is_match(said) && names_one_number(said, value);
        assert_eq!(is_reason, is_shown, "{said}");
    }

    #[test]
    fn a_value_is_shown_with_its_reason_and_without_outdated_numbers() {
        check(
            "set the tide window to 6 since two tides overlap",
            "6",
            true,
        );
        check(
            "setz das Limit auf 30, sonst läuft der Export voll",
            "30",
            true,
        );
        check("因为两个窗口重叠，把它设为 6", "6", true);
        check("set the tide window to 6", "6", false);
        check("make it 50 because 20 was too few", "50", false);
    }
}
