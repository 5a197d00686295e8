//! What calls of models cost, in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use daybook_domain::calendar::{Day, Month};
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::model::Usage;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{
    Amount, BudgetPeriod, Cap, Charge, ReservationId, ReserveOutcome, SettleOutcome, Settlement,
    SpendBy, SpendSum, WorstCase, at_cap,
};
use daybook_domain::{Money, StoreError, Tenant, Timestamp};

use super::MemoryStore;
use crate::bounds;

/// Calls, and what counts in each budget.
#[derive(Debug, Default)]
pub(super) struct SpendRows {
    calls: BTreeMap<u64, ModelCall>,
    last: u64,
    budgets: BTreeMap<(Tenant, BudgetPeriod), Amount>,
}

#[derive(Debug)]
struct ModelCall {
    charge: Charge,
    at: Timestamp,
    settled: Option<Settlement>,
}

impl ModelCall {
    fn worst(&self) -> WorstCase {
        self.charge.worst()
    }

    /// The key by which the call is grouped, and its text for display.
    fn group(&self, by: SpendBy) -> (Option<(&str, &str)>, String) {
        let shown = |name: &str| (None, name.to_owned());
        match by {
            SpendBy::Day => shown(&Day::of(self.at).to_string()),
            SpendBy::Month => shown(&Month::of(self.at).to_string()),
            SpendBy::Model => shown(&self.charge.model),
            SpendBy::Stage => shown(&self.charge.stage),
            SpendBy::User => shown(&self.charge.user),
            SpendBy::Scope => self.charge.scope.as_ref().map_or(shown(""), |scope| {
                (Some((scope.kind.as_str(), &scope.name)), scope.to_string())
            }),
            SpendBy::Session => self.charge.session.as_ref().map_or(shown(""), |id| {
                (Some((&id.agent, &id.host_id)), id.to_string())
            }),
        }
    }

    fn add_to(&self, sum: &mut SpendSum) {
        let worst = self.worst();
        sum.calls += 1;
        let money = match self.settled {
            Some(settled) => {
                sum.usage += settled.usage;
                sum.money.0 += settled.money.unwrap_or_default().0;
                sum.exceeded += u64::from(settled.outcome == SettleOutcome::Exceeded);
                settled.money
            }
            None => {
                sum.open += 1;
                sum.reserved = sum.reserved.plus(worst.amount());
                worst.money
            }
        };
        sum.unpriced += u64::from(money.is_none());
    }
}

impl SpendRows {
    fn used(&self, tenant: &Tenant, budget: &BudgetPeriod) -> Amount {
        let key = (tenant.clone(), budget.clone());
        self.budgets.get(&key).copied().unwrap_or_default()
    }

    /// Replaces `before` by `now` in all budgets of a call.
    fn count(&mut self, charge: &Charge, at: Timestamp, before: Amount, now: Amount) {
        for budget in BudgetPeriod::all(&charge.user, &charge.run, at) {
            let key = (charge.tenant.clone(), budget);
            let used = self.budgets.entry(key).or_default();
            *used = used.less(before).plus(now);
        }
    }

    /// The call of a reservation that is still open.
    fn open(&self, reservation: &ReservationId) -> Option<&ModelCall> {
        let call = self.calls.get(&reservation.no)?;
        let stands = call.charge.tenant == reservation.tenant && call.settled.is_none();
        stands.then_some(call)
    }
}

#[async_trait]
impl SpendStore for MemoryStore {
    async fn reserve(
        &self,
        charge: &Charge,
        caps: &[Cap],
        now: Timestamp,
    ) -> Result<ReserveOutcome, StoreError> {
        bounds::check_charge(charge, caps)?;
        let mut state = self.lock_for_change();
        let book = &mut state.spend;
        let used = |budget: &BudgetPeriod| book.used(&charge.tenant, budget);
        if let Some(at_cap) = at_cap(charge, caps, now, used) {
            return Ok(ReserveOutcome::AtCap(Box::new(at_cap)));
        }
        book.count(charge, now, Amount::default(), charge.worst().amount());
        book.last += 1;
        let call = ModelCall {
            charge: charge.clone(),
            at: now,
            settled: None,
        };
        book.calls.insert(book.last, call);
        Ok(ReserveOutcome::Reserved(ReservationId {
            tenant: charge.tenant.clone(),
            no: book.last,
        }))
    }

    async fn settle(
        &self,
        reservation: &ReservationId,
        usage: Usage,
        cost: Option<Money>,
        _now: Timestamp,
    ) -> Result<SettleOutcome, StoreError> {
        let mut state = self.lock_for_change();
        let book = &mut state.spend;
        let Some(call) = book.open(reservation) else {
            return Ok(SettleOutcome::Unknown);
        };
        let worst = call.worst();
        let settled = worst.settled(usage, cost);
        let (charge, at) = (call.charge.clone(), call.at);
        book.count(&charge, at, worst.amount(), settled.amount());
        if let Some(call) = book.calls.get_mut(&reservation.no) {
            call.settled = Some(settled);
        }
        Ok(settled.outcome)
    }

    async fn release(&self, reservation: &ReservationId) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let book = &mut state.spend;
        if book.open(reservation).is_none() {
            return Ok(false);
        }
        if let Some(call) = book.calls.remove(&reservation.no) {
            let worst = call.worst().amount();
            book.count(&call.charge, call.at, worst, Amount::default());
        }
        Ok(true)
    }

    async fn used(
        &self,
        tenant: &Tenant,
        budgets: &[BudgetPeriod],
    ) -> Result<Vec<Amount>, StoreError> {
        let state = self.lock();
        let used = budgets
            .iter()
            .map(|budget| state.spend.used(tenant, budget));
        Ok(used.collect())
    }

    async fn spent(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        by: SpendBy,
        most: usize,
    ) -> Result<Vec<SpendSum>, StoreError> {
        let state = self.lock();
        let within = state
            .spend
            .calls
            .values()
            .filter(|call| &call.charge.tenant == tenant && from <= call.at && call.at < to);
        let mut sums: BTreeMap<_, SpendSum> = BTreeMap::new();
        for call in within {
            let (key, name) = call.group(by);
            let sum = sums.entry((key, name.clone())).or_default();
            sum.name = name;
            call.add_to(sum);
        }
        let mut sums: Vec<SpendSum> = sums.into_values().collect();
        sums.sort_by(|one, other| by.order(one, other));
        sums.truncate(most.min(SPEND_SUMS));
        Ok(sums)
    }
}
