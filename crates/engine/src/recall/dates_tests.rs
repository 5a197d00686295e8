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
fn unknown_times_are_of_no_date() {
    assert!(!Dates::of("in May", Timestamp::ZERO).contains(Timestamp::ZERO));
    assert_eq!(Dates::of("yesterday", Timestamp::ZERO), Dates::default());
}
