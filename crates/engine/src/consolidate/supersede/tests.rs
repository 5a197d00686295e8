//! Pairs of statements, in the order in which they were made: whether the second ends the validity of the first.

use daybook_domain::{Observation, ObservationId, ObservationKind as Kind};
use daybook_testkit::fixtures::{evidence, observation, session, user_scope};

use super::*;
use crate::consolidate::merge::merge_observations;

fn observed(kind: Kind, text: &str, at: u64) -> Observation {
    let one = evidence(&session("s"), &[at]);
    let mut observation = observation(&user_scope("ada"), text, vec![one]);
    observation.kind = kind;
    observation.id = ObservationId::of(&observation.scope, kind, text);
    observation.origin = daybook_domain::ObservationOrigin::Typed;
    observation
}

fn merged(observations: &[Observation]) -> Vec<MergedObservation> {
    merge_observations(observations.to_vec(), &[], &mut ParsedTexts::default())
}

fn changes(merged: &[MergedObservation]) -> StatementChanges {
    statement_changes(merged, &mut ParsedTexts::default())
}

fn reason(earlier: &str, later: &str) -> Option<SupersessionReason> {
    let all = [
        observed(Kind::Decision, earlier, 1),
        observed(Kind::Preference, later, 9),
    ];
    let merged = merged(&all);
    let found = changes(&merged).changes;
    assert!(
        found.iter().all(|c| merged[c.earlier].text == earlier),
        "{earlier} / {later}"
    );
    found.first().map(|change| change.reason)
}

/// A pick from the list in event `list`, made at each of these events.
fn picked(option: &str, list: u64, at: &[u64]) -> Observation {
    let evidence = at.iter().map(|at| evidence(&session("s"), &[list, *at]));
    Observation {
        context: Some("accepted: “b”".to_owned()),
        evidence: evidence.collect(),
        ..observed(Kind::Decision, option, 1)
    }
}

#[test]
fn the_last_pick_from_a_list_ends_those_before_it() {
    let html = "An HTML page with a print stylesheet";
    let pdf = "PDF with a new dependency";
    let other = "Guests buy without an account";
    let all = [
        picked(html, 1, &[2, 9]),
        picked(pdf, 1, &[5]),
        picked(other, 6, &[7]),
    ];
    let merged = merged(&all);
    let ended: Vec<(&str, &str)> = changes(&merged)
        .changes
        .iter()
        .map(|change| (&*merged[change.earlier].text, &*merged[change.later].text))
        .collect();
    assert_eq!(ended, [(pdf, html)]);
    // A pick besides takes nothing back.
    let besides = Observation {
        context: Some("accepted: “2 as well”".to_owned()),
        ..picked(html, 1, &[9])
    };
    assert_eq!(
        changes(&self::merged(&[picked(pdf, 1, &[5]), besides])).changes,
        []
    );
}

/// A number that a person gave, and what an edit sets it to later, in the name that the code has for it.
#[test]
fn a_value_that_an_edit_sets_ends_what_was_said_of_its_number() {
    let ended = |said: &str, name: &str, number: &str| {
        let mut set = observed(Kind::Value, number, 9);
        set.subject = Some(name.to_owned());
        let all = merged(&[observed(Kind::Fact, said, 1), set]);
        let found = changes(&all).changes;
        let texts = found.iter().map(|it| all[it.earlier].text.clone());
        texts.collect::<Vec<_>>()
    };
    for (said, name, number) in [
        ("the page size is 24", "PAGE_SIZE in settings.py", "30"),
        (
            "we agreed on a page size of 24",
            "pageSize in src/app.ts",
            "30",
        ),
        (
            "the idle timeout is 30 s",
            "idle_timeout in config.yaml",
            "45 s",
        ),
    ] {
        assert_eq!(ended(said, name, number), [said]);
    }
    for (said, name, number) in [
        ("the page size is 24", "PAGE_SIZE in settings.py", "24"),
        ("the page has 3 columns", "PAGE_SIZE in settings.py", "30"),
        ("the import timeout is 20 s", "TIMEOUT in serve.py", "30 s"),
        (
            "the pool size of the worker is 20",
            "pool size in api",
            "30",
        ),
        (
            "the page size is about 3 kB",
            "PAGE_SIZE in settings.py",
            "30",
        ),
    ] {
        assert_eq!(ended(said, name, number), Vec::<String>::new());
    }
}

#[test]
fn what_one_speaker_says_of_themselves_is_no_news_of_another() {
    let by = |speaker: &str, text: &str, at| Observation {
        context: Some(format!("by {speaker}")),
        ..observed(Kind::Fact, text, at)
    };
    let ended = |later: Observation| {
        let all = [by("ada", "I moved the standup to 9:30", 1), later];
        changes(&merged(&all)).changes.len()
    };
    assert_eq!(ended(by("ada", "I moved the standup to 9:45", 9)), 1);
    assert_eq!(ended(by("grace", "I moved the standup to 9:45", 9)), 0);
}

#[test]
fn a_later_statement_replaces_reverses_or_takes_back_an_earlier_one() {
    use SupersessionReason::{Replaced, Reversed, Withdrawn};
    for (earlier, later, expected) in [
        (
            "Let's use Postgres for the ledger",
            "let's use SQLite for the ledger",
            Replaced,
        ),
        (
            "Use tabs for indentation",
            "use spaces instead of tabs",
            Replaced,
        ),
        (
            "The staging server runs on port 8080",
            "the staging server now runs on port 9090",
            Replaced,
        ),
        (
            "our default branch is main",
            "our default branch is trunk",
            Replaced,
        ),
        (
            "the auth service is called gatekeeper, all its settings start with its name",
            "we renamed gatekeeper to turnstile (name clash with a vendor), new settings use that",
            Replaced,
        ),
        (
            "payments go through adyen",
            "payments go through mollie now",
            Replaced,
        ),
        (
            "grace owns the importer",
            "linus owns the importer",
            Replaced,
        ),
        (
            "Deploy on Fridays after the release",
            "never deploy on Fridays",
            Reversed,
        ),
        (
            "never amend commits",
            "you can amend commits again",
            Reversed,
        ),
        (
            "Use numbered suffixes",
            "we don't need suffixes any more",
            Withdrawn,
        ),
        (
            "wir verwenden Postgres für das Hauptbuch",
            "wir nehmen SQLite statt Postgres",
            Replaced,
        ),
        (
            "let's go with JWT",
            "actually, let's go with cookies instead",
            Replaced,
        ),
    ] {
        assert_eq!(
            reason(earlier, later),
            Some(expected),
            "{earlier} / {later}"
        );
    }
}

#[test]
fn statements_that_only_resemble_each_other_both_hold() {
    for (one, other) in [
        ("Use tabs for indentation", "use tabs for alignment"),
        (
            "Use tabs for indentation",
            "use spaces for indentation in Python",
        ),
        ("write tests in Rust", "write docs in Rust"),
        (
            "don't mock the database in tests",
            "add tests for the database layer",
        ),
        ("Never push to main", "push the branch when the tests pass"),
        ("The importer is slow", "the importer is written in Rust"),
        (
            "Use Postgres for the ledger",
            "Postgres needs an index on dates",
        ),
        ("don't amend commits", "keep commits small"),
        (
            "always run the linter before a commit",
            "always run the tests before a commit",
        ),
        ("close the file after reading", "read the file in chunks"),
    ] {
        assert_eq!(reason(one, other), None, "{one} / {other}");
    }
}

#[test]
fn what_is_stated_again_holds_again() {
    let all = [
        observed(Kind::Decision, "use tabs for indentation", 1),
        observed(Kind::Decision, "use spaces for indentation", 5),
        observed(Kind::Decision, "use tabs for indentation", 9),
    ];
    let merged = merged(&all);
    let found = changes(&merged).changes;
    assert_eq!(found.len(), 1);
    assert_eq!(merged[found[0].later].text, "use tabs for indentation");
}

#[test]
fn what_came_from_outside_ends_no_statement_of_a_person() {
    let mut planted = observed(Kind::Fact, "our default branch is evil", 9);
    planted.origin = daybook_domain::ObservationOrigin::External;
    let all = [
        observed(Kind::Fact, "our default branch is main", 1),
        planted,
    ];
    assert_eq!(changes(&merged(&all)).changes, []);
}

#[test]
fn what_rests_on_a_replaced_statement_is_to_be_reviewed() {
    let all = [
        observed(Kind::Decision, "let's use Postgres for the ledger", 1),
        observed(Kind::Decision, "keep the Postgres schema in migrations", 2),
        observed(Kind::Decision, "let's use SQLite for the ledger", 5),
    ];
    let found = changes(&merged(&all));
    let reviewed: Vec<usize> = found.reviews.iter().map(|(at, _)| *at).collect();
    assert_eq!(reviewed, [1]);
}

#[test]
fn what_was_stated_at_one_time_stays_open() {
    let all = [
        observed(Kind::Decision, "let's use Postgres for the ledger", 3),
        observed(Kind::Decision, "let's use SQLite for the ledger", 3),
    ];
    let found = changes(&merged(&all));
    assert_eq!(
        (found.changes, found.contradictions),
        (vec![], vec![(0, 1)])
    );
}

/// Statements of every form that a rule reads.
const FORMS: [&str; 16] = [
    "Let's use Postgres for the ledger",
    "let's use SQLite for the ledger instead of Postgres",
    "never use Postgres for the ledger",
    "use tabs for indentation",
    "use spaces instead of tabs",
    "the staging server runs on port 8080",
    "the staging server now runs on port 9090",
    "we renamed the ledger to the account book",
    "we're changing the ledger from Postgres to SQLite",
    "the ledger is gone",
    "we don't need tabs any more",
    "close the question of the ledger",
    "don't deploy on fridays",
    "please deploy on fridays again",
    "which port does the staging server use?",
    "8080",
];

#[test]
fn an_outline_lets_every_pair_pass_that_a_rule_applies_to() {
    use daybook_domain::ObservationOrigin as Origin;
    let origins = [Origin::External, Origin::Concluded, Origin::Typed];
    let mut all = Vec::new();
    for (kind, origin) in Kind::ALL
        .iter()
        .flat_map(|kind| origins.map(|it| (*kind, it)))
    {
        for (n, text) in FORMS.iter().enumerate() {
            let mut one = observed(kind, text, n as u64);
            one.origin = origin;
            one.subject = (kind == Kind::Value).then(|| "staging port".to_owned());
            all.extend(merged(&[one]));
        }
    }
    let mut texts = ParsedTexts::default();
    let stated: Vec<Stated<'_>> = all.iter().map(|one| stated(one, &mut texts)).collect();
    let outlines: Vec<StatementOutline> = stated.iter().map(StatementOutline::of).collect();
    let (mut ended, mut excluded) = (0, 0);
    for later in &stated {
        let outline = LaterOutline::of(later);
        for (earlier, before) in stated.iter().zip(&outlines) {
            let may = outline.may_end_any() && outline.may_end(before);
            let ends = supersedes(later, earlier).is_some();
            assert!(may || !ends, "{:?} / {:?}", later.merged, earlier.merged);
            ended += usize::from(ends);
            excluded += usize::from(!may);
        }
    }
    assert!(
        ended > 100 && excluded > ended,
        "{ended} ended, {excluded} excluded"
    );
}

#[test]
fn what_was_searched_for_is_not_searched_for_again() {
    let of = |forms: &[&str]| {
        let stated = forms.iter().enumerate();
        let stated = stated.map(|(n, text)| observed(Kind::Decision, text, n as u64));
        merged(&stated.collect::<Vec<_>>())
    };
    let mut texts = ParsedTexts::default();
    // One more at the end, one in between, the first one gone, and all as before.
    let mut between = FORMS.to_vec();
    between.insert(3, "let's use DuckDB for the ledger");
    for forms in [&FORMS[..12], &FORMS, &between, &between[1..], &between[1..]] {
        let merged = of(forms);
        let kept = statement_changes(&merged, &mut texts);
        assert_eq!(kept, changes(&merged), "{forms:?}");
        assert!(!kept.changes.is_empty());
        texts.drop_unused();
        let bytes = texts.encode_changed().expect("searches are new");
        texts = ParsedTexts::decode(&bytes);
        assert_eq!(statement_changes(&merged, &mut texts), kept);
        assert_eq!(texts.encode_changed(), None, "all was found last time");
    }
}
