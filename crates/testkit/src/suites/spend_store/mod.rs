//! The promises of a store of spending.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

mod against_model;

use daybook_domain::limits::CALL_TOKENS;
use daybook_domain::model::Usage;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{
    Amount, BudgetPeriod, Cap, CapReached, Charge, Payer, Period, ReservationId, ReserveOutcome,
    SettleOutcome, SpendBy, SpendSum,
};
use daybook_domain::{Money, Scope, ScopeKind, StoreError, Tenant, Timestamp};
use strum::VariantArray;

pub use against_model::{SEQUENCES, check};

use crate::fixtures::{DAWN, at, project_scope, session};

const DAY: u64 = 86_400;
/// Number of workers that reserve at once.
const WORKERS: u64 = 16;

fn charge(tokens: u64, money: u64) -> Charge {
    Charge {
        tenant: Tenant::local(),
        user: "ada".to_owned(),
        run: "1".to_owned(),
        session: None,
        stage: "extract".to_owned(),
        scope: None,
        model: "ada/small".to_owned(),
        tokens,
        money: Some(Money(money)),
    }
}

fn of_user(user: &str, charge: Charge) -> Charge {
    Charge {
        user: user.to_owned(),
        ..charge
    }
}

fn tokens_per(period: Period, of: Payer, tokens: u64) -> Cap {
    Cap {
        period,
        of,
        tokens: Some(tokens),
        money: None,
    }
}

fn money_per(period: Period, of: Payer, money: u64) -> Cap {
    Cap {
        period,
        of,
        tokens: None,
        money: Some(Money(money)),
    }
}

fn usage(input: u64, output: u64) -> Usage {
    Usage {
        input,
        cached: input / 2,
        output,
    }
}

async fn reserve(
    store: &dyn SpendStore,
    charge: &Charge,
    caps: &[Cap],
    now: Timestamp,
) -> Result<ReservationId, CapReached> {
    match store.reserve(charge, caps, now).await.unwrap() {
        ReserveOutcome::Reserved(id) => Ok(id),
        ReserveOutcome::AtCap(at_cap) => Err(*at_cap),
    }
}

/// The amounts that count in each budget of a tenant and a user: run, day and month.
async fn amounts_used(store: &dyn SpendStore, charge: &Charge, now: Timestamp) -> Vec<(u64, u64)> {
    let budgets = BudgetPeriod::all(&charge.user, &charge.run, now);
    let used = store.used(&charge.tenant, &budgets).await.unwrap();
    used.iter()
        .map(|used| (used.tokens, used.money.0))
        .collect()
}

async fn spend_sums(store: &dyn SpendStore, by: SpendBy) -> Vec<SpendSum> {
    let always = (Timestamp::ZERO, Timestamp::MAX);
    let spent = store.spent(&Tenant::local(), always, by, 100).await;
    spent.unwrap()
}

pub async fn a_cap_is_reached_and_never_passed(store: &dyn SpendStore) {
    let caps = [
        tokens_per(Period::Day, Payer::Tenant, 100),
        money_per(Period::Day, Payer::Tenant, 1_000),
    ];
    for _ in 0..2 {
        assert!(reserve(store, &charge(40, 10), &caps, DAWN).await.is_ok());
    }
    let refused = reserve(store, &charge(21, 10), &caps, DAWN)
        .await
        .unwrap_err();
    let expected = CapReached {
        cap: caps[0],
        used: Amount {
            tokens: 80,
            money: Money(20),
        },
        wanted: Amount {
            tokens: 21,
            money: Money(10),
        },
        until: Some(at(DAY)),
    };
    assert_eq!(refused, expected);
    let refused = reserve(store, &charge(1, 981), &caps, DAWN).await;
    assert_eq!(refused.unwrap_err().cap, caps[1]);
    assert!(reserve(store, &charge(20, 980), &caps, DAWN).await.is_ok());
    assert!(reserve(store, &charge(1, 0), &caps, DAWN).await.is_err());
    assert_eq!(
        amounts_used(store, &charge(0, 0), DAWN).await,
        [(100, 1_000); 6]
    );
}

pub async fn each_user_has_a_cap_and_the_tenant_has_one_over_all(store: &dyn SpendStore) {
    let caps = [
        tokens_per(Period::Month, Payer::User, 100),
        tokens_per(Period::Month, Payer::Tenant, 150),
    ];
    let (ada, bob) = (charge(90, 0), of_user("bob", charge(60, 0)));
    assert!(reserve(store, &ada, &caps, DAWN).await.is_ok());
    assert_eq!(
        reserve(store, &charge(11, 0), &caps, DAWN)
            .await
            .unwrap_err()
            .cap,
        caps[0]
    );
    assert!(reserve(store, &bob, &caps, DAWN).await.is_ok());
    let more = of_user("bob", charge(1, 0));
    assert_eq!(
        reserve(store, &more, &caps, DAWN).await.unwrap_err().cap,
        caps[1]
    );
}

pub async fn a_new_day_a_new_month_and_a_new_run_begin_with_nothing(store: &dyn SpendStore) {
    let (last, first) = (at(DAY * 30 - 1), at(DAY * 30));
    let day = [tokens_per(Period::Day, Payer::Tenant, 10)];
    let month = [tokens_per(Period::Month, Payer::User, 20)];
    assert!(reserve(store, &charge(10, 0), &day, last).await.is_ok());
    assert!(reserve(store, &charge(10, 0), &month, last).await.is_ok());
    assert!(reserve(store, &charge(1, 0), &day, last).await.is_err());
    let refused = reserve(store, &charge(1, 0), &month, last).await;
    assert_eq!(refused.unwrap_err().until, Some(first));
    assert!(reserve(store, &charge(10, 0), &day, first).await.is_ok());
    assert!(reserve(store, &charge(10, 0), &month, first).await.is_ok());

    let run = [tokens_per(Period::Run, Payer::Tenant, 50)];
    let refused = reserve(store, &charge(11, 0), &run, first).await;
    assert_eq!(refused.unwrap_err().until, None);
    let next = Charge {
        run: "2".to_owned(),
        ..charge(50, 0)
    };
    assert!(reserve(store, &next, &run, first).await.is_ok());
}

pub async fn a_cap_that_is_set_later_counts_what_was_spent_before(store: &dyn SpendStore) {
    assert!(reserve(store, &charge(95, 0), &[], DAWN).await.is_ok());
    let caps = [tokens_per(Period::Day, Payer::User, 100)];
    let refused = reserve(store, &charge(6, 0), &caps, DAWN).await;
    assert_eq!(refused.unwrap_err().used.tokens, 95);
}

pub async fn what_is_reported_takes_the_place_of_what_was_reserved(store: &dyn SpendStore) {
    let caps = [tokens_per(Period::Day, Payer::User, 100)];
    let id = reserve(store, &charge(100, 50), &caps, DAWN).await.unwrap();
    assert!(reserve(store, &charge(1, 0), &caps, DAWN).await.is_err());
    // It counts in the day in which it was reserved, whenever it is settled.
    let settled = store.settle(&id, usage(20, 10), Some(Money(7)), at(DAY));
    assert_eq!(settled.await.unwrap(), SettleOutcome::Settled);
    assert_eq!(amounts_used(store, &charge(0, 0), DAWN).await, [(30, 7); 6]);
    assert!(reserve(store, &charge(71, 0), &caps, DAWN).await.is_err());
    assert!(reserve(store, &charge(70, 0), &caps, DAWN).await.is_ok());
}

pub async fn more_than_was_reserved_is_counted_as_it_is(store: &dyn SpendStore) {
    let caps = [money_per(Period::Day, Payer::User, 100)];
    let id = reserve(store, &charge(10, 100), &caps, DAWN).await.unwrap();
    let settled = store.settle(&id, usage(8, 3), Some(Money(120)), DAWN);
    assert_eq!(settled.await.unwrap(), SettleOutcome::Exceeded);
    assert_eq!(
        amounts_used(store, &charge(0, 0), DAWN).await,
        [(11, 120); 6]
    );
    assert!(reserve(store, &charge(1, 0), &caps, DAWN).await.is_err());
    assert_eq!(spend_sums(store, SpendBy::Day).await[0].exceeded, 1);
    // A provider may report any number, and the sums stay usable.
    let id = reserve(store, &charge(1, 1), &[], DAWN).await.unwrap();
    let absurd = usage(u64::MAX, u64::MAX);
    let settled = store.settle(&id, absurd, Some(Money(u64::MAX)), DAWN);
    assert_eq!(settled.await.unwrap(), SettleOutcome::Exceeded);
    let all = spend_sums(store, SpendBy::Day).await;
    assert_eq!(all[0].usage.input, CALL_TOKENS + 8);
}

pub async fn settling_or_releasing_again_changes_nothing(store: &dyn SpendStore) {
    let settled = reserve(store, &charge(10, 10), &[], DAWN).await.unwrap();
    let released = reserve(store, &charge(20, 20), &[], DAWN).await.unwrap();
    let first = store.settle(&settled, usage(4, 2), Some(Money(3)), DAWN);
    assert_eq!(first.await.unwrap(), SettleOutcome::Settled);
    assert!(store.release(&released).await.unwrap());
    let before = (
        amounts_used(store, &charge(0, 0), DAWN).await,
        spend_sums(store, SpendBy::Day).await,
    );
    assert_eq!(before.0, [(6, 3); 6]);
    let never = ReservationId {
        no: u64::MAX,
        ..settled.clone()
    };
    for id in [&settled, &released, &never] {
        let again = store.settle(id, usage(9, 9), Some(Money(9)), DAWN).await;
        assert_eq!(again.unwrap(), SettleOutcome::Unknown);
        assert!(!store.release(id).await.unwrap());
    }
    let after = (
        amounts_used(store, &charge(0, 0), DAWN).await,
        spend_sums(store, SpendBy::Day).await,
    );
    assert_eq!(before, after);
}

pub async fn what_nobody_settles_stays_spent(store: &dyn SpendStore) {
    let caps = [tokens_per(Period::Month, Payer::Tenant, 100)];
    assert!(reserve(store, &charge(99, 5), &caps, DAWN).await.is_ok());
    let late = at(DAY * 29);
    assert!(reserve(store, &charge(2, 0), &caps, late).await.is_err());
    let expected = SpendSum {
        name: "2026-11-01".to_owned(),
        calls: 1,
        open: 1,
        reserved: Amount {
            tokens: 99,
            money: Money(5),
        },
        ..SpendSum::default()
    };
    assert_eq!(spend_sums(store, SpendBy::Day).await, [expected]);
}

pub async fn a_released_reservation_leaves_nothing(store: &dyn SpendStore) {
    let caps = [tokens_per(Period::Day, Payer::Tenant, 10)];
    let first = reserve(store, &charge(10, 9), &caps, DAWN).await.unwrap();
    assert!(store.release(&first).await.unwrap());
    assert_eq!(amounts_used(store, &charge(0, 0), DAWN).await, [(0, 0); 6]);
    assert_eq!(spend_sums(store, SpendBy::Model).await, []);
    let second = reserve(store, &charge(10, 9), &caps, DAWN).await.unwrap();
    assert_ne!(
        first, second,
        "whoever still holds the first must not settle the second"
    );
}

pub async fn nobody_spends_or_sees_behind_another_wall(store: &dyn SpendStore) {
    let caps = [tokens_per(Period::Day, Payer::Tenant, 10)];
    let id = reserve(store, &charge(10, 9), &caps, DAWN).await.unwrap();
    let other = Tenant("other".to_owned());
    let theirs = Charge {
        tenant: other.clone(),
        ..charge(10, 9)
    };
    assert_eq!(amounts_used(store, &theirs, DAWN).await, [(0, 0); 6]);
    let their_id = ReservationId {
        tenant: other.clone(),
        ..id.clone()
    };
    let settled = store.settle(&their_id, usage(1, 1), None, DAWN).await;
    assert_eq!(settled.unwrap(), SettleOutcome::Unknown);
    assert!(!store.release(&their_id).await.unwrap());
    let always = (Timestamp::ZERO, Timestamp::MAX);
    let seen = store.spent(&other, always, SpendBy::Day, 9).await;
    assert_eq!(seen.unwrap(), []);
    assert!(reserve(store, &theirs, &caps, DAWN).await.is_ok());
    assert_eq!(amounts_used(store, &charge(0, 0), DAWN).await, [(10, 9); 6]);
}

pub async fn what_no_cap_can_judge_is_refused(store: &dyn SpendStore) {
    let unpriced = Charge {
        money: None,
        ..charge(5, 0)
    };
    let caps = [money_per(Period::Day, Payer::Tenant, 1_000)];
    let refused = store.reserve(&unpriced, &caps, DAWN).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let foreign = Charge {
        scope: Some(Scope {
            tenant: Tenant("other".to_owned()),
            kind: ScopeKind::User,
            name: "ada".to_owned(),
        }),
        ..charge(5, 0)
    };
    let refused = store.reserve(&foreign, &[], DAWN).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    assert_eq!(amounts_used(store, &charge(0, 0), DAWN).await, [(0, 0); 6]);
    // A cap on tokens needs no price.
    let tokens = [tokens_per(Period::Day, Payer::Tenant, 5)];
    let id = reserve(store, &unpriced, &tokens, DAWN).await.unwrap();
    let settled = store.settle(&id, usage(2, 1), None, DAWN).await;
    assert_eq!(settled.unwrap(), SettleOutcome::Settled);
    assert_eq!(spend_sums(store, SpendBy::Day).await[0].unpriced, 1);
}

pub async fn calls_are_added_up_by_what_is_asked(store: &dyn SpendStore) {
    let about = Charge {
        session: Some(session("aaaa")),
        scope: Some(project_scope("tidepool")),
        model: "ada/large".to_owned(),
        ..charge(50, 400)
    };
    let others = [
        (charge(30, 90), at(0)),
        (of_user("bob", charge(30, 90)), at(DAY)),
        (of_user("bob", about.clone()), at(DAY * 40)),
    ];
    let first = reserve(store, &about, &[], at(DAY)).await.unwrap();
    let settled = store.settle(&first, usage(20, 5), Some(Money(300)), at(DAY));
    assert_eq!(settled.await.unwrap(), SettleOutcome::Settled);
    for (charge, now) in others {
        assert!(reserve(store, &charge, &[], now).await.is_ok());
    }
    let mut said = Vec::new();
    for &by in SpendBy::VARIANTS {
        let sums = spend_sums(store, by).await;
        let sums = sums.iter().map(|sum| {
            let SpendSum {
                name, calls, open, ..
            } = sum;
            format!("{name}={calls}/{open}/{}", sum.counts().money.0)
        });
        said.push(sums.collect::<Vec<_>>().join(" "));
    }
    assert_eq!(
        said,
        [
            "2026-12-11=1/1/400 2026-11-02=2/1/390 2026-11-01=1/1/90",
            "2026-12=1/1/400 2026-11=3/2/480",
            "ada/large=2/1/700 ada/small=2/2/180",
            "extract=4/3/880",
            "bob=2/2/490 ada=2/1/390",
            "project/tidepool=2/1/700 =2/2/180",
            "claude-code:aaaa=2/1/700 =2/2/180",
        ]
    );
    let large = &spend_sums(store, SpendBy::Model).await[0];
    assert_eq!((large.usage, large.money), (usage(20, 5), Money(300)));
}

pub async fn sums_are_of_the_time_that_is_asked_and_bounded(store: &dyn SpendStore) {
    for day in 0..5 {
        assert!(
            reserve(store, &charge(1, day), &[], at(DAY * day))
                .await
                .is_ok()
        );
    }
    let asked = |from, to, most| {
        let days = (at(DAY * from), at(DAY * to));
        async move {
            let local = Tenant::local();
            let sums = store.spent(&local, days, SpendBy::Day, most).await.unwrap();
            sums.into_iter().map(|sum| sum.name).collect::<Vec<_>>()
        }
    };
    assert_eq!(asked(1, 3, 9).await, ["2026-11-03", "2026-11-02"]);
    assert_eq!(asked(0, 5, 2).await, ["2026-11-05", "2026-11-04"]);
    assert_eq!(asked(3, 3, 9).await, [""; 0]);
}

/// Each worker runs on a thread with a runtime of its own.
pub async fn sixteen_that_reserve_at_once_never_pass_a_cap(store: &dyn SpendStore) {
    let caps = [
        tokens_per(Period::Day, Payer::Tenant, 100),
        tokens_per(Period::Day, Payer::User, 30),
    ];
    let work = |worker: u64| async move {
        let mut granted = 0;
        for round in 0..6 {
            let user = format!("user-{}", worker % 5);
            let asked = of_user(&user, charge(3, 0));
            let Ok(id) = reserve(store, &asked, &caps, DAWN).await else {
                continue;
            };
            match round % 3 {
                0 => assert!(store.release(&id).await.unwrap()),
                1 => {
                    let settled = store.settle(&id, usage(1, 1), None, DAWN).await;
                    assert_eq!(settled.unwrap(), SettleOutcome::Settled);
                    granted += 2;
                }
                _ => granted += 3,
            }
        }
        granted
    };
    let granted: u64 = std::thread::scope(|scope| {
        let workers = (0..WORKERS).map(|worker| scope.spawn(move || crate::run(work(worker))));
        let workers: Vec<_> = workers.collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    let counted = amounts_used(store, &charge(0, 0), DAWN).await[0].0;
    assert_eq!(counted, granted, "nothing is lost or doubled");
    // Four workers serve each user and hold at most 12, so none is refused before a user has 19.
    assert!((19..=100).contains(&granted), "{granted} of a cap of 100");
    for user in 0..5 {
        let theirs = of_user(&format!("user-{user}"), charge(0, 0));
        let day = BudgetPeriod::at(Payer::User, &theirs.user, Period::Day, "", DAWN);
        let used = store.used(&theirs.tenant, &[day]).await.unwrap();
        assert!(used[0].tokens <= 30, "{used:?}");
    }
}
