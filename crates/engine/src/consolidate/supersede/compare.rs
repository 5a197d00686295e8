//! Whether a later statement ends the validity of an earlier one.
//!
//! A rule needs the same subject and an incompatible content, named in the statements' own words. Statements that only
//! resemble each other both hold: a memory that wrongly drops a rule is worse than one that holds it too long.

use std::sync::Arc;

use daybook_domain::{ObservationKind as Kind, ObservationOrigin, SupersessionReason as Reason};

use crate::consolidate::content::{ContentWords, is_everyday};
use crate::consolidate::merge::MergedObservation;
use crate::consolidate::statement::{Setting, Statement, figures};
use crate::extract::BY;

/// Least share of a denial's words that are the claim's, too.
const OPPOSITE_SHARE: f64 = 0.7;
/// Fewest words that both have, unless they have no others.
const OPPOSITE_WORDS: usize = 2;

/// Fewest words besides figures that both have, to be about one thing, and their least part of the shorter statement.
const TOPIC_WORDS: usize = 2;
const TOPIC_PART: usize = 3;

/// Most words of what a statement opens with that one word in common tells from others.
const SHORT_OPENING: usize = 3;

/// Least share of a statement's words that one which turns from it has, too.
const TURNED_SHARE: f64 = 0.4;

/// Words by which a person speaks of themselves alone.
const OF_ONESELF: [&str; 16] = [
    "i", "i'm", "im", "i've", "ive", "i'd", "i'll", "my", "me", "mine", "ich", "mein", "meine",
    "mir", "mich", "yo",
];

/// An observation with its statement's parts.
#[derive(Debug)]
pub(crate) struct Stated<'a> {
    pub(super) merged: &'a MergedObservation,
    pub(super) statement: Arc<Statement>,
    /// The words of the thing whose value it is, of a value.
    pub(super) subject: ContentWords,
}

/// Why `later` ends the validity of `earlier`; `None` if both hold.
pub(super) fn supersedes(later: &Stated<'_>, earlier: &Stated<'_>) -> Option<Reason> {
    let (new, old) = (&*later.statement, &*earlier.statement);
    if !may_end(later.merged, earlier.merged) || are_of_different_people(later, earlier) {
        return None;
    }
    match (later.merged.kind, earlier.merged.kind) {
        (Kind::OpenEnd | Kind::Fix, _) | (_, Kind::Fix) => return None,
        (_, Kind::OpenEnd) => {
            let ended = new
                .withdrawn
                .iter()
                .chain(&new.replaced)
                .chain(&new.renamed);
            let is_meant = |named: &ContentWords| names(named, &old.words);
            return ended.into_iter().any(is_meant).then_some(Reason::Closed);
        }
        (Kind::Value, Kind::Value) => {
            let is_update = later.subject == earlier.subject
                && !later.subject.is_empty()
                && later.merged.text != earlier.merged.text;
            return is_update.then_some(Reason::Updated);
        }
        (Kind::Value, _) | (_, Kind::Value) => {
            return updates_figure(new, old).then_some(Reason::Updated);
        }
        _ => {}
    }
    ends(new, old)
}

/// Whether two people of a room speak of themselves: what one of them says is no news of the other.
fn are_of_different_people(one: &Stated<'_>, other: &Stated<'_>) -> bool {
    let [by, by_other] = [one, other].map(|of| speaker_in(of.merged.context.as_deref()));
    let are_two = by != by_other;
    are_two
        && [one, other]
            .into_iter()
            .any(|of| speaks_of_self(&of.merged.text))
}

/// The speaker, where a context names one.
pub(super) fn speaker_in(context: Option<&str>) -> Option<&str> {
    context?.strip_prefix(BY)?.split(',').next()
}

/// Whether a text speaks of the one person who says it.
fn speaks_of_self(text: &str) -> bool {
    let low = text.to_lowercase();
    let mut words = low.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    low.contains('我') || words.any(|word| OF_ONESELF.contains(&&*word.replace('’', "'")))
}

/// Why a rule, a choice or a fact no longer holds after a later one.
pub(super) fn ends(new: &Statement, old: &Statement) -> Option<Reason> {
    let holds = |named: &ContentWords| names(named, &old.words) && !old.denies(named);
    let is_meant = |named: &ContentWords| !has_number(named) || shares_topic(named, new, old);
    if new.renamed.iter().any(|it| holds(it) && is_meant(it)) {
        return Some(Reason::Replaced);
    }
    if new.replaced.iter().any(|named| {
        let is_subject = !is_number(named) && is_its_subject(named, old);
        holds(named) && (is_subject || shares_topic(named, new, old))
    }) {
        return Some(Reason::Replaced);
    }
    if new.settings().any(|set| excludes(set, new, old)) {
        return Some(Reason::Replaced);
    }
    if is_opposite(new, old) || is_opposite(old, new) {
        return Some(Reason::Reversed);
    }
    let is_withdrawn = |named: &ContentWords| holds(named) && is_its_subject(named, old);
    if new.withdrawn.iter().any(is_withdrawn) {
        return Some(Reason::Withdrawn);
    }
    if updates_figure(new, old) {
        return Some(Reason::Updated);
    }
    turns_from(new, old).then_some(Reason::Replaced)
}

/// Whether the new statement says that things are otherwise now, and shares enough words with what the old one opens with to
/// mean it. Where both give a figure of one measure, that decides.
fn turns_from(new: &Statement, old: &Statement) -> bool {
    let common = new.topic.common(&old.opening);
    let means_it =
        common >= TOPIC_WORDS && common as f64 >= TURNED_SHARE * old.opening.len() as f64;
    let mut figures = new.figures.iter();
    let is_measured = figures.any(|ours| old.figures.iter().any(|it| it.key == ours.key));
    new.turns && !new.adds && means_it && !is_measured && !is_other_case(new, old, common)
}

/// Whether the later observation is trusted enough: no less than the earlier one, or a decision in the agent's words
/// that a person accepted.
pub(crate) fn may_end(later: &MergedObservation, earlier: &MergedObservation) -> bool {
    let is_accepted = later.kind == Kind::Decision && later.origin >= ObservationOrigin::Concluded;
    is_accepted || later.origin.trust() >= earlier.origin.trust()
}

/// Whether a phrase names something in a statement of these words.
fn names(phrase: &ContentWords, words: &ContentWords) -> bool {
    !phrase.is_empty() && phrase.is_subset(words)
}

/// Whether a phrase is what the statement is about: what it sets, or at least half of its words.
fn is_its_subject(phrase: &ContentWords, statement: &Statement) -> bool {
    let in_value = |set: &Setting| names(phrase, &set.value) && phrase.len() * 2 >= set.value.len();
    phrase.len() * 2 >= statement.words.len() || statement.settings().any(in_value)
}

/// Whether the statements have words in common besides the phrase: one where the phrase is a number ("9 instead of 6"), or
/// that part of the shorter statement's words.
fn shares_topic(phrase: &ContentWords, one: &Statement, other: &Statement) -> bool {
    let common = one.topic.shared(&other.topic);
    let common = common.filter(|word| !phrase.contains(*word)).count();
    let shorter = one.topic.len().min(other.topic.len());
    common > 0 && (has_number(phrase) || common * TOPIC_PART >= shorter)
}

/// Whether a phrase has a number: "60 connections".
fn has_number(phrase: &ContentWords) -> bool {
    phrase.iter().any(|word| word.has_digit())
}

/// Whether a phrase is a number alone, which names nothing.
fn is_number(phrase: &ContentWords) -> bool {
    phrase.iter().all(|word| word.has_digit())
}

/// Whether a setting of the new statement and one of the old set one key differently. A key of more words is a case of
/// its own, unless the new statement says that something changes.
fn excludes(set: &Setting, new: &Statement, old: &Statement) -> bool {
    old.settings().any(|before| {
        let is_same_key = set.key == before.key
            || (new.changes && (names(&set.key, &before.key) || names(&before.key, &set.key)));
        let is_other = !set.value.is_subset(&before.value) && !before.value.is_subset(&set.value);
        let is_denied = new.denies(&set.value) || old.denies(&before.value);
        !set.key.is_empty() && is_same_key && is_other && !is_denied
    })
}

/// Whether one statement denies what the other claims. The denial may not be narrower: "never write docstrings that
/// repeat a name" leaves other docstrings. "No comments that repeat the code" is no opposite of "skip comments that do".
fn is_opposite(denying: &Statement, claim: &Statement) -> bool {
    !claim.restrains
        && denying.denials.iter().any(|denial| {
            let is_named = names(&denial.head, &claim.words) && !claim.denies(&denial.head);
            if !is_named {
                return false;
            }
            let common = denial.words.common(&claim.words);
            let covers = common as f64 >= OPPOSITE_SHARE * denial.words.len() as f64;
            let is_whole = denial.words == claim.words;
            (common >= OPPOSITE_WORDS && covers) || is_whole
        })
}

/// Whether the new statement gives a measure of the old one's subject another figure.
fn updates_figure(new: &Statement, old: &Statement) -> bool {
    let common = new.topic.common(&old.topic);
    let shorter = new.topic.len().min(old.topic.len());
    let mut shared = new.topic.shared(&old.topic);
    let is_named = shared.any(|word| !is_everyday(word));
    let is_one_topic = (common >= TOPIC_WORDS && common * TOPIC_PART >= shorter)
        || (common == 1 && shorter == 1 && new.changes)
        || (common == 1
            && new.turns
            && old.opening.len() <= SHORT_OPENING
            && gives_one_of_unit(new, old))
        || names_old_figure(new, old);
    is_named
        && is_one_topic
        && !new.adds
        && !is_other_case(new, old, common)
        && differ_in_a_figure(new, old)
}

/// Whether both give one figure of one measure with a unit: "capped at 10 MB", then "bumped the cap to 64 MB".
fn gives_one_of_unit(new: &Statement, old: &Statement) -> bool {
    let (Some(ours), Some(theirs)) = (only_figure(new), only_figure(old)) else {
        return false;
    };
    ours.key == theirs.key && figures::has_unit(&ours.key)
}

fn only_figure(statement: &Statement) -> Option<&Setting> {
    let mut figures = statement.figures.iter();
    figures.next().filter(|_| figures.next().is_none())
}

/// Whether the new statement says that something changes, and names the old figure beside its own: "port 8080 clashes with the
/// proxy, so it's on 9313 from today".
fn names_old_figure(new: &Statement, old: &Statement) -> bool {
    let Some(theirs) = only_figure(old) else {
        return false;
    };
    let is_named = new.figures.iter().any(|it| it.value == theirs.value);
    let is_other = new.figures.iter().any(|it| it.value != theirs.value);
    new.changes && is_named && is_other
}

/// Whether the statements speak of two things of a kind: "api pool" and "import pool", or sentences that differ in a
/// word or two, as those about the backend and about the frontend do.
fn is_other_case(new: &Statement, old: &Statement, common: usize) -> bool {
    let is_qualified_otherwise = new.qualifiers.iter().any(|ours| {
        let of_old = old.qualifiers.iter().filter(|it| it.of == ours.of);
        let mut of_old = of_old.peekable();
        let is_new = old.topic.contains(ours.of) && !old.topic.contains(ours.word);
        is_new && of_old.peek().is_some() && of_old.all(|it| !new.topic.contains(it.word))
    });
    let (ours, theirs) = (new.topic.len() - common, old.topic.len() - common);
    let are_parallel = ours > 0 && theirs > 0 && common >= ours && common >= theirs;
    is_qualified_otherwise || (are_parallel && !new.changes)
}

/// Whether a measure of which each gives one figure has two. Where the number of one of many things differs, too, as
/// of a chapter, they are two things.
fn differ_in_a_figure(new: &Statement, old: &Statement) -> bool {
    let only = |statement: &Statement, is_meant: &dyn Fn(&ContentWords) -> bool| {
        let mut meant = statement.figures.iter().filter(|it| is_meant(&it.key));
        let first = meant.next().map(|it| it.value.clone());
        first.filter(|_| meant.next().is_none())
    };
    let mut differing: Vec<&ContentWords> = Vec::new();
    // "station 5" after "station 4" is another station, "ios 17" now another version.
    let names_things = |key: &ContentWords| !figures::has_unit(key) && !figures::is_bare(key);
    let measures = new.figures.iter().map(|figure| &figure.key);
    for key in measures.filter(|key| new.changes || !names_things(key)) {
        let ours = only(new, &|it| it == key);
        let theirs = match figures::is_bare(key) {
            true => only(old, &|it| !figures::has_unit(it)),
            false => only(old, &|it| it == key),
        };
        if let (Some(ours), Some(theirs)) = (ours, theirs)
            && ours != theirs
        {
            differing.push(key);
        }
    }
    let of_things = differing.iter().filter(|it| !figures::has_unit(it)).count();
    !differing.is_empty() && (of_things == 0 || differing.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(earlier: &str, later: &str, updates: bool) {
        let (old, new) = (Statement::parse(earlier), Statement::parse(later));
        assert_eq!(
            updates_figure(&new, &old),
            updates,
            "{earlier} / {later}\n{old:?}\n{new:?}"
        );
    }

    #[test]
    fn another_figure_of_one_measure_replaces_the_first() {
        for (earlier, later) in [
            (
                "the kiosk sleeps after 30 s idle, battery matters most",
                "people were cursing, so it sleeps after 3 min idle",
            ),
            (
                "sadly we still have to support ios 15, half of the drivers have old phones",
                "new phones have come, ios 17 is the lowest we care about now",
            ),
            (
                "the report is due with prof noether by april 10, i have six pages",
                "noether gave me two extra weeks: the report is due april 24",
            ),
            (
                "der warenimport läuft bei uns immer montags um 6",
                "wegen der lieferzeiten läuft der warenimport jetzt mittwochs um 4",
            ),
            (
                "商品接口的缓存先设成60秒",
                "数据库扛不住了,商品接口的缓存改为15分钟吧",
            ),
            (
                "the debug port is at 115200 baud, nothing special",
                "i flashed a build with the debug port at 921600",
            ),
            // One word tells what it is, where both give one figure of one unit and the later one says that it changed.
            (
                "tide charts are capped at 10 MB",
                "the keepers kept complaining about the cap, so it was bumped to 64 MB",
            ),
            (
                "the gauge freeze is on march 20th, keep that in mind when planning",
                "the crew isn't ready, the freeze got pushed to the 27th",
            ),
            // The old figure is named beside the new one.
            (
                "the pier gauge answers on port 7000",
                "7000 is taken by the radio, the gauge is on port 7410 now",
            ),
        ] {
            check(earlier, later, true);
        }
    }

    #[test]
    fn a_statement_that_turns_from_what_held_ends_what_it_shares_its_words_with() {
        let reason = |earlier, later| ends(&Statement::parse(later), &Statement::parse(earlier));
        for (earlier, later) in [
            (
                "the night crew reads the gauges by hand",
                "gauges get read by the tower, the night crew is off that from now on",
            ),
            (
                "references in author-year style please",
                "change of plans, the references get numbers in the style of the journal",
            ),
            (
                "kommentare im code bitte auf deutsch",
                "ab jetzt sind kommentare im code englisch",
            ),
            // What the first one opens with is what it is about.
            (
                "grace owns the tide service, ask her before touching the tables of the charts",
                "grace moved over to the radio, so anything about tide charts goes to linus now",
            ),
            (
                "la grúa del muelle la revisa linus, y lleva también las boyas y los cabos",
                "linus está de baja, la grúa del muelle la lleva ada mientras tanto",
            ),
        ] {
            assert!(reason(earlier, later).is_some(), "{earlier} / {later}");
        }
        for (earlier, later) in [
            (
                "chapter 2 should be under 4000 words",
                "chapter 5 can have 9000 words after all",
            ),
            (
                "errors go to the tower channel",
                "from now on errors go to the harbour channel, too",
            ),
            (
                "the ferry leaves at noon",
                "the tower is painted white these days",
            ),
        ] {
            assert_eq!(reason(earlier, later), None, "{earlier} / {later}");
        }
    }

    #[test]
    fn the_same_denial_in_other_words_is_no_opposite() {
        let reason = |earlier, later| ends(&Statement::parse(later), &Statement::parse(earlier));
        for (earlier, later) in [
            (
                "no comments that just restate the code",
                "skip comments that restate the code",
            ),
            ("no em dashes in any text", "text must be free of em dashes"),
            (
                "don't water the ferns more than twice a week",
                "water the ferns every week",
            ),
        ] {
            assert_eq!(reason(earlier, later), None, "{earlier} / {later}");
        }
        let reversed = reason(
            "no em dashes in any text",
            "please use em dashes in any text",
        );
        assert_eq!(reversed, Some(Reason::Reversed));
    }

    #[test]
    fn everyday_words_a_number_and_a_contrast_tell_no_subject() {
        let reason = |earlier, later| ends(&Statement::parse(later), &Statement::parse(earlier));
        for (earlier, later) in [
            (
                "the tower keeper gets 60 a month for oil",
                "the new pump costs 7 a month, the contract is with barbara",
            ),
            (
                "the ferry is fine, it is back at 9:30",
                "the gull is fine too, somebody brought her back at 16:30",
            ),
            (
                "boats of class 8, 6 and 5 moor in the basin",
                "the crane came with 5 bolts instead of 6",
            ),
            (
                "no ink drawings in letters to the harbour office",
                "write two sentences for the office on the board, not a letter",
            ),
            (
                "the insurance has to begin on 30 april",
                "the gauge contract is cancelled to 30 april",
            ),
            (
                "tomorrow is friday, the crew is off",
                "not on a friday, thursday 29",
            ),
        ] {
            assert_eq!(reason(earlier, later), None, "{earlier} / {later}");
        }
    }

    #[test]
    fn what_moves_to_another_day_is_no_longer_on_the_first() {
        let reason = |earlier, later| ends(&Statement::parse(later), &Statement::parse(earlier));
        for (earlier, later) in [
            (
                "rowing is wednesday 7.30, same pier",
                "rowing moves to thursday, quarter to eight, from after easter",
            ),
            (
                "das hafentreffen ist dienstags um neun",
                "das hafentreffen rückt auf donnerstag",
            ),
            (
                "la reunión del muelle es el lunes",
                "la reunión del muelle pasa al jueves",
            ),
            ("码头例会定在周二", "码头例会改到周四"),
        ] {
            assert!(reason(earlier, later).is_some(), "{earlier} / {later}");
        }
    }

    #[test]
    fn figures_of_two_things_both_hold() {
        for (earlier, later) in [
            (
                "chapter 2 should be under 4000 words",
                "chapter 5 can have up to 9000 words, it is the storm",
            ),
            (
                "the api pool of the server has 4 threads",
                "the import pool of the server has 16 threads",
            ),
            (
                "backend tests take 5 min in ci",
                "frontend tests take 9 min in ci",
            ),
            (
                "tests of the backend take 5 min in ci",
                "tests of the frontend take 9 min in ci",
            ),
            (
                "please never cache the harbour charts of station 4",
                "please never cache the harbour charts of station 5",
            ),
            (
                "the report is due on monday at noon",
                "the report also goes to grace on tuesday",
            ),
            // One word is too little where the first statement says much, and without a word of change.
            (
                "the night crew of the north pier rests 30 minutes after each gauge",
                "the ferry got moved, the crew boards 5 minutes later",
            ),
            (
                "the harbour lunch takes 30 min",
                "the harbour walk takes 90 min",
            ),
        ] {
            check(earlier, later, false);
        }
    }
}
