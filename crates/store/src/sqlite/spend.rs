//! What calls of models cost, in SQLite.
//!
//! Every write here waits for the disk, whatever the [`super::Durability`] of other writes: that takes one
//! flush for a reservation and one for its settlement, beside a call that takes seconds.

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
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::SqliteStore;
use super::connection::Fault;
use super::names::{find_tenant, tenant_no};
use crate::bounds;
use crate::spend::{OpenReservation, sums_sql};

#[async_trait]
impl SpendStore for SqliteStore {
    async fn reserve(
        &self,
        charge: &Charge,
        caps: &[Cap],
        now: Timestamp,
    ) -> Result<ReserveOutcome, StoreError> {
        bounds::check_charge(charge, caps)?;
        self.write_synced(|tx| reserve(tx, charge, caps, now))
    }

    async fn settle(
        &self,
        reservation: &ReservationId,
        usage: Usage,
        cost: Option<Money>,
        now: Timestamp,
    ) -> Result<SettleOutcome, StoreError> {
        self.write_synced(|tx| {
            let Some(open) = find_open(tx, reservation)? else {
                return Ok(SettleOutcome::Unknown);
            };
            let settled = open.worst.settled(usage, cost);
            count(tx, &open, settled.amount())?;
            let settle = "UPDATE spend_calls
                SET settled_at = ?, input = ?, cached = ?, output = ?, money = ? WHERE call_no = ?";
            let Usage {
                input,
                cached,
                output,
            } = settled.usage;
            let money = settled.money.map(|money| money.0);
            tx.prepare_cached(settle)?
                .execute(params![now.0, input, cached, output, money, open.no])?;
            Ok(settled.outcome)
        })
    }

    async fn release(&self, reservation: &ReservationId) -> Result<bool, StoreError> {
        self.write_synced(|tx| {
            let Some(open) = find_open(tx, reservation)? else {
                return Ok(false);
            };
            count(tx, &open, Amount::default())?;
            tx.prepare_cached("DELETE FROM spend_calls WHERE call_no = ?")?
                .execute([open.no])?;
            Ok(true)
        })
    }

    async fn used(
        &self,
        tenant: &Tenant,
        budgets: &[BudgetPeriod],
    ) -> Result<Vec<Amount>, StoreError> {
        self.read(|tx| {
            let Some(tenant) = find_tenant(tx, tenant)? else {
                return Ok(vec![Amount::default(); budgets.len()]);
            };
            budgets.iter().map(|one| used(tx, tenant, one)).collect()
        })
    }

    async fn spent(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        by: SpendBy,
        most: usize,
    ) -> Result<Vec<SpendSum>, StoreError> {
        let select = sums_sql(by, ["?1", "?2", "?3", "?4"]);
        self.read(|tx| {
            let most = most.min(SPEND_SUMS);
            let mut sums = tx.prepare_cached(&select)?;
            let sums = sums.query_map(params![tenant.0, from.0, to.0, most], sum_of)?;
            Ok(sums.collect::<Result<_, _>>()?)
        })
    }
}

fn reserve(
    tx: &Connection,
    charge: &Charge,
    caps: &[Cap],
    now: Timestamp,
) -> Result<ReserveOutcome, Fault> {
    let tenant = tenant_no(tx, &charge.tenant)?;
    let budgets = BudgetPeriod::all(&charge.user, &charge.run, now);
    let amounts = budgets.iter().map(|one| used(tx, tenant, one));
    let amounts: Vec<Amount> = amounts.collect::<Result<_, _>>()?;
    let counted = |budget: &BudgetPeriod| {
        let mut all = budgets.iter().zip(&amounts);
        let found = all.find(|(known, _)| *known == budget);
        found.map_or_else(Amount::default, |(_, amount)| *amount)
    };
    if let Some(at_cap) = at_cap(charge, caps, now, counted) {
        return Ok(ReserveOutcome::AtCap(Box::new(at_cap)));
    }
    let worst = charge.worst();
    for (budget, amount) in budgets.iter().zip(&amounts) {
        put(tx, tenant, budget, amount.plus(worst.amount()))?;
    }
    let no = insert(tx, tenant, charge, now)?;
    Ok(ReserveOutcome::Reserved(ReservationId {
        tenant: charge.tenant.clone(),
        no: no.unsigned_abs(),
    }))
}

fn insert(tx: &Connection, tenant: i64, charge: &Charge, now: Timestamp) -> Result<i64, Fault> {
    let insert = "INSERT INTO spend_calls (tenant_no, user, run, stage, model, agent, host_id,
            scope_kind, scope_name, at, day, worst_tokens, worst_money)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let session = charge.session.as_ref();
    let scope = charge.scope.as_ref();
    let worst = charge.worst();
    tx.prepare_cached(insert)?.execute(params![
        tenant,
        charge.user,
        charge.run,
        charge.stage,
        charge.model,
        session.map(|id| &id.agent),
        session.map(|id| &id.host_id),
        scope.map(|scope| scope.kind.as_str()),
        scope.map(|scope| &scope.name),
        now.0,
        Day::of(now).to_string(),
        worst.tokens,
        worst.money.map(|money| money.0),
    ])?;
    Ok(tx.last_insert_rowid())
}

fn find_open(
    tx: &Connection,
    reservation: &ReservationId,
) -> Result<Option<OpenReservation>, Fault> {
    let find = "SELECT call_no, tenant_no, user, run, at, worst_tokens, worst_money
        FROM spend_calls JOIN tenants USING (tenant_no)
        WHERE call_no = ? AND tenant = ? AND settled_at IS NULL";
    let Ok(no) = i64::try_from(reservation.no) else {
        return Ok(None);
    };
    let mut find = tx.prepare_cached(find)?;
    let found = find.query_row(params![no, reservation.tenant.0], |row| {
        let (user, run): (String, String) = (row.get("user")?, row.get("run")?);
        Ok(OpenReservation {
            no: row.get("call_no")?,
            tenant: row.get("tenant_no")?,
            worst: WorstCase {
                tokens: row.get("worst_tokens")?,
                money: row.get::<_, Option<u64>>("worst_money")?.map(Money),
            },
            budgets: BudgetPeriod::all(&user, &run, Timestamp(row.get("at")?)),
        })
    });
    Ok(found.optional()?)
}

/// Replaces the worst case of a reservation by an amount.
fn count(tx: &Connection, open: &OpenReservation, amount: Amount) -> Result<(), Fault> {
    for budget in &open.budgets {
        let before = used(tx, open.tenant, budget)?;
        let now = before.less(open.worst.amount()).plus(amount);
        put(tx, open.tenant, budget, now)?;
    }
    Ok(())
}

fn used(tx: &Connection, tenant: i64, budget: &BudgetPeriod) -> Result<Amount, Fault> {
    let find = "SELECT tokens, money FROM spend_purses
        WHERE tenant_no = ? AND payer = ? AND user = ? AND period = ? AND key = ?";
    let (payer, period) = (budget.of.as_str(), budget.period.as_str());
    let key = params![tenant, payer, budget.user, period, budget.key];
    let found = tx.prepare_cached(find)?.query_row(key, |row| {
        Ok(Amount {
            tokens: row.get("tokens")?,
            money: Money(row.get("money")?),
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

fn put(tx: &Connection, tenant: i64, budget: &BudgetPeriod, amount: Amount) -> Result<(), Fault> {
    let put = "INSERT INTO spend_purses (tenant_no, payer, user, period, key, tokens, money)
        VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_no, payer, user, period, key)
        DO UPDATE SET tokens = excluded.tokens, money = excluded.money";
    tx.prepare_cached(put)?.execute(params![
        tenant,
        budget.of.as_str(),
        budget.user,
        budget.period.as_str(),
        budget.key,
        amount.tokens,
        amount.money.0,
    ])?;
    Ok(())
}

fn sum_of(row: &Row<'_>) -> rusqlite::Result<SpendSum> {
    Ok(SpendSum {
        name: row.get("name")?,
        calls: row.get("calls")?,
        usage: Usage {
            input: row.get("input")?,
            cached: row.get("cached")?,
            output: row.get("output")?,
        },
        money: Money(row.get("money")?),
        open: row.get("open")?,
        reserved: Amount {
            tokens: row.get("reserved_tokens")?,
            money: Money(row.get("reserved_money")?),
        },
        exceeded: row.get("exceeded")?,
        unpriced: row.get("unpriced")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::SqliteOptions;
    use super::*;

    #[test]
    fn what_is_spent_waits_for_the_disk_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daybook.db");
        let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        let level = |tx: &rusqlite::Transaction<'_>| {
            Ok(tx.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0))?)
        };
        let failed = store.write_synced(|_| Err::<(), _>(Fault::corrupt("not this")));
        assert!(failed.is_err());
        let (normal, full) = (1, 2);
        assert_eq!(store.write(level).unwrap(), normal);
        assert_eq!(store.write_synced(level).unwrap(), full);
        assert_eq!(store.write(level).unwrap(), normal);
    }
}
