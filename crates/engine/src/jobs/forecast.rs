//! Estimates the cost of extracting waiting sessions. No model is called, and nothing is changed.
//!
//! Windows are read as a job reads them. The model's input is counted window by window. Its output, and the
//! share of its input that its provider would have cached, follow from the usage of its settled calls so
//! far. A repair, or a second question about a window, is not foreseen.
//!
//! Not here: how a forecast is displayed.

use std::collections::BTreeMap;

use daybook_domain::eligibility::eligible;
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::model::Usage;
use daybook_domain::page::read_all;
use daybook_domain::spend::{Amount, BudgetPeriod, Cap, Payer, Period, SpendBy, SpendSum};
use daybook_domain::{Job, JobKey, JobKind, Money, Session, StoreError, Timestamp};

use super::WorkerContext;
use super::extract::{read_before, read_window, retracted_seqs, visible_events};
use super::filing::FolderProjects;
use super::knowledge::{Knowledge, WindowStart};
use super::update::WaitFilter;
use crate::extract::{TokenForecast, Window};
use crate::spend::SpendMeter;

/// Assumed length of an answer in percent of the longest one allowed, where no call of its model was
/// settled. The prompts ask for a summary of at most 120 words and a handful of observations of one or two
/// sentences; in JSON that is about 800 of 8,192 tokens, however long the window is.
pub const ASSUMED_ANSWER_PERCENT: u64 = 10;

/// Which sessions a forecast covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForecastSelection {
    /// Sessions that an update reads: those that are due, and those that wait for an outage or at a cap.
    Due,
    /// All sessions with waiting events.
    Waiting,
}

/// Estimated cost of the pending extractions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Sessions that would be read.
    pub sessions: u64,
    /// Windows that need no model.
    pub unasked: u64,
    /// The models that would be called, by name.
    pub models: Vec<ModelForecast>,
    /// Caps that would be reached: some of the work would wait there.
    pub caps: Vec<ReachedCap>,
}

/// Estimated cost of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelForecast {
    /// The model's name.
    pub model: String,
    /// Windows that need this model.
    pub windows: u64,
    /// Tokens that it would read and write.
    pub usage: Usage,
    /// Their cost; `None` where the model's price is not known.
    pub money: Option<Money>,
    /// The settled calls from which the length of its answers is estimated; with none it is
    /// [`ASSUMED_ANSWER_PERCENT`] of the longest.
    pub calls: u64,
}

/// A cap that would be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedCap {
    /// The cap.
    pub cap: Cap,
    /// The user, if the cap applies to each user.
    pub user: Option<String>,
    /// The amount that counts in it now.
    pub used: Amount,
    /// The amount that would be added.
    pub wanted: Amount,
}

/// Estimates the cost of extracting the sessions that `which` selects, with the prices and caps of `meter`.
///
/// # Errors
/// When the store fails.
pub async fn forecast(
    worker: &WorkerContext,
    meter: &SpendMeter,
    which: ForecastSelection,
) -> Result<Forecast, StoreError> {
    let sums = (meter.store)
        .spent(
            &worker.tenant,
            (Timestamp(i64::MIN), Timestamp::MAX),
            SpendBy::Model,
            SPEND_SUMS,
        )
        .await?;
    let mut builder = ForecastBuilder {
        worker,
        meter,
        sums,
        projects: FolderProjects::of(&*worker.store, &worker.tenant).await?,
        forecast: Forecast::default(),
        users: BTreeMap::new(),
    };
    let now = worker.clock.now();
    let is_looked_at = |job: &Job| match which {
        ForecastSelection::Due => {
            job.due_at().is_some_and(|due| due <= now) || WaitFilter::Outages.includes(job, worker)
        }
        ForecastSelection::Waiting => job.due_at().is_some(),
    };
    let jobs = read_all(|page| worker.store.jobs(&worker.tenant, JobKind::Extract, page)).await?;
    for job in jobs.into_iter().filter(is_looked_at) {
        builder.add_job(&job).await?;
    }
    let caps = builder.reached_caps(now).await?;
    Ok(Forecast {
        caps,
        ..builder.forecast
    })
}

/// The amount that one user would add to caps.
#[derive(Debug, Clone, Copy, Default)]
struct ExpectedSpend {
    amount: Amount,
    /// The most by which the worst case of one call exceeds its expected cost: this much must be free
    /// beyond what is spent, or the call waits.
    margin: Amount,
}

impl ExpectedSpend {
    fn add(&mut self, more: Self) {
        self.amount = self.amount.plus(more.amount);
        let (one, other) = (self.margin, more.margin);
        self.margin = Amount {
            tokens: one.tokens.max(other.tokens),
            money: one.money.max(other.money),
        };
    }
}

struct ForecastBuilder<'a> {
    worker: &'a WorkerContext,
    meter: &'a SpendMeter,
    /// Usage of each model's calls so far.
    sums: Vec<SpendSum>,
    projects: FolderProjects,
    forecast: Forecast,
    users: BTreeMap<String, ExpectedSpend>,
}

impl ForecastBuilder<'_> {
    async fn add_job(&mut self, job: &Job) -> Result<(), StoreError> {
        let JobKey::Extract(id) = &job.key else {
            return Ok(());
        };
        let Some(session) = self.worker.store.session(id).await? else {
            return Ok(());
        };
        if eligible(&session, &self.worker.switches).is_err() {
            return Ok(());
        }
        self.forecast.sessions += 1;
        let mut after = job.done;
        while after < job.input {
            let narrowed = job.span.filter(|_| after < job.suspect_to);
            let most = narrowed.map_or(job.input, |span| after.saturating_add(span));
            let at = WindowStart {
                after,
                redo: job.redo,
                is_redone: job.redo_until.is_some_and(|until| after < until),
            };
            let Some(last) = self.add_window(&session, at, job.input.min(most)).await? else {
                break;
            };
            after = last;
        }
        Ok(())
    }

    /// Adds the next window after a position, and returns its end.
    async fn add_window(
        &mut self,
        session: &Session,
        at: WindowStart,
        upto: u64,
    ) -> Result<Option<u64>, StoreError> {
        let worker = self.worker;
        let read = read_window(worker, &session.id, at.after, upto).await?;
        let Some(last) = read.last().map(|event| event.seq.0) else {
            return Ok(None);
        };
        let gone = retracted_seqs(worker, &session.id, &read).await?;
        let events = visible_events(worker, session, &self.projects, read, &gone);
        let before = read_before(worker, session, &self.projects, &gone, at.after).await?;
        let knowledge = match worker.extractor.wants_known() {
            true => Knowledge::gather(worker, at, session, &events, &self.projects).await?,
            false => Knowledge::default(),
        };
        let window = Window {
            session,
            before: &before,
            events: &events,
            known: knowledge.known(),
            is_redone: at.is_redone,
        };
        match worker.extractor.forecast(window) {
            Some(expected) => self.add_expected(session, &expected),
            None => self.forecast.unasked += 1,
        }
        Ok(Some(last))
    }

    fn add_expected(&mut self, session: &Session, expected: &TokenForecast) {
        let sum = self.sums.iter().find(|sum| sum.name == expected.model);
        let calls = sum.map_or(0, |sum| sum.calls.saturating_sub(sum.open));
        let usage = expected_usage(expected, sum.filter(|_| calls > 0), calls);
        let price = self.meter.prices.price(&expected.model);
        let money = price.map(|price| price.cost(usage));
        let worst = price.map(|price| price.worst(expected.worst));
        let amount = Amount {
            tokens: usage.input.saturating_add(usage.output),
            money: money.unwrap_or_default(),
        };
        let most = Amount {
            tokens: (expected.worst.input).saturating_add(expected.worst.output),
            money: worst.unwrap_or_default(),
        };
        let user = session.user.as_deref().unwrap_or(&self.worker.person);
        let wanted = self.users.entry(user.to_owned()).or_default();
        wanted.add(ExpectedSpend {
            amount,
            margin: most.less(amount),
        });
        let models = &mut self.forecast.models;
        let at = models.binary_search_by(|known| known.model.cmp(&expected.model));
        let at = at.unwrap_or_else(|at| {
            let new = ModelForecast {
                model: expected.model.clone(),
                windows: 0,
                usage: Usage::default(),
                money: price.map(|_| Money::ZERO),
                calls,
            };
            models.insert(at, new);
            at
        });
        let model = &mut models[at];
        model.windows += 1;
        model.usage += usage;
        model.money = model
            .money
            .zip(money)
            .map(|(one, more)| Money(one.0.saturating_add(more.0)));
    }

    async fn reached_caps(&self, now: Timestamp) -> Result<Vec<ReachedCap>, StoreError> {
        let mut all = ExpectedSpend::default();
        for wanted in self.users.values() {
            all.add(*wanted);
        }
        let mut met = Vec::new();
        for cap in &self.meter.caps {
            let payers: Vec<(Option<&String>, ExpectedSpend)> = match cap.of {
                Payer::Tenant => vec![(None, all)],
                Payer::User => {
                    let users = self.users.iter();
                    users.map(|(user, wanted)| (Some(user), *wanted)).collect()
                }
            };
            for (user, wanted) in payers {
                let used = self.used_so_far(cap, user, now).await?;
                let needed = used.plus(wanted.amount).plus(wanted.margin);
                let is_met = cap.tokens.is_some_and(|most| needed.tokens > most)
                    || cap.money.is_some_and(|most| needed.money > most);
                if is_met && wanted.amount != Amount::default() {
                    met.push(ReachedCap {
                        cap: *cap,
                        user: user.cloned(),
                        used,
                        wanted: wanted.amount,
                    });
                }
            }
        }
        Ok(met)
    }

    /// The amount that counts in a cap now. In a run's cap, nothing: the run has not begun.
    async fn used_so_far(
        &self,
        cap: &Cap,
        user: Option<&String>,
        now: Timestamp,
    ) -> Result<Amount, StoreError> {
        if cap.period == Period::Run {
            return Ok(Amount::default());
        }
        let user = user.map_or("", String::as_str);
        let period = BudgetPeriod::at(cap.of, user, cap.period, "", now);
        let used = self
            .meter
            .store
            .used(&self.worker.tenant, &[period])
            .await?;
        Ok(used.first().copied().unwrap_or_default())
    }
}

/// Expected usage of a question, from the `sum` of `calls` settled calls.
fn expected_usage(expected: &TokenForecast, sum: Option<&SpendSum>, calls: u64) -> Usage {
    let question = expected.question;
    let Some(sum) = sum else {
        return Usage {
            output: question.output * ASSUMED_ANSWER_PERCENT / 100,
            ..question
        };
    };
    let share = |of: u64, part: u64, all: u64| {
        let share = (u128::from(of) * u128::from(part)).div_ceil(u128::from(all.max(1)));
        u64::try_from(share).unwrap_or(u64::MAX)
    };
    Usage {
        input: question.input,
        cached: share(question.input, sum.usage.cached, sum.usage.input),
        output: share(1, sum.usage.output, calls).min(question.output),
    }
}
