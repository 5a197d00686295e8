//! Every call of a model is charged to somebody, and no call is made that a cap has no room for.
//!
//! [`Metered`] stands before a model, as a model. Before it asks, it reserves the worst case; what the
//! provider reports takes its place, and proof that nothing was sent gives it back. Whatever lies
//! between, such as a call that was dropped, an answer without a bill or a process that was killed,
//! stays reserved: it may have been billed.
//!
//! Not here: when to ask which model, and what becomes of work that has to wait.

mod worst;

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::error::BoxError;
use daybook_domain::model::{
    Model, ModelError, ModelFailure, ModelReply, ModelRequest, Spent, Usage,
};
use daybook_domain::price::{Price, PriceTable, UnknownPrice};
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{AtCap, Cap, Charge, ReservationId, ReserveOutcome, SettleOutcome};
use daybook_domain::time::Clock;
use daybook_domain::{Scope, Session, SessionId, StoreError, Tenant};
use tracing::warn;

pub use worst::{PER_MESSAGE, PER_REQUEST, SCHEMA_TELLINGS, question, worst_case};

/// What one run spends by: its prices, its caps, and where both are kept to.
#[derive(Clone)]
pub struct Meter {
    /// Where it stands what was spent.
    pub store: Arc<dyn SpendStore>,
    /// The present time, which says what day and month a call counts in.
    pub clock: Arc<dyn Clock>,
    /// What models cost.
    pub prices: PriceTable,
    /// The most that may be spent.
    pub caps: Vec<Cap>,
    /// The run, for caps on runs: a name that the caller gives to no other.
    pub run: String,
}

/// Whom a call is charged to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    /// Behind which wall.
    pub tenant: Tenant,
    /// For which user; the person, unless it is known.
    pub user: String,
    /// In which stage of the road.
    pub stage: &'static str,
    /// About which session.
    pub session: Option<SessionId>,
    /// For whose memory.
    pub scope: Option<Scope>,
}

impl Meter {
    /// `model`, with every call of it charged to `whom`.
    #[must_use]
    pub fn metered(&self, model: Arc<dyn Model>, whom: Attribution) -> Metered {
        Metered {
            model,
            meter: self.clone(),
            whom,
        }
    }

    /// `model`, with every call of it charged to `session` and its user: `person` where it names none.
    #[must_use]
    pub fn about(
        &self,
        model: Arc<dyn Model>,
        stage: &'static str,
        session: &Session,
        person: &str,
    ) -> Metered {
        let user = session.user.clone();
        let whom = Attribution {
            tenant: session.id.tenant.clone(),
            user: user.unwrap_or_else(|| person.to_owned()),
            stage,
            session: Some(session.id.clone()),
            scope: None,
        };
        self.metered(model, whom)
    }
}

/// A model whose calls are charged to somebody, within caps.
pub struct Metered {
    model: Arc<dyn Model>,
    meter: Meter,
    whom: Attribution,
}

/// The cap for which a call was not made: what a job waits for, or has to do without.
#[must_use]
pub fn at_cap(failure: &ModelFailure) -> Option<&AtCap> {
    cause(failure)
}

/// The price for want of which a call was not made: somebody has to act.
#[must_use]
pub fn unknown_price(failure: &ModelFailure) -> Option<&UnknownPrice> {
    cause(failure)
}

fn cause<E: std::error::Error + 'static>(failure: &ModelFailure) -> Option<&E> {
    match &failure.error {
        ModelError::Other { source, .. } => source.downcast_ref(),
        ModelError::Unavailable { .. }
        | ModelError::Denied { .. }
        | ModelError::TooLong { .. }
        | ModelError::Refused { .. }
        | ModelError::Malformed { .. }
        | ModelError::BadRequest { .. }
        | ModelError::Cancelled { .. } => None,
    }
}

#[async_trait]
impl Model for Metered {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_tokens(&self) -> u32 {
        self.model.context_tokens()
    }

    fn count_tokens(&self, text: &str) -> u32 {
        self.model.count_tokens(text)
    }

    fn most_requests(&self) -> u32 {
        self.model.most_requests()
    }

    /// As the model does, unless a cap has no room for it ([`at_cap`]), money is capped and nobody knows
    /// its price ([`unknown_price`]), or it cannot be noted. Then nothing was sent.
    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let price = self.meter.prices.price(self.model.name());
        let reservation = self.reserve(request, price).await?;
        let asked = self.model.ask(request).await;
        let spent = match &asked {
            Ok(reply) => reply.usage.map_or(Spent::Unknown, Spent::Reported),
            Err(failure) => failure.spent,
        };
        if self.book(&reservation, spent, price).await.is_err() {
            // The answer is there and paid for; that it counts with its worst case passes no cap.
            warn!(model = self.model.name(), outcome = "unsettled");
        }
        asked
    }
}

impl Metered {
    /// The most that asking may cost, and whom it is charged to.
    #[must_use]
    pub fn charge(&self, request: &ModelRequest) -> Charge {
        let worst = worst_case(&*self.model, request);
        let price = self.meter.prices.price(self.model.name());
        let Attribution {
            tenant,
            user,
            stage,
            session,
            scope,
        } = self.whom.clone();
        Charge {
            tenant,
            user,
            run: self.meter.run.clone(),
            session,
            stage: stage.to_owned(),
            scope,
            model: self.model.name().to_owned(),
            tokens: worst.input.saturating_add(worst.output),
            money: price.map(|price| price.worst(worst)),
        }
    }

    async fn reserve(
        &self,
        request: &ModelRequest,
        price: Option<Price>,
    ) -> Result<ReservationId, ModelFailure> {
        let meter = &self.meter;
        if price.is_none() && meter.caps.iter().any(|cap| cap.money.is_some()) {
            let model = self.model.name().to_owned();
            return Err(self.not_sent(UnknownPrice { model }.into()));
        }
        let charge = self.charge(request);
        let now = meter.clock.now();
        match meter.store.reserve(&charge, &meter.caps, now).await {
            Ok(ReserveOutcome::Reserved(reservation)) => Ok(reservation),
            Ok(ReserveOutcome::AtCap(at_cap)) => Err(self.not_sent(at_cap)),
            Err(error) => Err(self.not_sent(error.into())),
        }
    }

    /// Notes what a call has cost, as far as anybody knows.
    async fn book(
        &self,
        reservation: &ReservationId,
        spent: Spent,
        price: Option<Price>,
    ) -> Result<(), StoreError> {
        let store = &self.meter.store;
        match spent {
            Spent::Nothing => {
                store.release(reservation).await?;
            }
            Spent::Reported(usage) => self.settle(reservation, usage, price).await?,
            Spent::Unknown => {}
        }
        Ok(())
    }

    async fn settle(
        &self,
        reservation: &ReservationId,
        usage: Usage,
        price: Option<Price>,
    ) -> Result<(), StoreError> {
        let Meter { store, clock, .. } = &self.meter;
        let cost = price.map(|price| price.cost(usage));
        let settled = store.settle(reservation, usage, cost, clock.now()).await?;
        match settled {
            SettleOutcome::Settled | SettleOutcome::Unknown => {}
            SettleOutcome::Exceeded => {
                let Usage { input, output, .. } = usage;
                warn!(
                    model = self.model.name(),
                    input,
                    output,
                    outcome = "exceeded"
                );
            }
        }
        Ok(())
    }

    fn not_sent(&self, source: BoxError) -> ModelFailure {
        ModelFailure {
            error: ModelError::Other {
                model: self.model.name().to_owned(),
                source,
            },
            spent: Spent::Nothing,
        }
    }
}
