//! Charges every call of a model, and refuses calls that a cap has no room for.
//!
//! [`BudgetedModel`] wraps a model. Before it asks, it reserves the worst case. The usage that the provider
//! reports replaces the reservation; proof that nothing was sent releases it. Otherwise, as after a dropped
//! call, an answer without usage or a killed process, the reservation stays: the call may have been billed.
//!
//! Not here: when to ask which model, and what becomes of work that has to wait.

mod worst;

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::error::BoxError;
use daybook_domain::model::{
    FailureCost, Model, ModelError, ModelFailure, ModelReply, ModelRequest, Usage,
};
use daybook_domain::price::{Price, PriceTable, UnknownPrice};
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{
    Cap, CapReached, Charge, ReservationId, ReserveOutcome, SettleOutcome,
};
use daybook_domain::time::Clock;
use daybook_domain::{Scope, ScopeKind, Session, SessionId, StoreError, Tenant};
use tracing::field::Empty;
use tracing::{Instrument, debug_span, warn};

pub use worst::{PER_MESSAGE, PER_REQUEST, SCHEMA_COPIES, expected_usage, worst_case};

/// The prices and caps of one run, and the store that records its spending.
#[derive(Clone)]
pub struct SpendMeter {
    /// The store of what was spent.
    pub store: Arc<dyn SpendStore>,
    /// The present time, which decides the day and month that a call counts in.
    pub clock: Arc<dyn Clock>,
    /// What models cost.
    pub prices: PriceTable,
    /// The most that may be spent.
    pub caps: Vec<Cap>,
    /// The run's name, for caps on runs; unique to this run.
    pub run: String,
}

/// The payer and the purpose of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    /// The tenant.
    pub tenant: Tenant,
    /// The user; the person of the data folder when no user is known.
    pub user: String,
    /// The stage of the pipeline.
    pub stage: &'static str,
    /// The session that the call is about.
    pub session: Option<SessionId>,
    /// The scope whose memory the call serves.
    pub scope: Option<Scope>,
}

impl SpendMeter {
    /// Wraps `model`, so that every call of it is charged to `whom`.
    #[must_use]
    pub fn budgeted(&self, model: Arc<dyn Model>, whom: Attribution) -> BudgetedModel {
        BudgetedModel {
            model,
            meter: self.clone(),
            whom,
        }
    }

    /// Wraps `model`, so that every call of it is charged to `session` and its user, or to `person` if it has none.
    #[must_use]
    pub fn budgeted_for_session(
        &self,
        model: Arc<dyn Model>,
        stage: &'static str,
        session: &Session,
        person: &str,
    ) -> BudgetedModel {
        let user = session.user.clone();
        let whom = Attribution {
            tenant: session.id.tenant.clone(),
            user: user.unwrap_or_else(|| person.to_owned()),
            stage,
            session: Some(session.id.clone()),
            scope: None,
        };
        self.budgeted(model, whom)
    }

    /// Wraps `model`, so that every call of it is charged to `scope` and the user whose memory it is, or to `person`.
    #[must_use]
    pub fn budgeted_for_scope(
        &self,
        model: Arc<dyn Model>,
        stage: &'static str,
        scope: &Scope,
        person: &str,
    ) -> BudgetedModel {
        let user = match scope.kind {
            ScopeKind::User => &scope.name,
            ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room | ScopeKind::Project => person,
        };
        let whom = Attribution {
            tenant: scope.tenant.clone(),
            user: user.to_owned(),
            stage,
            session: None,
            scope: Some(scope.clone()),
        };
        self.budgeted(model, whom)
    }
}

/// A model whose calls are charged, within caps.
pub struct BudgetedModel {
    model: Arc<dyn Model>,
    meter: SpendMeter,
    whom: Attribution,
}

/// The cap that stopped a call, if a cap did: the job waits for it, or does without the call.
#[must_use]
pub fn at_cap(failure: &ModelFailure) -> Option<&CapReached> {
    cause(failure)
}

/// The missing price that stopped a call, if one did: a person has to set it.
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

/// Why a call failed, as a word for logs.
fn class(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unavailable { .. } => "unavailable",
        ModelError::Denied { .. } => "denied",
        ModelError::TooLong { .. } => "too_long",
        ModelError::Refused { .. } => "refused",
        ModelError::Malformed { .. } => "malformed",
        ModelError::BadRequest { .. } => "bad_request",
        ModelError::Cancelled { .. } => "cancelled",
        ModelError::Other { .. } => "other",
    }
}

#[async_trait]
impl Model for BudgetedModel {
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

    /// Asks the model, unless a cap has no room for the call ([`at_cap`]), money is capped and the price is
    /// unknown ([`unknown_price`]), or the reservation cannot be stored. Then nothing is sent.
    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let price = self.meter.prices.price(self.model.name());
        let reservation = self.reserve(request, price).await?;
        let result = self.ask_in_span(request).await;
        let spent = match &result {
            Ok(reply) => reply
                .usage
                .map_or(FailureCost::Unknown, FailureCost::Reported),
            Err(failure) => failure.spent,
        };
        if self.record_spent(&reservation, spent, price).await.is_err() {
            // The answer has arrived and is paid for; counting it with its worst case exceeds no cap.
            warn!(model = self.model.name(), outcome = "unsettled");
        }
        result
    }
}

impl BudgetedModel {
    /// The charge for asking: its worst case and its payer.
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

    /// Asks the model, in a span that notes what the provider reports.
    async fn ask_in_span(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let span = debug_span!(
            "model",
            model = self.model.name(),
            operation = "chat",
            purpose = self.whom.stage,
            sent_tokens = Empty,
            answered_tokens = Empty,
            class = Empty,
        );
        let result = self.model.ask(request).instrument(span.clone()).await;
        let spent = match &result {
            Ok(reply) => reply.usage,
            Err(failure) => {
                span.record("class", class(&failure.error));
                match failure.spent {
                    FailureCost::Reported(usage) => Some(usage),
                    FailureCost::Nothing | FailureCost::Unknown => None,
                }
            }
        };
        if let Some(usage) = spent {
            span.record("sent_tokens", usage.input);
            span.record("answered_tokens", usage.output);
        }
        result
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

    /// Records what a call has cost, as far as that is known.
    async fn record_spent(
        &self,
        reservation: &ReservationId,
        spent: FailureCost,
        price: Option<Price>,
    ) -> Result<(), StoreError> {
        let store = &self.meter.store;
        match spent {
            FailureCost::Nothing => {
                store.release(reservation).await?;
            }
            FailureCost::Reported(usage) => self.settle(reservation, usage, price).await?,
            FailureCost::Unknown => {}
        }
        Ok(())
    }

    async fn settle(
        &self,
        reservation: &ReservationId,
        usage: Usage,
        price: Option<Price>,
    ) -> Result<(), StoreError> {
        let SpendMeter { store, clock, .. } = &self.meter;
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
            spent: FailureCost::Nothing,
        }
    }
}
