//! Tenants are walls: what one is answered does not depend on what another does in the same store.
//!
//! Two tenants, whose sessions, files, folders, projects, scopes and words have the same names, do
//! random things in one store, and now and then name what is the other's. Each has a second store to
//! itself, in which it does the same. Each answer must be equal, and every few steps all that each
//! tenant can see. Only the numbers of imports differ, since tenants share them.
//!
//! Workers serve both tenants: what they ask without naming a job (claims, holders, tallies, due times)
//! must be what the two stores say together. They claim one job at a time here, so that whoever is
//! granted it can be asked what its own store would have granted.

mod hand;
mod known;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use daybook_domain::index::{Filter, Step as Search};
use daybook_domain::seams::Store;
use daybook_domain::source::ImportNo;
use daybook_domain::{
    Claim, ClaimLimits, FailureClass, JobKind, StoreError, Tally, Tenant, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use self::hand::{Hand, Reach};
pub use self::known::{
    assigning_a_root_leaves_the_same_root_of_another_tenant,
    undoing_an_import_leaves_the_same_file_of_another_tenant,
};
use crate::fixtures::{DAWN, LEASE, at, candidates};
use crate::model::cast::{engine, holder};
use crate::model::drive::differences;
use crate::model::operations::{self, Operation};
use crate::model::view::{self, View};

/// Sequences that one check tries.
pub const SEQUENCES: u32 = 48;
/// Most steps in a sequence.
const LONGEST: usize = 80;
/// Steps between two looks at everything, which cost more than the steps do.
const LOOK_EVERY: usize = 4;
/// Failures after which giving up is given up.
const MOST_FAILURES: usize = 20;
/// An import that was never begun.
const NO_IMPORT: ImportNo = ImportNo(1_000_000);

/// What one tenant does.
#[derive(Debug, Clone)]
enum Deed {
    /// Something of its own.
    Own(Operation),
    /// It names what is the other's.
    Reach(Reach),
}

/// Lets two tenants share a store that `make` makes, empty, as it makes all others. Where it makes none,
/// nothing is checked.
///
/// # Panics
/// When one sees more, or less, than in a store of its own: with the shortest sequence found that
/// shows it.
pub fn check<S>(make: impl Fn() -> Option<S>, sequences: u32)
where
    S: Deref,
    S::Target: Store + Sized,
{
    let config = Config {
        cases: sequences,
        failure_persistence: None,
        ..Config::default()
    };
    let deed = prop_oneof![
        12 => operations::on_memory().prop_map(Deed::Own),
        6 => operations::on_jobs().prop_map(Deed::Own),
        1 => hand::reach().prop_map(Deed::Reach),
    ];
    let steps = prop::collection::vec((0..2_usize, deed), 1..=LONGEST);
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        let (Some(shared), Some(left), Some(right)) = (make(), make(), make()) else {
            return Ok(());
        };
        crate::run(play(&*shared, [&*left, &*right], &steps))
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

async fn play(
    shared: &dyn Store,
    alone: [&dyn Store; 2],
    steps: &[(usize, Deed)],
) -> Result<(), TestCaseError> {
    let tenants = ["left", "right"].map(|name| Tenant(name.to_owned()));
    let mut house = House {
        shared,
        together: [0, 1].map(|n: usize| Hand::new(shared, &tenants[n])),
        alone: [0, 1].map(|n: usize| Hand::new(alone[n], &tenants[n])),
        now: DAWN,
    };
    for (n, (who, deed)) in steps.iter().enumerate() {
        let mut done = house.step(*who, deed).await;
        if done.is_ok() && (n % LOOK_EVERY == 0 || n + 1 == steps.len()) {
            done = house.compare().await;
        }
        done.map_err(|what| TestCaseError::fail(format!("{n}: {who} {deed:?}: {what}")))?;
    }
    Ok(())
}

/// The shared store, and the two that each tenant has to itself.
struct House<'a> {
    shared: &'a dyn Store,
    together: [Hand<'a>; 2],
    alone: [Hand<'a>; 2],
    now: Timestamp,
}

/// How two stores differ.
type Differing = Result<(), String>;

impl House<'_> {
    async fn step(&mut self, who: usize, deed: &Deed) -> Differing {
        match deed {
            Deed::Reach(reach) => self.reach(who, reach).await,
            Deed::Own(Operation::Advance { seconds }) => {
                self.now = Timestamp(self.now.0 + i64::from(*seconds) * 1000);
                Ok(())
            }
            Deed::Own(Operation::Claim {
                consolidate,
                holder: number,
                limit,
                waiting,
                ..
            }) => {
                let kind = JobKind::ALL[usize::from(*consolidate)];
                if *waiting {
                    self.wait_for(kind).await?;
                }
                for _ in 0..*limit {
                    self.claim(kind, holder(*number)).await?;
                }
                Ok(())
            }
            Deed::Own(Operation::GiveUp {
                consolidate,
                engine,
            }) => {
                let kind = JobKind::ALL[usize::from(*consolidate)];
                self.give_up(kind, *engine).await
            }
            Deed::Own(Operation::Abandon { holder: number }) => {
                let freed = self.shared.abandon(holder(*number)).await.map_err(text)?;
                let mut expected = 0;
                for hand in &self.alone {
                    expected += hand.store.abandon(holder(*number)).await.map_err(text)?;
                }
                same(&expected, &freed)
            }
            Deed::Own(Operation::Revive {
                key: None,
                engine: number,
            }) => {
                let (name, now) = (engine(*number), self.now);
                let revived = self.shared.revive_gaps(None, name, now).await;
                let mut expected = 0;
                for hand in &self.alone {
                    let own = hand.store.revive_gaps(None, name, now).await;
                    expected += own.map_err(text)?;
                }
                same(&expected, &revived.map_err(text)?)
            }
            Deed::Own(operation) => self.act(who, operation).await.map(drop),
        }
    }

    /// Has one tenant do the same in both stores, and says what it was answered.
    async fn act(&mut self, who: usize, operation: &Operation) -> Result<String, String> {
        let expected = self.alone[who].act(operation, self.now).await;
        let answered = self.together[who].act(operation, self.now).await;
        let (expected, answered) = (said(expected), said(answered));
        same(&expected, &answered)?;
        Ok(answered)
    }

    async fn reach(&mut self, who: usize, reach: &Reach) -> Differing {
        let other = self.together[1 - who].tenant.clone();
        let theirs = self.shared.imports(&other, 1).await.map_err(text)?;
        let import = theirs.first().map_or(NO_IMPORT, |import| import.no);
        let expected = self.alone[who].reach(reach, &other, NO_IMPORT, self.now);
        let expected = unnumbered(expected.await, NO_IMPORT);
        let answered = self.together[who].reach(reach, &other, import, self.now);
        same(&expected, &unnumbered(answered.await, import))
    }

    /// Moves the time on to when a job of a kind is due.
    async fn wait_for(&mut self, kind: JobKind) -> Differing {
        let due = self.shared.next_due(kind).await.map_err(text)?;
        self.now = due.map_or(self.now, |due| self.now.max(due));
        Ok(())
    }

    /// Claims one job, and says whose it is.
    async fn claim(&mut self, kind: JobKind, holder: &str) -> Result<Option<usize>, String> {
        let claim = Claim {
            kind,
            holder,
            now: self.now,
            lease: LEASE,
            limits: ClaimLimits::jobs(1),
        };
        let granted = self.shared.claim(claim).await.map_err(text)?;
        let of = |hand: &Hand<'_>| {
            granted
                .iter()
                .any(|c| c.token.job().tenant() == &hand.tenant)
        };
        let owner = self.together.iter().position(of);
        for (n, hand) in self.alone.iter_mut().enumerate() {
            if owner.is_none_or(|owner| owner == n) {
                let expected = hand.store.claim(claim).await.map_err(text)?;
                same(&expected, &granted)?;
                hand.claims.extend(expected);
            }
        }
        if let Some(owner) = owner {
            self.together[owner].claims.extend(granted);
        }
        Ok(owner)
    }

    async fn give_up(&mut self, kind: JobKind, engine: u8) -> Differing {
        let fail = Operation::Fail {
            claim: 0,
            class: FailureClass::Content,
            engine,
        };
        for _ in 0..MOST_FAILURES {
            self.wait_for(kind).await?;
            let Some(owner) = self.claim(kind, holder(0)).await? else {
                break;
            };
            if self.act(owner, &fail).await?.starts_with("GaveUp") {
                break;
            }
        }
        Ok(())
    }

    /// Compares all that each tenant can see, and what workers see of both.
    async fn compare(&self) -> Differing {
        let mut common = Common::default();
        let mut seen_by_workers = Common::default();
        for (alone, together) in self.alone.iter().zip(&self.together) {
            let (expected, of_one) = seen(alone).await.map_err(text)?;
            let (found, of_both) = seen(together).await.map_err(text)?;
            same(&expected, &found)?;
            common.join(of_one);
            seen_by_workers = of_both;
        }
        same(&common, &seen_by_workers)
    }
}

fn said(answer: Result<String, StoreError>) -> String {
    answer.unwrap_or_else(|error| error.to_string())
}

/// What is another's must be as unknown as what never was, whatever its number.
fn unnumbered(answer: Result<String, StoreError>, import: ImportNo) -> String {
    said(answer).replace(&format!("import {}", import.0), "import")
}

fn text(error: StoreError) -> String {
    format!("{error:?}")
}

fn same<T: PartialEq + std::fmt::Debug>(expected: &T, found: &T) -> Differing {
    if expected == found {
        return Ok(());
    }
    Err(differences(expected, found))
}

/// What a store says of all its jobs, whosever they are.
#[derive(Debug, Default, PartialEq)]
struct Common {
    tallies: BTreeMap<String, u64>,
    due: BTreeMap<JobKind, Timestamp>,
    holders: BTreeSet<String>,
}

impl Common {
    fn of(view: &mut View) -> Self {
        let tallies = std::mem::take(&mut view.tallies).into_iter();
        let due = std::mem::take(&mut view.due).into_iter();
        let named = |Tally { kind, what, count }| (format!("{kind:?} {what:?}"), count);
        Self {
            tallies: tallies.map(named).collect(),
            due: JobKind::ALL
                .into_iter()
                .zip(due)
                .filter_map(|(kind, due)| Some((kind, due?)))
                .collect(),
            holders: std::mem::take(&mut view.holders).into_iter().collect(),
        }
    }

    fn join(&mut self, other: Self) {
        for (what, count) in other.tallies {
            *self.tallies.entry(what).or_default() += count;
        }
        for (kind, due) in other.due {
            let first = self.due.entry(kind).or_insert(due);
            *first = due.min(*first);
        }
        self.holders.extend(other.holders);
    }
}

/// All that a tenant can see, imports numbered from the newest; and what is not its own alone.
async fn seen(hand: &Hand<'_>) -> Result<((View, Vec<String>), Common), StoreError> {
    let mut view = view::of(hand.store, &hand.tenant).await?;
    for (import, no) in view.imports.iter_mut().zip(0..) {
        import.no = ImportNo(no);
    }
    let common = Common::of(&mut view);
    Ok(((view, asked(hand).await?), common))
}

/// What the view leaves out: questions for single things, and the order in which things are found.
async fn asked(Hand { store, tenant, .. }: &Hand<'_>) -> Result<Vec<String>, StoreError> {
    let mut answers = Vec::new();
    for id in view::sessions_of(tenant) {
        let known = (store.session(&id).await?, store.event_ids(&id).await?);
        let cited = store.events_at(&id, (2, 5), 10).await?;
        answers.push(format!("{known:?} {cited:?}"));
    }
    let active = store.sessions_active(tenant, (DAWN, at(3600)), 2).await?;
    answers.push(format!("{active:?}"));
    for name in ["aaaa", "aaaa-", "bb"] {
        answers.push(format!("{:?}", store.find_sessions(tenant, name).await?));
    }
    for word in ["t0", "said"] {
        let steps = [Search {
            all_of: vec![word.to_owned()],
            limit: 3,
        }];
        let found = candidates(*store, tenant, &steps, &Filter::default()).await?;
        answers.extend(found.iter().map(|document| format!("{document:?}")));
    }
    Ok(answers)
}
