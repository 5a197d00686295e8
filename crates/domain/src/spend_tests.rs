use super::*;
use crate::price::Price;

const NOVEMBER: Timestamp = Timestamp(1_793_491_200_000);

fn used(input: u64, cached: u64, output: u64) -> Usage {
    Usage {
        input,
        cached,
        output,
    }
}

fn charge(tokens: u64, money: u64) -> Charge {
    Charge {
        tenant: Tenant::local(),
        user: "ada".to_owned(),
        run: "7".to_owned(),
        session: None,
        stage: "extract".to_owned(),
        scope: None,
        model: "ada/small".to_owned(),
        tokens,
        money: Some(Money(money)),
    }
}

fn cap(period: Period, of: Payer, tokens: Option<u64>, money: Option<u64>) -> Cap {
    Cap {
        period,
        of,
        tokens,
        money: money.map(Money),
    }
}

#[test]
fn what_cannot_be_true_is_not_believed() {
    let absurd = used(u64::MAX, u64::MAX, u64::MAX);
    let dear = Price {
        output: Money(u64::MAX),
        ..Price::default()
    };
    let most = dear.cost(absurd);
    assert_eq!(most, Money(CALL_MONEY));
    let worst = WorstCase {
        tokens: 0,
        money: None,
    };
    let counted = worst.settled(absurd, Some(Money(u64::MAX))).amount();
    assert_eq!(counted.tokens, 2 * CALL_TOKENS);
    assert_eq!(counted.money, Money(CALL_MONEY));
    assert_eq!(clamp_usage(used(1, 2, 3)), used(1, 1, 3));
    let full = Amount {
        tokens: u64::MAX,
        money: Money(u64::MAX),
    };
    assert_eq!(full.plus(full).tokens, i64::MAX.unsigned_abs());
}

#[test]
fn a_charge_counts_for_the_tenant_and_the_user_in_each_period() {
    let budgets = BudgetPeriod::all("ada", "7", NOVEMBER);
    let said: Vec<String> = budgets
        .iter()
        .map(|a| {
            format!(
                "{}:{}/{}/{}",
                a.of.as_str(),
                a.user,
                a.period.as_str(),
                a.key
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            "tenant:/run/7",
            "tenant:/day/2026-11-01",
            "tenant:/month/2026-11",
            "user:ada/run/7",
            "user:ada/day/2026-11-01",
            "user:ada/month/2026-11",
        ]
    );
}

#[test]
fn a_cap_may_be_reached_and_not_passed() {
    let day = cap(Period::Day, Payer::User, Some(100), None);
    let used = |_: &BudgetPeriod| Amount {
        tokens: 90,
        money: Money(0),
    };
    assert_eq!(at_cap(&charge(10, 5), &[day], NOVEMBER, used), None);
    let at = at_cap(&charge(11, 5), &[day], NOVEMBER, used).unwrap();
    assert_eq!(at.until, Some(Timestamp(NOVEMBER.0 + 86_400_000)));
    assert!(at.is_cured_by_waiting());
    assert_eq!(
        at.to_string(),
        "at the cap of 100 tokens for a user per day: 90 are spent or reserved, and this call may need 11; \
         there is room again on 2026-11-02, UTC"
    );
    let never = at_cap(&charge(101, 5), &[day], NOVEMBER, used).unwrap();
    assert!(!never.is_cured_by_waiting() && never.to_string().contains("never fits"));
}

#[test]
fn of_several_caps_the_one_that_ends_last_is_named() {
    let caps = [
        cap(Period::Month, Payer::Tenant, None, Some(5)),
        cap(Period::Day, Payer::Tenant, Some(5), None),
    ];
    let used = |_: &BudgetPeriod| Amount {
        tokens: 5,
        money: Money(5),
    };
    let at = at_cap(&charge(1, 1), &caps, NOVEMBER, used).unwrap();
    assert_eq!(at.cap, caps[0]);
    assert!(
        at.to_string()
            .starts_with("at the cap of 0.000005 for a tenant per month")
    );
    let run = cap(Period::Run, Payer::Tenant, Some(5), None);
    let at = at_cap(&charge(1, 1), &[caps[0], run], NOVEMBER, used).unwrap();
    assert_eq!(
        (at.cap, at.until, at.is_cured_by_waiting()),
        (run, None, false)
    );
}

#[test]
fn what_is_reported_takes_the_place_of_the_worst() {
    let check = |reserved: Option<u64>, cost: Option<u64>, expected| {
        let worst = WorstCase {
            tokens: 9,
            money: reserved.map(Money),
        };
        let settled = worst.settled(used(6, 2, 1), cost.map(Money));
        assert_eq!(settled.usage, used(6, 2, 1));
        let money = settled.money.map(|money| money.0);
        assert_eq!((money, settled.outcome), expected);
        assert_eq!(settled.amount().tokens, 7);
    };
    check(Some(9), Some(4), (Some(4), SettleOutcome::Settled));
    check(Some(9), Some(10), (Some(10), SettleOutcome::Exceeded));
    // An unknown cost stays at the worst case.
    check(Some(9), None, (Some(9), SettleOutcome::Settled));
    check(None, Some(4), (Some(4), SettleOutcome::Settled));
    check(None, None, (None, SettleOutcome::Settled));
    let small = WorstCase {
        tokens: 6,
        money: None,
    };
    let more = small.settled(used(6, 2, 1), None).outcome;
    assert_eq!(more, SettleOutcome::Exceeded);
}
