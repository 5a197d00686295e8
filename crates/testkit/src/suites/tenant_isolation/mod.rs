//! Tenant isolation: a store's answers to one tenant do not depend on other tenants.
//!
//! Two tenants, whose sessions, files, folders, projects, scopes and words have the same names, run
//! random operations in one store, and some calls name things of the other tenant. Each has a second store to
//! itself, in which the same operations run. Each answer must be equal in both; so must, every few steps,
//! everything that each tenant can see. Only the numbers of imports differ, since tenants share them.
//!
//! Workers serve both tenants: answers to calls that name no job (claims, holders, tallies, due times)
//! must be those of the two separate stores together. Workers claim one job at a time here, so that the
//! grant can be compared with what the tenant's own store grants.

mod known_cases;
mod tenant_driver;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use daybook_domain::index::{CandidateQuery as Search, SearchFilter};
use daybook_domain::seams::Store;
use daybook_domain::source::ImportNo;
use daybook_domain::{
    Claim, ClaimLimits, FailureClass, JobKind, PageRequest, StoreError, Tally, Tenant, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use strum::VariantArray;

pub use self::known_cases::{
    assigning_a_root_leaves_the_same_root_of_another_tenant,
    undoing_an_import_leaves_the_same_file_of_another_tenant,
};
use self::tenant_driver::{ForeignCall, TenantDriver};
use crate::fixtures::{DAWN, LEASE, at, candidates};
use crate::model::driver::differences;
use crate::model::operations::{self, StoreOperation};
use crate::model::subjects;
use crate::model::values::{engine, holder};
use crate::model::view::{self, View};

/// Number of sequences that one check tries.
pub const SEQUENCES: u32 = 48;
/// Most steps in a sequence.
const LONGEST: usize = 80;
/// Number of steps between two comparisons of everything, which cost more than the steps do.
const LOOK_EVERY: usize = 4;
/// Most failures that a step causes before it stops waiting for a range to be given up.
const MOST_FAILURES: usize = 20;
/// An import that was never begun.
const NO_IMPORT: ImportNo = ImportNo(1_000_000);

/// One step of one tenant.
#[derive(Debug, Clone)]
enum TenantStep {
    /// An operation on its own data.
    Own(StoreOperation),
    /// A call that names something of the other tenant's.
    ForeignCall(ForeignCall),
}

/// Lets two tenants share one of three empty stores that `make` makes. Where it returns `None`, nothing is
/// checked.
///
/// # Panics
/// When a tenant sees more, or less, than in a store of its own, with the shortest sequence found that
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
    let step = prop_oneof![
        12 => operations::on_memory().prop_map(TenantStep::Own),
        6 => operations::on_jobs().prop_map(TenantStep::Own),
        1 => tenant_driver::reach().prop_map(TenantStep::ForeignCall),
    ];
    let steps = prop::collection::vec((0..2_usize, step), 1..=LONGEST);
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
    steps: &[(usize, TenantStep)],
) -> Result<(), TestCaseError> {
    let tenants = ["left", "right"].map(|name| Tenant(name.to_owned()));
    let mut stores = TenantStores {
        shared,
        together: [0, 1].map(|n: usize| TenantDriver::new(shared, &tenants[n])),
        alone: [0, 1].map(|n: usize| TenantDriver::new(alone[n], &tenants[n])),
        now: DAWN,
    };
    for (n, (who, step)) in steps.iter().enumerate() {
        let mut done = stores.step(*who, step).await;
        if done.is_ok() && (n % LOOK_EVERY == 0 || n + 1 == steps.len()) {
            done = stores.compare().await;
        }
        done.map_err(|what| TestCaseError::fail(format!("{n}: {who} {step:?}: {what}")))?;
    }
    Ok(())
}

/// The shared store, and the store that each tenant has to itself.
struct TenantStores<'a> {
    shared: &'a dyn Store,
    together: [TenantDriver<'a>; 2],
    alone: [TenantDriver<'a>; 2],
    now: Timestamp,
}

/// The result of a comparison: the error describes how two stores differ.
type Comparison = Result<(), String>;

impl TenantStores<'_> {
    async fn step(&mut self, who: usize, step: &TenantStep) -> Comparison {
        match step {
            TenantStep::ForeignCall(reach) => self.reach(who, reach).await,
            TenantStep::Own(StoreOperation::Advance { seconds }) => {
                self.now = Timestamp(self.now.0 + i64::from(*seconds) * 1000);
                Ok(())
            }
            TenantStep::Own(StoreOperation::Claim {
                consolidate,
                holder: number,
                limit,
                waiting,
                ..
            }) => {
                let kind = JobKind::VARIANTS[usize::from(*consolidate)];
                if *waiting {
                    self.wait_for(kind).await?;
                }
                for _ in 0..*limit {
                    self.claim(kind, holder(*number)).await?;
                }
                Ok(())
            }
            TenantStep::Own(StoreOperation::GiveUp {
                consolidate,
                engine,
            }) => {
                let kind = JobKind::VARIANTS[usize::from(*consolidate)];
                self.give_up(kind, *engine).await
            }
            TenantStep::Own(StoreOperation::Abandon { holder: number }) => {
                let freed = self.shared.abandon(holder(*number)).await.map_err(text)?;
                let mut expected = 0;
                for driver in &self.alone {
                    expected += driver.store.abandon(holder(*number)).await.map_err(text)?;
                }
                check_equal(&expected, &freed)
            }
            TenantStep::Own(StoreOperation::Revive {
                key: None,
                engine: number,
            }) => {
                let (name, now) = (engine(*number), self.now);
                let revived = self.shared.revive_gaps(None, name, now).await;
                let mut expected = 0;
                for driver in &self.alone {
                    let own = driver.store.revive_gaps(None, name, now).await;
                    expected += own.map_err(text)?;
                }
                check_equal(&expected, &revived.map_err(text)?)
            }
            TenantStep::Own(operation) => self.act(who, operation).await.map(drop),
        }
    }

    /// Applies one tenant's operation to both stores, and returns the answer.
    async fn act(&mut self, who: usize, operation: &StoreOperation) -> Result<String, String> {
        let expected = self.alone[who].act(operation, self.now).await;
        let answered = self.together[who].act(operation, self.now).await;
        let (expected, answered) = (answer_or_error(expected), answer_or_error(answered));
        check_equal(&expected, &answered)?;
        Ok(answered)
    }

    async fn reach(&mut self, who: usize, reach: &ForeignCall) -> Comparison {
        let other = self.together[1 - who].tenant.clone();
        let theirs = self
            .shared
            .imports(&other, PageRequest::first(1))
            .await
            .map_err(text)?
            .items;
        let import = theirs.first().map_or(NO_IMPORT, |import| import.no);
        let expected = self.alone[who].reach(reach, &other, NO_IMPORT, self.now);
        let expected = without_import_number(expected.await, NO_IMPORT);
        let answered = self.together[who].reach(reach, &other, import, self.now);
        check_equal(&expected, &without_import_number(answered.await, import))
    }

    /// Advances the time to when a job of a kind is due.
    async fn wait_for(&mut self, kind: JobKind) -> Comparison {
        let due = self.shared.next_due(kind).await.map_err(text)?;
        self.now = due.map_or(self.now, |due| self.now.max(due));
        Ok(())
    }

    /// Claims one job, and returns its tenant.
    async fn claim(&mut self, kind: JobKind, holder: &str) -> Result<Option<usize>, String> {
        let claim = Claim {
            kind,
            holder,
            now: self.now,
            lease: LEASE,
            limits: ClaimLimits::jobs(1),
        };
        let granted = self.shared.claim(claim).await.map_err(text)?;
        let of = |driver: &TenantDriver<'_>| {
            granted
                .iter()
                .any(|c| c.token.job().tenant() == &driver.tenant)
        };
        let owner = self.together.iter().position(of);
        for (n, driver) in self.alone.iter_mut().enumerate() {
            if owner.is_none_or(|owner| owner == n) {
                let expected = driver.store.claim(claim).await.map_err(text)?;
                check_equal(&expected, &granted)?;
                driver.claims.extend(expected);
            }
        }
        if let Some(owner) = owner {
            self.together[owner].claims.extend(granted);
        }
        Ok(owner)
    }

    async fn give_up(&mut self, kind: JobKind, engine: u8) -> Comparison {
        let fail = StoreOperation::Fail {
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
    async fn compare(&self) -> Comparison {
        let mut common = SharedAnswers::default();
        let mut seen_by_workers = SharedAnswers::default();
        for (alone, together) in self.alone.iter().zip(&self.together) {
            let (expected, of_one) = visible_to(alone).await.map_err(text)?;
            let (found, of_both) = visible_to(together).await.map_err(text)?;
            check_equal(&expected, &found)?;
            common.join(of_one);
            seen_by_workers = of_both;
        }
        check_equal(&common, &seen_by_workers)
    }
}

fn answer_or_error(answer: Result<String, StoreError>) -> String {
    answer.unwrap_or_else(|error| error.to_string())
}

/// Replaces an import's number: another tenant's import must be as unknown as one that never existed.
fn without_import_number(answer: Result<String, StoreError>, import: ImportNo) -> String {
    answer_or_error(answer).replace(&format!("import {}", import.0), "import")
}

fn text(error: StoreError) -> String {
    format!("{error:?}")
}

fn check_equal<T: PartialEq + std::fmt::Debug>(expected: &T, found: &T) -> Comparison {
    if expected == found {
        return Ok(());
    }
    Err(differences(expected, found))
}

/// A store's answers about the jobs of all tenants.
#[derive(Debug, Default, PartialEq)]
struct SharedAnswers {
    tallies: BTreeMap<String, u64>,
    due: BTreeMap<JobKind, Timestamp>,
    holders: BTreeSet<String>,
}

impl SharedAnswers {
    fn of(view: &mut View) -> Self {
        let tallies = std::mem::take(&mut view.tallies).into_iter();
        let due = std::mem::take(&mut view.due).into_iter();
        let named = |Tally { kind, what, count }| (format!("{kind:?} {what:?}"), count);
        Self {
            tallies: tallies.map(named).collect(),
            due: JobKind::VARIANTS
                .iter()
                .copied()
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

/// Everything that a tenant can see, with imports numbered from the newest; and the answers about all tenants.
async fn visible_to(
    driver: &TenantDriver<'_>,
) -> Result<((View, Vec<String>), SharedAnswers), StoreError> {
    let mut view = view::of(driver.store, &driver.tenant).await?;
    for (import, no) in view.imports.iter_mut().zip(0..) {
        import.no = ImportNo(no);
    }
    let common = SharedAnswers::of(&mut view);
    Ok(((view, unlisted_answers(driver).await?), common))
}

/// Answers that the view leaves out: queries for single things, and the order of search results.
async fn unlisted_answers(
    TenantDriver { store, tenant, .. }: &TenantDriver<'_>,
) -> Result<Vec<String>, StoreError> {
    let mut answers = Vec::new();
    for id in subjects::sessions_of(tenant) {
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
        let found = candidates(*store, tenant, &steps, &SearchFilter::default()).await?;
        answers.extend(found.iter().map(|document| format!("{document:?}")));
    }
    Ok(answers)
}
