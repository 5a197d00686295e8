//! What calls of models cost, in PostgreSQL.
//!
//! The amount that counts in a budget is one row, which each reservation and settlement locks: of two that race
//! for the last of a cap, the second one sees the amount of the first.

use async_trait::async_trait;
use daybook_domain::calendar::Day;
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::model::Usage;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{
    Amount, BudgetPeriod, Cap, Charge, ReservationId, ReserveOutcome, SettleOutcome, SpendBy,
    SpendSum, WorstCase, at_cap,
};
use daybook_domain::{Money, StoreError, Tenant, Timestamp};
use tokio_postgres::Row;

use super::PostgresStore;
use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::names::tenant_no;
use super::values::{SqlValue, get, values};
use crate::bounds;
use crate::spend::{OpenReservation, sums_sql};

/// Makes the commit wait for the disk where the server would not. Levels other than `off` all do, and more.
const SYNCED: &str = "SELECT set_config('synchronous_commit', 'on', TRUE)
    WHERE current_setting('synchronous_commit') = 'off'";

#[async_trait]
impl SpendStore for PostgresStore {
    async fn reserve(
        &self,
        charge: &Charge,
        caps: &[Cap],
        now: Timestamp,
    ) -> Result<ReserveOutcome, StoreError> {
        bounds::check_charge(charge, caps)?;
        let access = TenantAccess::Only(&charge.tenant);
        let reserving = |tx: Tx| async move { reserve(&tx, charge, caps, now).await };
        self.write(access, reserving).await
    }

    async fn settle(
        &self,
        reservation: &ReservationId,
        usage: Usage,
        cost: Option<Money>,
        now: Timestamp,
    ) -> Result<SettleOutcome, StoreError> {
        let settle = "UPDATE spend_calls
            SET settled_at = $2, input = $3, cached = $4, output = $5, money = $6
            WHERE call_no = $1";
        let settling = |tx: Tx| async move {
            tx.defer(SYNCED, &[]);
            let Some(open) = lock_open(&tx, reservation).await? else {
                return Ok(SettleOutcome::Unknown);
            };
            let settled = open.worst.settled(usage, cost);
            count(&tx, &open, settled.amount()).await?;
            let Usage {
                input,
                cached,
                output,
            } = settled.usage;
            let money = settled.money.map(|money| money.0);
            let values = values![open.no, now, input, cached, output, money];
            tx.defer(settle, values);
            Ok(settled.outcome)
        };
        let access = TenantAccess::Only(&reservation.tenant);
        self.write(access, settling).await
    }

    async fn release(&self, reservation: &ReservationId) -> Result<bool, StoreError> {
        let delete = "DELETE FROM spend_calls WHERE call_no = $1";
        let releasing = |tx: Tx| async move {
            tx.defer(SYNCED, &[]);
            let Some(open) = lock_open(&tx, reservation).await? else {
                return Ok(false);
            };
            count(&tx, &open, Amount::default()).await?;
            tx.defer(delete, values![open.no]);
            Ok(true)
        };
        let access = TenantAccess::Only(&reservation.tenant);
        self.write(access, releasing).await
    }

    async fn used(
        &self,
        tenant: &Tenant,
        budgets: &[BudgetPeriod],
    ) -> Result<Vec<Amount>, StoreError> {
        let find = "SELECT coalesce(tokens, 0) AS tokens, coalesce(money, 0) AS money
            FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS wanted (payer, \"user\", period, key, place)
            LEFT JOIN (SELECT spend_purses.* FROM spend_purses JOIN tenants USING (tenant_no)
                WHERE tenant = $1) AS known USING (payer, \"user\", period, key)
            ORDER BY place";
        let using = |tx: Tx| async move {
            let [payers, users, periods, keys] = columns(budgets);
            let values = &[SqlValue::from(&tenant.0), payers, users, periods, keys];
            let rows = tx.rows(find, values).await?;
            rows.iter().map(amount_of).collect()
        };
        self.read(TenantAccess::Only(tenant), using).await
    }

    async fn spent(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        by: SpendBy,
        most: usize,
    ) -> Result<Vec<SpendSum>, StoreError> {
        let select = &sums_sql(by, ["$1", "$2", "$3", "$4"]);
        let summing = |tx: Tx| async move {
            let values = values![&tenant.0, from, to, most.min(SPEND_SUMS)];
            tx.rows(select, values).await?.iter().map(sum_of).collect()
        };
        self.read(TenantAccess::Only(tenant), summing).await
    }
}

async fn reserve(
    tx: &Tx,
    charge: &Charge,
    caps: &[Cap],
    now: Timestamp,
) -> Result<ReserveOutcome, Fault> {
    tx.defer(SYNCED, &[]);
    let tenant = tenant_no(tx, &charge.tenant).await?;
    let budgets = BudgetPeriod::all(&charge.user, &charge.run, now);
    let amounts = lock(tx, tenant, &budgets).await?;
    let saturating_count = |budget: &BudgetPeriod| {
        let mut all = budgets.iter().zip(&amounts);
        let found = all.find(|(known, _)| *known == budget);
        found.map_or_else(Amount::default, |(_, amount)| *amount)
    };
    if let Some(at_cap) = at_cap(charge, caps, now, saturating_count) {
        return Ok(ReserveOutcome::AtCap(Box::new(at_cap)));
    }
    let worst = charge.worst().amount();
    let amounts: Vec<Amount> = amounts.iter().map(|amount| amount.plus(worst)).collect();
    put(tx, tenant, &budgets, &amounts);
    let no: i64 = insert(tx, tenant, charge, now).await?;
    Ok(ReserveOutcome::Reserved(ReservationId {
        tenant: charge.tenant.clone(),
        no: no.unsigned_abs(),
    }))
}

async fn insert(tx: &Tx, tenant: i64, charge: &Charge, now: Timestamp) -> Result<i64, Fault> {
    let insert = "INSERT INTO spend_calls (tenant_no, \"user\", run, stage, model, agent, host_id,
            scope_kind, scope_name, at, day, worst_tokens, worst_money)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING call_no";
    let session = charge.session.as_ref();
    let scope = charge.scope.as_ref();
    let worst = charge.worst();
    let values = values![
        tenant,
        &charge.user,
        &charge.run,
        &charge.stage,
        &charge.model,
        session.map(|id| &id.agent),
        session.map(|id| &id.host_id),
        scope.map(|scope| scope.kind.as_str()),
        scope.map(|scope| &scope.name),
        now,
        Day::of(now).to_string(),
        worst.tokens,
        worst.money.map(|money| money.0),
    ];
    get(&tx.one(insert, values).await?, "call_no")
}

async fn lock_open(tx: &Tx, reservation: &ReservationId) -> Result<Option<OpenReservation>, Fault> {
    let find = "SELECT call_no, spend_calls.tenant_no, \"user\", run, at, worst_tokens, worst_money
        FROM spend_calls JOIN tenants USING (tenant_no)
        WHERE call_no = $1 AND tenant = $2 AND settled_at IS NULL FOR UPDATE OF spend_calls";
    let key = values![reservation.no, &reservation.tenant.0];
    let rows = tx.rows(find, key).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (user, run): (String, String) = (get(row, "user")?, get(row, "run")?);
    Ok(Some(OpenReservation {
        no: get(row, "call_no")?,
        tenant: get(row, "tenant_no")?,
        worst: WorstCase {
            tokens: get(row, "worst_tokens")?,
            money: get::<Option<u64>>(row, "worst_money")?.map(Money),
        },
        budgets: BudgetPeriod::all(&user, &run, get(row, "at")?),
    }))
}

/// Replaces the worst case of a reservation by an amount.
async fn count(tx: &Tx, open: &OpenReservation, amount: Amount) -> Result<(), Fault> {
    let worst = open.worst.amount();
    let used = lock(tx, open.tenant, &open.budgets).await?;
    let now = used.iter().map(|used| used.less(worst).plus(amount));
    put(tx, open.tenant, &open.budgets, &now.collect::<Vec<_>>());
    Ok(())
}

/// The amounts in budgets, which are locked until the transaction ends.
async fn lock(tx: &Tx, tenant: i64, budgets: &[BudgetPeriod]) -> Result<Vec<Amount>, Fault> {
    // New rows are inserted in the order of their keys, too, since other transactions wait for them.
    let make = "INSERT INTO spend_purses (tenant_no, payer, \"user\", period, key, tokens, money)
        SELECT $1, payer, \"user\", period, key, 0, 0
        FROM unnest($2, $3, $4, $5) AS wanted (payer, \"user\", period, key)
        ORDER BY payer COLLATE \"C\", \"user\" COLLATE \"C\", period COLLATE \"C\", key COLLATE \"C\"
        ON CONFLICT DO NOTHING";
    let find = "SELECT payer, \"user\", period, key, tokens, money
        FROM spend_purses
        WHERE tenant_no = $1 AND (payer, \"user\", period, key) IN (SELECT * FROM unnest($2, $3, $4, $5))
        ORDER BY payer, \"user\", period, key FOR UPDATE";
    let [payers, users, periods, keys] = columns(budgets);
    let values = &[SqlValue::from(tenant), payers, users, periods, keys];
    tx.defer(make, values);
    let rows = tx.rows(find, values).await?;
    let amount = |budget: &BudgetPeriod| {
        let is_its = |row: &Row| -> Result<bool, Fault> {
            let (payer, period): (String, String) = (get(row, "payer")?, get(row, "period")?);
            Ok(payer == budget.of.as_str() && period == budget.period.as_str())
        };
        // All are of one user and one time, so these two words tell them apart.
        for row in &rows {
            if is_its(row)? {
                return amount_of(row);
            }
        }
        Err(Fault::corrupt(
            "the row of a budget that was just inserted is missing",
        ))
    };
    budgets.iter().map(amount).collect()
}

/// Stores new amounts, with the next statement.
fn put(tx: &Tx, tenant: i64, budgets: &[BudgetPeriod], amounts: &[Amount]) {
    let put = "UPDATE spend_purses AS known SET tokens = new.tokens, money = new.money
        FROM unnest($2, $3, $4, $5, $6, $7) AS new (payer, \"user\", period, key, tokens, money)
        WHERE known.tenant_no = $1 AND known.payer = new.payer AND known.\"user\" = new.\"user\"
            AND known.period = new.period AND known.key = new.key";
    let [payers, users, periods, keys] = columns(budgets);
    let number = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
    let tokens = amounts.iter().map(|amount| number(amount.tokens));
    let money = amounts.iter().map(|amount| number(amount.money.0));
    let tokens = SqlValue::from(tokens.collect::<Vec<_>>());
    let money = SqlValue::from(money.collect::<Vec<_>>());
    let tenant = SqlValue::from(tenant);
    tx.defer(put, &[tenant, payers, users, periods, keys, tokens, money]);
}

/// The parts of budgets' names, each as a list: payer, user, period, key.
fn columns(budgets: &[BudgetPeriod]) -> [SqlValue; 4] {
    let list = |part: fn(&BudgetPeriod) -> &str| {
        let parts = budgets.iter().map(part);
        SqlValue::from(parts.collect::<Vec<&str>>())
    };
    [
        list(|budget| budget.of.as_str()),
        list(|budget| &budget.user),
        list(|budget| budget.period.as_str()),
        list(|budget| &budget.key),
    ]
}

fn amount_of(row: &Row) -> Result<Amount, Fault> {
    Ok(Amount {
        tokens: get(row, "tokens")?,
        money: Money(get(row, "money")?),
    })
}

fn sum_of(row: &Row) -> Result<SpendSum, Fault> {
    Ok(SpendSum {
        name: get(row, "name")?,
        calls: get(row, "calls")?,
        usage: Usage {
            input: get(row, "input")?,
            cached: get(row, "cached")?,
            output: get(row, "output")?,
        },
        money: Money(get(row, "money")?),
        open: get(row, "open")?,
        reserved: Amount {
            tokens: get(row, "reserved_tokens")?,
            money: Money(get(row, "reserved_money")?),
        },
        exceeded: get(row, "exceeded")?,
        unpriced: get(row, "unpriced")?,
    })
}
