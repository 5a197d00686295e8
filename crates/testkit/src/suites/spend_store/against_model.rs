//! Random calls of a store of spending, compared with a list of the calls.

use std::ops::Deref;

use daybook_domain::calendar::{Day, Month};
use daybook_domain::model::Usage;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{
    Amount, BudgetPeriod, Cap, Charge, Payer, Period, ReservationId, ReserveOutcome, SettleOutcome,
    SpendBy,
};
use daybook_domain::{Money, Tenant, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::{DAY, charge, money_per, tokens_per};
use crate::fixtures::at;

/// Number of sequences that one check tries.
pub const SEQUENCES: u32 = 48;
/// Most steps in a sequence.
const LONGEST: usize = 40;

#[derive(Debug, Clone)]
enum SpendStep {
    Reserve {
        who: (usize, usize, usize),
        tokens: u64,
        money: Option<u64>,
    },
    Settle {
        which: usize,
        usage: (u64, u64),
        cost: Option<u64>,
    },
    Release(usize),
    Wait(u64),
}

/// A call of a model: its charge, its time, and the amount that it counts.
#[derive(Debug)]
struct CallRecord {
    id: ReservationId,
    charge: Charge,
    at: Timestamp,
    counts: Amount,
    open: bool,
}

fn steps() -> impl Strategy<Value = Vec<SpendStep>> {
    let who = (0..2_usize, 0..2_usize, 0..2_usize);
    let money = prop::option::weighted(0.9, 0..40_u64);
    let step = prop_oneof![
        6 => (who, 0..40_u64, money)
            .prop_map(|(who, tokens, money)| SpendStep::Reserve { who, tokens, money }),
        3 => (0..9_usize, (0..30_u64, 0..20_u64), prop::option::of(0..50_u64))
            .prop_map(|(which, usage, cost)| SpendStep::Settle { which, usage, cost }),
        1 => (0..9_usize).prop_map(SpendStep::Release),
        // Five days make a month's end likely.
        1 => (0..5 * DAY).prop_map(SpendStep::Wait),
    ];
    prop::collection::vec(step, 1..=LONGEST)
}

fn caps() -> [Cap; 6] {
    [
        tokens_per(Period::Run, Payer::User, 150),
        money_per(Period::Run, Payer::Tenant, 200),
        tokens_per(Period::Day, Payer::Tenant, 120),
        money_per(Period::Day, Payer::User, 90),
        tokens_per(Period::Month, Payer::User, 160),
        money_per(Period::Month, Payer::Tenant, 180),
    ]
}

/// Runs random steps on empty stores that `make` makes. Where it returns `None`, nothing is checked.
///
/// # Panics
/// When an answer differs from the list's, with the shortest sequence found that shows it.
pub fn check<S>(make: impl Fn() -> Option<S>, sequences: u32)
where
    S: Deref,
    S::Target: SpendStore + Sized,
{
    let config = Config {
        cases: sequences,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        let Some(store) = make() else { return Ok(()) };
        crate::run(play(&*store, &steps))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

async fn play(store: &dyn SpendStore, steps: &[SpendStep]) -> Result<(), TestCaseError> {
    // The last days of a month and of a year.
    let mut now = at(DAY * 57);
    let mut all: Vec<CallRecord> = Vec::new();
    for step in steps {
        match step {
            SpendStep::Wait(seconds) => now = now.plus(std::time::Duration::from_secs(*seconds)),
            SpendStep::Reserve { who, tokens, money } => {
                let charge = charge_for(*who, *tokens, *money);
                reserve(store, &mut all, charge, now).await?;
            }
            SpendStep::Settle { which, usage, cost } => {
                if let Some(done) = nth(&mut all, *which) {
                    settle(store, done, *usage, *cost, now).await?;
                }
            }
            SpendStep::Release(which) => {
                if let Some(done) = nth(&mut all, *which) {
                    let released = store.release(&done.id).await.unwrap();
                    prop_assert_eq!(released, done.open);
                    if released {
                        (done.counts, done.open) = (Amount::default(), false);
                    }
                }
            }
        }
        compare(store, &all, now).await?;
    }
    Ok(())
}

fn nth(all: &mut [CallRecord], which: usize) -> Option<&mut CallRecord> {
    let count = all.len();
    all.get_mut(which.checked_rem(count)?)
}

fn charge_for(
    (tenant, user, run): (usize, usize, usize),
    tokens: u64,
    money: Option<u64>,
) -> Charge {
    Charge {
        tenant: Tenant(["left", "right"][tenant].to_owned()),
        user: ["ada", "bob"][user].to_owned(),
        run: ["1", "2"][run].to_owned(),
        money: money.map(Money),
        ..charge(tokens, 0)
    }
}

async fn reserve(
    store: &dyn SpendStore,
    all: &mut Vec<CallRecord>,
    charge: Charge,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    let mut caps = caps().to_vec();
    if charge.money.is_none() {
        caps.retain(|cap| cap.money.is_none());
    }
    let wanted = Amount {
        tokens: charge.tokens,
        money: charge.money.unwrap_or_default(),
    };
    let passes = |cap: &Cap| {
        let after = counted_amount(all, cap.of, cap.period, &charge, now).plus(wanted);
        cap.tokens.is_some_and(|most| after.tokens > most)
            || cap.money.is_some_and(|most| after.money > most)
    };
    let passed: Vec<Cap> = caps.iter().copied().filter(passes).collect();
    match store.reserve(&charge, &caps, now).await.unwrap() {
        ReserveOutcome::Reserved(id) => {
            prop_assert!(passed.is_empty(), "{passed:?} passed by {charge:?}");
            prop_assert!(all.iter().all(|done| done.id != id));
            all.push(CallRecord {
                id,
                charge,
                at: now,
                counts: wanted,
                open: true,
            });
        }
        ReserveOutcome::AtCap(at_cap) => {
            prop_assert!(
                passed.contains(&at_cap.cap),
                "{at_cap:?}, not one of {passed:?}"
            );
            let used = counted_amount(all, at_cap.cap.of, at_cap.cap.period, &charge, now);
            prop_assert_eq!(at_cap.used, used);
        }
    }
    Ok(())
}

async fn settle(
    store: &dyn SpendStore,
    done: &mut CallRecord,
    (input, output): (u64, u64),
    cost: Option<u64>,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    let usage = Usage {
        input,
        cached: 0,
        output,
    };
    let settled = store.settle(&done.id, usage, cost.map(Money), now).await;
    let settled = settled.unwrap();
    if !done.open {
        prop_assert_eq!(settled, SettleOutcome::Unknown);
        return Ok(());
    }
    let counts = Amount {
        tokens: input + output,
        money: cost.map_or(done.counts.money, Money),
    };
    let exceeds = counts.tokens > done.counts.tokens
        || (done.charge.money.is_some() && counts.money > done.counts.money);
    prop_assert_eq!(settled == SettleOutcome::Exceeded, exceeds);
    (done.counts, done.open) = (counts, false);
    Ok(())
}

/// The amount that counts in a budget, added up over all calls.
fn counted_amount(
    all: &[CallRecord],
    of: Payer,
    period: Period,
    like: &Charge,
    now: Timestamp,
) -> Amount {
    let counts = all.iter().filter(|done| {
        let its_payer = match of {
            Payer::Tenant => true,
            Payer::User => done.charge.user == like.user,
        };
        let its_period = match period {
            Period::Run => done.charge.run == like.run,
            Period::Day => Day::of(done.at) == Day::of(now),
            Period::Month => Month::of(done.at) == Month::of(now),
        };
        done.charge.tenant == like.tenant && its_payer && its_period
    });
    counts.fold(Amount::default(), |sum, done| sum.plus(done.counts))
}

async fn compare(
    store: &dyn SpendStore,
    all: &[CallRecord],
    now: Timestamp,
) -> Result<(), TestCaseError> {
    for who in [(0, 0, 0), (0, 1, 1), (1, 0, 1)] {
        let like = charge_for(who, 0, None);
        let budgets = BudgetPeriod::all(&like.user, &like.run, now);
        let used = store.used(&like.tenant, &budgets).await.unwrap();
        let counted: Vec<Amount> = budgets
            .iter()
            .map(|budget| counted_amount(all, budget.of, budget.period, &like, now))
            .collect();
        prop_assert_eq!(used, counted);
        let always = (Timestamp::ZERO, Timestamp::MAX);
        for by in [SpendBy::Month, SpendBy::User] {
            let sums = store.spent(&like.tenant, always, by, 100).await.unwrap();
            let sum = sums
                .iter()
                .fold(Amount::default(), |all, sum| all.plus(sum.counts()));
            let theirs = all.iter().filter(|done| done.charge.tenant == like.tenant);
            let expected = theirs.fold(Amount::default(), |sum, done| sum.plus(done.counts));
            prop_assert_eq!(sum, expected);
        }
    }
    Ok(())
}
