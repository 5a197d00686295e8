use super::*;

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn price(input: &str, cached: &str, output: &str) -> Price {
    Price {
        input: money(input),
        cached: money(cached),
        output: money(output),
    }
}

fn used(input: u64, cached: u64, output: u64) -> Usage {
    Usage {
        input,
        cached,
        output,
    }
}

#[test]
fn money_reads_as_it_is_shown() {
    for text in ["0.00", "3.00", "0.25", "0.125", "1234567.000001"] {
        assert_eq!(money(text).to_string(), text);
    }
    assert_eq!(
        (money("3"), money("3.")),
        (Money(3_000_000), Money(3_000_000))
    );
    for wrong in [
        "",
        ".5",
        "-1",
        "1e3",
        "1,5",
        "0.1234567",
        "99999999999999999999",
    ] {
        assert_eq!(wrong.parse::<Money>(), Err(ParseMoneyError), "{wrong}");
    }
}

#[test]
fn a_cost_is_rounded_up_and_cached_tokens_have_their_own_price() {
    let price = price("3", "0.3", "15");
    assert_eq!(price.cost(used(1_000_000, 0, 0)), money("3"));
    assert_eq!(price.cost(used(1_000_000, 900_000, 0)), money("0.57"));
    assert_eq!(price.cost(used(10, 10, 1)), Money(18));
    assert_eq!(
        price.cost(used(1, 1, 0)),
        Money(1),
        "a third of a millionth"
    );
    assert_eq!(price.cost(used(0, 0, 0)), Money::ZERO);
    assert_eq!(Price::default().cost(used(9, 9, 9)), Money::ZERO);
}

#[test]
fn the_worst_is_never_less_than_the_cost() {
    let odd = price("1", "1.25", "2");
    for cached in 0..=10 {
        let usage = used(10, cached, 3);
        assert!(odd.worst(used(10, 0, 3)) >= odd.cost(usage));
    }
}

#[test]
fn the_most_specific_pattern_wins() {
    let of = |n| Price {
        input: Money(n),
        ..Price::default()
    };
    let patterns = [
        "*",
        "ada/*",
        "ada/small-*",
        "*-small-2",
        "ada/small-2",
        "ada/*-2",
    ];
    let table = PriceTable::new(
        (0..)
            .map(of)
            .zip(patterns)
            .map(|(p, name)| (name.to_owned(), p)),
    );
    let found = |model| {
        table
            .price(model)
            .map(|price| patterns[price.input.0 as usize])
    };
    assert_eq!(found("ada/small-2"), Some("ada/small-2"));
    assert_eq!(found("ada/small-3"), Some("ada/small-*"));
    assert_eq!(found("ada/large-2"), Some("ada/*-2"));
    assert_eq!(found("ada/other"), Some("ada/*"));
    assert_eq!(found("bob/small-2"), Some("*"));
    assert_eq!(found("bob/very-small-2"), Some("*-small-2"));
    assert_eq!(PriceTable::default().price("ada/small"), None);
    assert_eq!(
        PriceTable::new([("ada/s*l-*1".to_owned(), of(1))]).price("ada/small-2"),
        None
    );
}

#[test]
fn a_star_stands_for_any_characters() {
    for (pattern, name) in [
        ("a*", "a"),
        ("*", ""),
        ("a*c*e", "abcde"),
        ("a**b", "ab"),
        ("*é*", "né"),
    ] {
        assert!(fits(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [
        ("a", "ab"),
        ("a*b", "a"),
        ("ab*ba", "aba"),
        ("*x*", "abc"),
        ("", "a"),
    ] {
        assert!(!fits(pattern, name), "{pattern} {name}");
    }
}
