//! What it would cost to extract what waits: windows are read as a job reads them, nobody is asked, and
//! nothing is changed.
//!
//! What a model would read is counted window by window. What it would write, and what of its question its
//! provider would have cached, is taken from what its settled calls came to so far. A repair, or a second
//! question about a window, is not foreseen.
//!
//! Not here: how it is told.

use std::collections::BTreeMap;

use daybook_domain::eligibility::eligible;
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::model::Usage;
use daybook_domain::spend::{Amount, Cap, Payer, Period, Purse, SpendBy, SpendSum};
use daybook_domain::{Job, JobKey, JobKind, Money, Session, StoreError, Timestamp};

use super::Workshop;
use super::extract::{kept, read_before, read_window, retracted};
use super::filing::Projects;
use super::known::{Beginning, Knowledge};
use super::update::Waits;
use crate::extract::{Expected, Window};
use crate::spend::Meter;

/// What an answer is taken to be of the longest one allowed, in percent, where no call of its model was
/// settled. The prompts ask for a summary of at most 120 words and a handful of observations of one or two
/// sentences; in JSON that comes to about 800 of 8,192 tokens, however long the window is.
pub const ASSUMED_ANSWER_PERCENT: u64 = 10;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Sessions that an update reads: those that are due, and those that wait for an outage or at a cap.
    Due,
    /// All that wait.
    Waiting,
}

/// What it would cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Sessions that would be read.
    pub sessions: u64,
    /// Windows that no model would be asked about.
    pub unasked: u64,
    /// Each model that would be asked, by name.
    pub models: Vec<ModelForecast>,
    /// Caps that would be met: some of the work would wait there.
    pub caps: Vec<MetCap>,
}

/// What one model would cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelForecast {
    /// Which one.
    pub model: String,
    /// Windows that it would be asked about.
    pub windows: u64,
    /// What it would read and write.
    pub usage: Usage,
    /// What that costs; nothing where its price is not known.
    pub money: Option<Money>,
    /// The settled calls on which the length of its answers rests; without any it is
    /// [`ASSUMED_ANSWER_PERCENT`] of the longest.
    pub calls: u64,
}

/// A cap that would be met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetCap {
    /// Which cap.
    pub cap: Cap,
    /// Whose, if each user has one.
    pub user: Option<String>,
    /// What counts in it by now.
    pub used: Amount,
    /// What would be added to it.
    pub wanted: Amount,
}

/// What extracting all that `which` says would cost by `meter`.
///
/// # Errors
/// When the store fails.
pub async fn forecast(
    shop: &Workshop,
    meter: &Meter,
    which: Which,
) -> Result<Forecast, StoreError> {
    let sums = (meter.store)
        .spent(
            &shop.tenant,
            (Timestamp(i64::MIN), Timestamp::MAX),
            SpendBy::Model,
            SPEND_SUMS,
        )
        .await?;
    let mut adding = Adding {
        shop,
        meter,
        sums,
        projects: Projects::of(&*shop.store, &shop.tenant).await?,
        forecast: Forecast::default(),
        users: BTreeMap::new(),
    };
    let now = shop.clock.now();
    let is_looked_at = |job: &Job| match which {
        Which::Due => {
            job.due_at().is_some_and(|due| due <= now) || Waits::Outages.includes(job, shop)
        }
        Which::Waiting => job.due_at().is_some(),
    };
    let jobs = shop.store.jobs(JobKind::Extract).await?.into_iter();
    for job in jobs.filter(|job| job.key.tenant() == &shop.tenant && is_looked_at(job)) {
        adding.job(&job).await?;
    }
    let caps = adding.caps(now).await?;
    Ok(Forecast {
        caps,
        ..adding.forecast
    })
}

/// What one user would add to caps.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    amount: Amount,
    /// The most by which the worst case of one call exceeds what is expected of it: so much must be free
    /// beyond what is spent, or the call waits.
    margin: Amount,
}

impl Wanted {
    fn add(&mut self, more: Self) {
        self.amount = self.amount.plus(more.amount);
        let (one, other) = (self.margin, more.margin);
        self.margin = Amount {
            tokens: one.tokens.max(other.tokens),
            money: one.money.max(other.money),
        };
    }
}

struct Adding<'a> {
    shop: &'a Workshop,
    meter: &'a Meter,
    /// What each model's calls came to so far.
    sums: Vec<SpendSum>,
    projects: Projects,
    forecast: Forecast,
    users: BTreeMap<String, Wanted>,
}

impl Adding<'_> {
    async fn job(&mut self, job: &Job) -> Result<(), StoreError> {
        let JobKey::Extract(id) = &job.key else {
            return Ok(());
        };
        let Some(session) = self.shop.store.session(id).await? else {
            return Ok(());
        };
        if eligible(&session, &self.shop.switches).is_err() {
            return Ok(());
        }
        self.forecast.sessions += 1;
        let mut after = job.done;
        while after < job.input {
            let narrowed = job.span.filter(|_| after < job.suspect_to);
            let most = narrowed.map_or(job.input, |span| after.saturating_add(span));
            let at = Beginning {
                after,
                redo: job.redo,
                is_redone: job.redo_until.is_some_and(|until| after < until),
            };
            let Some(last) = self.window(&session, at, job.input.min(most)).await? else {
                break;
            };
            after = last;
        }
        Ok(())
    }

    /// Adds the next window after a position, and says where it ends.
    async fn window(
        &mut self,
        session: &Session,
        at: Beginning,
        upto: u64,
    ) -> Result<Option<u64>, StoreError> {
        let shop = self.shop;
        let read = read_window(shop, &session.id, at.after, upto).await?;
        let Some(last) = read.last().map(|event| event.seq.0) else {
            return Ok(None);
        };
        let gone = retracted(&read);
        let events = kept(shop, session, &self.projects, read, &gone);
        let before = read_before(shop, session, &self.projects, &gone, at.after).await?;
        let knowledge = match shop.extractor.wants_known() {
            true => Knowledge::gather(shop, at, session, &events, &self.projects).await?,
            false => Knowledge::default(),
        };
        let window = Window {
            session,
            before: &before,
            events: &events,
            known: knowledge.known(),
            is_redone: at.is_redone,
        };
        match shop.extractor.forecast(window) {
            Some(expected) => self.add(session, &expected),
            None => self.forecast.unasked += 1,
        }
        Ok(Some(last))
    }

    fn add(&mut self, session: &Session, expected: &Expected) {
        let sum = self.sums.iter().find(|sum| sum.name == expected.model);
        let calls = sum.map_or(0, |sum| sum.calls.saturating_sub(sum.open));
        let usage = usage(expected, sum.filter(|_| calls > 0), calls);
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
        let user = session.user.as_deref().unwrap_or(&self.shop.person);
        let wanted = self.users.entry(user.to_owned()).or_default();
        wanted.add(Wanted {
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

    async fn caps(&self, now: Timestamp) -> Result<Vec<MetCap>, StoreError> {
        let mut all = Wanted::default();
        for wanted in self.users.values() {
            all.add(*wanted);
        }
        let mut met = Vec::new();
        for cap in &self.meter.caps {
            let payers: Vec<(Option<&String>, Wanted)> = match cap.of {
                Payer::Tenant => vec![(None, all)],
                Payer::User => {
                    let users = self.users.iter();
                    users.map(|(user, wanted)| (Some(user), *wanted)).collect()
                }
            };
            for (user, wanted) in payers {
                let used = self.used(cap, user, now).await?;
                let needed = used.plus(wanted.amount).plus(wanted.margin);
                let is_met = cap.tokens.is_some_and(|most| needed.tokens > most)
                    || cap.money.is_some_and(|most| needed.money > most);
                if is_met && wanted.amount != Amount::default() {
                    met.push(MetCap {
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

    /// What counts in a cap by now; in a run's, nothing: it has not begun.
    async fn used(
        &self,
        cap: &Cap,
        user: Option<&String>,
        now: Timestamp,
    ) -> Result<Amount, StoreError> {
        if cap.period == Period::Run {
            return Ok(Amount::default());
        }
        let user = user.map_or("", String::as_str);
        let purse = Purse::at(cap.of, user, cap.period, "", now);
        let used = self.meter.store.used(&self.shop.tenant, &[purse]).await?;
        Ok(used.first().copied().unwrap_or_default())
    }
}

/// What a question is expected to come to, by what `sum` of so many settled calls came to.
fn usage(expected: &Expected, sum: Option<&SpendSum>, calls: u64) -> Usage {
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
