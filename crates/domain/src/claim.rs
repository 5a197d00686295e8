//! Whose turn it is: which due job a claim takes, and how many.
//!
//! Claims go round. Of the tenants with due work the one that was served longest ago comes next,
//! within it the user, within that the agent; then the most urgent job, the one due longest, the first
//! by key. So a backlog, however long, delays its own lane and no other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::ids::{JobKey, JobKind, ScopeKind};
use crate::job::Job;
use crate::time::Timestamp;
use crate::trigger::SweepLimits;

/// Bounds of one claim. `usize::MAX` means no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimLimits {
    /// Most jobs that it grants.
    pub jobs: usize,
    /// Most of them from one lane.
    pub per_agent: usize,
    /// Most live leases of the kind, over all holders.
    pub running: usize,
    /// Most live leases of the kind in one lane, over all holders.
    pub running_per_agent: usize,
}

impl ClaimLimits {
    /// At most `jobs` jobs, without a bound for any lane.
    #[must_use]
    pub fn jobs(jobs: usize) -> Self {
        Self {
            jobs,
            per_agent: usize::MAX,
            running: usize::MAX,
            running_per_agent: usize::MAX,
        }
    }

    /// Limits for claiming the sessions that a sweep made due.
    #[must_use]
    pub fn of_sweep(sweep: &SweepLimits) -> Self {
        Self {
            running: sweep.claims,
            ..Self::jobs(sweep.claims)
        }
    }
}

/// A request for due jobs.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Of this kind.
    pub kind: JobKind,
    /// The process that claims.
    pub holder: &'a str,
    /// The present time.
    pub now: Timestamp,
    /// How long a granted job may run without a heartbeat.
    pub lease: Duration,
    /// How many are granted.
    pub limits: ClaimLimits,
}

/// Whose turn a job takes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    /// The tenant.
    pub tenant: String,
    /// Whose words are worked on; empty when unknown.
    pub user: String,
    /// The agent; empty for what belongs to none.
    pub agent: String,
}

impl Lane {
    /// The lane of a job.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        let user = job.user.clone().unwrap_or_default();
        match &job.key {
            JobKey::Extract(session) | JobKey::Redact(session) => Self {
                tenant: session.tenant.0.clone(),
                user,
                agent: session.agent.clone(),
            },
            JobKey::Consolidate(scope) => {
                let named = |kind| match scope.kind == kind {
                    true => scope.name.clone(),
                    false => String::new(),
                };
                Self {
                    tenant: scope.tenant.0.clone(),
                    user: named(ScopeKind::User),
                    agent: named(ScopeKind::Agent),
                }
            }
        }
    }

    fn path(&self) -> [&str; 3] {
        [&self.tenant, &self.user, &self.agent]
    }
}

/// Who was served when, of one kind of work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rounds {
    last: u64,
    /// When a tenant, a user of it, an agent of theirs was served last.
    served: BTreeMap<Vec<String>, u64>,
}

impl Rounds {
    /// Rounds in which these lanes were served last at these numbers; a greater one is later.
    #[must_use]
    pub fn from_lanes(lanes: impl IntoIterator<Item = (Lane, u64)>) -> Self {
        let mut rounds = Self::default();
        for (lane, number) in lanes {
            rounds.note(&lane, number);
        }
        rounds
    }

    /// The lanes that were served, each with the number that [`Rounds::from_lanes`] takes.
    pub fn lanes(&self) -> impl Iterator<Item = (Lane, u64)> {
        self.served
            .iter()
            .filter_map(|(path, &number)| match &path[..] {
                [tenant, user, agent] => Some((
                    Lane {
                        tenant: tenant.clone(),
                        user: user.clone(),
                        agent: agent.clone(),
                    },
                    number,
                )),
                _ => None,
            })
    }

    /// Notes that a lane's job was granted.
    pub fn serve(&mut self, lane: &Lane) {
        self.note(lane, self.last + 1);
    }

    fn note(&mut self, lane: &Lane, number: u64) {
        self.last = self.last.max(number);
        let path = lane.path().map(str::to_owned);
        for level in 1..=path.len() {
            let served = self.served.entry(path[..level].to_vec()).or_default();
            *served = number.max(*served);
        }
    }

    /// The job whose turn it is, among some that are due.
    pub fn next<'a>(&self, due: impl Iterator<Item = &'a Job>) -> Option<&'a Job> {
        due.min_by_key(|job| {
            let lane = Lane::of(job);
            let path = lane.path().map(str::to_owned);
            let turn = |level: usize| self.served.get(&path[..level]).copied().unwrap_or(0);
            let turns = [turn(1), turn(2), turn(3)];
            let [tenant, user, agent] = path;
            let whose = (turns[0], tenant, turns[1], user, turns[2], agent);
            (whose, Reverse(job.priority), job.due_at(), job.key.parts())
        })
    }

    /// The keys of the jobs that a claim grants, in turn; notes that they were served.
    pub fn grant<'a>(
        &mut self,
        claim: &Claim<'_>,
        jobs: impl Iterator<Item = &'a Job> + Clone,
    ) -> Vec<JobKey> {
        let of_kind = jobs.filter(|job| job.key.kind() == claim.kind);
        let mut held: HashMap<Lane, usize> = HashMap::new();
        for job in of_kind.clone().filter(|job| job.is_leased(claim.now)) {
            *held.entry(Lane::of(job)).or_default() += 1;
        }
        let mut running: usize = held.values().sum();
        let limits = claim.limits;
        let mut taken: HashMap<Lane, usize> = HashMap::new();
        let mut granted: Vec<JobKey> = Vec::new();
        while granted.len() < limits.jobs && running < limits.running {
            let open = of_kind.clone().filter(|job| {
                let lane = Lane::of(job);
                job.due_at().is_some_and(|due| due <= claim.now)
                    && !granted.contains(&job.key)
                    && taken.get(&lane).is_none_or(|&n| n < limits.per_agent)
                    && held.get(&lane).copied().unwrap_or(0) < limits.running_per_agent
            });
            let Some(next) = self.next(open) else { break };
            let lane = Lane::of(next);
            self.serve(&lane);
            *taken.entry(lane.clone()).or_default() += 1;
            *held.entry(lane).or_default() += 1;
            running += 1;
            granted.push(next.key.clone());
        }
        granted
    }
}

#[cfg(test)]
#[path = "claim_tests.rs"]
mod tests;
