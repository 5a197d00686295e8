//! What calls of models cost.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::Tenant;
use crate::model::Usage;
use crate::price::Money;
use crate::spend::{
    Amount, BudgetPeriod, Cap, Charge, ReservationId, ReserveOutcome, SettleOutcome, SpendBy,
    SpendSum,
};
use crate::time::Timestamp;

/// Keeps what calls of models cost. Every write survives a power cut: a cap that lost writes would be no
/// bound.
///
/// A reservation that is never settled or released counts with its worst case for ever: its caller may have
/// crashed, and what was sent by then is billed.
#[async_trait]
pub trait SpendStore: Send + Sync {
    /// Counts a charge with its worst case in all its budgets, unless a cap would be passed
    /// ([`crate::spend::at_cap`]). However many reserve at once, no cap is passed. Repeating it
    /// reserves once more.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a charge without money under a cap on money, and for a session or
    /// scope of another tenant.
    async fn reserve(
        &self,
        charge: &Charge,
        caps: &[Cap],
        now: Timestamp,
    ) -> Result<ReserveOutcome, StoreError>;

    /// Puts what the provider reported in the place of what was reserved, in the periods that the
    /// reservation was made in. More than was reserved is counted as it is. Repeating it changes
    /// nothing.
    async fn settle(
        &self,
        reservation: &ReservationId,
        usage: Usage,
        cost: Option<Money>,
        now: Timestamp,
    ) -> Result<SettleOutcome, StoreError>;

    /// Forgets a reservation, as nothing was sent; false when it was settled or released before.
    async fn release(&self, reservation: &ReservationId) -> Result<bool, StoreError>;

    /// What counts in budgets of a tenant, each, reservations included.
    async fn used(
        &self,
        tenant: &Tenant,
        budgets: &[BudgetPeriod],
    ) -> Result<Vec<Amount>, StoreError>;

    /// What a tenant's calls came to that were reserved from the first time on and before the second.
    /// Days and months newest first; all else by money, then tokens, the greatest first, then by name.
    /// At most `most` and [`crate::limits::SPEND_SUMS`].
    async fn spent(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        by: SpendBy,
        most: usize,
    ) -> Result<Vec<SpendSum>, StoreError>;
}
