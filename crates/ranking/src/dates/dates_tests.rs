use super::*;

/// Whether a question, asked on Sunday 22 November 2026, is about a day.
fn is_about(question: &str, day: &str) -> bool {
    let at = |day: &str| {
        let day: Date = day.parse().unwrap();
        let noon = day.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        Timestamp(noon.timestamp().as_millisecond())
    };
    Dates::of(question, at("2026-11-22")).contains(at(day))
}

#[test]
fn a_month_is_one_of_any_year_unless_the_year_is_named() {
    assert!(is_about("what did Ada paint in May?", "2023-05-31"));
    assert!(is_about("what did Ada paint in May?", "2024-05-01"));
    assert!(is_about("who came on 7 May, 2023?", "2023-05-08"));
    assert!(!is_about("who came on 7 May, 2023?", "2024-05-08"));
    assert!(is_about("what happened in sept 2023", "2023-09-30"));
}

#[test]
fn a_verb_is_no_month() {
    assert!(!is_about("what may we do?", "2023-05-08"));
    assert!(!is_about("who will march with us?", "2023-03-08"));
    assert!(is_about("who came in march?", "2023-03-08"));
}

#[test]
fn what_is_relative_counts_from_when_it_was_asked() {
    assert!(is_about("what did we do yesterday?", "2026-11-21"));
    assert!(!is_about("what did we do yesterday?", "2026-11-18"));
    assert!(is_about("what did I say last Friday?", "2026-11-20"));
    assert!(!is_about("what did I say last Friday?", "2026-11-13"));
    assert!(is_about("what broke last week?", "2026-11-12"));
    assert!(is_about("what broke last month?", "2026-10-05"));
    assert!(is_about("what broke last year?", "2025-02-05"));
}

#[test]
fn a_whole_date_is_a_day_and_those_beside_it() {
    assert!(is_about("what was decided on 2026-03-04?", "2026-03-05"));
    assert!(!is_about("what was decided on 2026-03-04?", "2026-03-07"));
}

#[test]
fn a_day_without_a_month_is_one_of_any_month() {
    assert!(is_about("why was the site down on the 14th?", "2026-10-14"));
    assert!(is_about("warum ging am 14. nichts?", "2026-09-14"));
    assert!(!is_about(
        "why was the site down on the 14th?",
        "2026-10-20"
    ));
    assert!(!is_about("what is the 5th option?", "2026-10-05"));
    assert!(!is_about("am 14. Mai?", "2026-10-14"));
}

#[test]
fn unknown_times_are_of_no_date() {
    assert!(!Dates::of("in May", Timestamp::ZERO).contains(Timestamp::ZERO));
    assert_eq!(Dates::of("yesterday", Timestamp::ZERO), Dates::default());
}

/// The days that a question names exactly, asked on Sunday 22 November 2026, and its other words.
#[track_caller]
fn check_named(question: &str, from: &str, to: &str, rest: &str) {
    let day = |day: &str| -> Date { day.parse().unwrap() };
    let named = named_days(question, day("2026-11-22"));
    assert_eq!(
        named,
        Some(((day(from), day(to)), rest.to_owned())),
        "{question}"
    );
}

#[test]
fn a_question_for_what_was_done_names_days_exactly() {
    let done = "what did we do";
    let day = |question: &str, day: &str| check_named(question, day, day, done);
    check_named(
        "what did we do on 27 January?",
        "2026-01-27",
        "2026-01-27",
        "what did we do on",
    );
    day("what did we do January 27?", "2026-01-27");
    day("what did we do 27th January 2025?", "2025-01-27");
    day("what did we do 24 December", "2025-12-24");
    day("what did we do 2026-02-09?", "2026-02-09");
    day("what did we do the 14th?", "2026-11-14");
    day("what did we do the 30th?", "2026-10-30");
    day("what did we do yesterday?", "2026-11-21");
    day("what did we do three days ago?", "2026-11-19");
    check_named(
        "what did we do last week?",
        "2026-11-09",
        "2026-11-15",
        done,
    );
    check_named(
        "what did we do two weeks ago?",
        "2026-11-02",
        "2026-11-08",
        done,
    );
    check_named(
        "what did we do this week?",
        "2026-11-16",
        "2026-11-22",
        done,
    );
    check_named(
        "what did we do last month?",
        "2026-10-01",
        "2026-10-31",
        done,
    );
    check_named(
        "was haben wir vor 2 Monaten am Import gemacht?",
        "2026-09-01",
        "2026-09-30",
        "was haben wir am Import gemacht",
    );
}

#[test]
fn a_question_without_a_period_names_no_days() {
    let today: Date = "2026-11-22".parse().unwrap();
    for question in [
        "what may we do?",
        "what did we do?",
        "what did we do on the second day",
        "how long ago was it",
    ] {
        assert_eq!(named_days(question, today), None, "{question}");
    }
    // There was no such day last year either.
    assert_eq!(named_days("what did we do on 31 February?", today), None);
}
