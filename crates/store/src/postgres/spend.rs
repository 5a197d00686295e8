//! What calls of models cost, in PostgreSQL.
//!
//! What counts in a purse is one row, which whoever reserves or settles locks: of two that race
//! for the last of a cap, the second one sees what the first has taken.

use async_trait::async_trait;
use daybook_domain::calendar::Day;
use daybook_domain::limits::SPEND_SUMS;
use daybook_domain::model::Usage;
use daybook_domain::seams::SpendStore;
use daybook_domain::spend::{
    Amount, Cap, Charge, Purse, ReservationId, ReserveOutcome, SettleOutcome, SpendBy, SpendSum,
    Worst, at_cap,
};
use daybook_domain::{Money, StoreError, Tenant, Timestamp};
use tokio_postgres::Row;

use super::PostgresStore;
use super::connection::{Tx, Walls};
use super::fault::Fault;
use super::names::tenant_no;
use super::values::{Value, get, values};
use crate::bounds;
use crate::spend::sums;

/// Waits for the disk where the server would not. Other levels than `off` all do, and more.
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
        let walls = Walls::Within(&charge.tenant);
        let reserving = |tx: Tx| async move { reserve(&tx, charge, caps, now).await };
        self.write(walls, reserving).await
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
            tx.leave(SYNCED, &[]);
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
            tx.leave(settle, values);
            Ok(settled.outcome)
        };
        let walls = Walls::Within(&reservation.tenant);
        self.write(walls, settling).await
    }

    async fn release(&self, reservation: &ReservationId) -> Result<bool, StoreError> {
        let delete = "DELETE FROM spend_calls WHERE call_no = $1";
        let releasing = |tx: Tx| async move {
            tx.leave(SYNCED, &[]);
            let Some(open) = lock_open(&tx, reservation).await? else {
                return Ok(false);
            };
            count(&tx, &open, Amount::default()).await?;
            tx.leave(delete, values![open.no]);
            Ok(true)
        };
        let walls = Walls::Within(&reservation.tenant);
        self.write(walls, releasing).await
    }

    async fn used(&self, tenant: &Tenant, purses: &[Purse]) -> Result<Vec<Amount>, StoreError> {
        let find = "SELECT coalesce(tokens, 0) AS tokens, coalesce(money, 0) AS money
            FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS wanted (payer, \"user\", period, key, place)
            LEFT JOIN (SELECT spend_purses.* FROM spend_purses JOIN tenants USING (tenant_no)
                WHERE tenant = $1) AS known USING (payer, \"user\", period, key)
            ORDER BY place";
        let using = |tx: Tx| async move {
            let [payers, users, periods, keys] = columns(purses);
            let values = &[Value::from(&tenant.0), payers, users, periods, keys];
            let rows = tx.rows(find, values).await?;
            rows.iter().map(amount_of).collect()
        };
        self.read(Walls::Within(tenant), using).await
    }

    async fn spent(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        by: SpendBy,
        most: usize,
    ) -> Result<Vec<SpendSum>, StoreError> {
        let select = &sums(by, ["$1", "$2", "$3", "$4"]);
        let summing = |tx: Tx| async move {
            let values = values![&tenant.0, from, to, most.min(SPEND_SUMS)];
            tx.rows(select, values).await?.iter().map(sum_of).collect()
        };
        self.read(Walls::Within(tenant), summing).await
    }
}

/// A reservation that still stands; its row is locked.
struct Open {
    no: i64,
    tenant: i64,
    worst: Worst,
    purses: Vec<Purse>,
}

async fn reserve(
    tx: &Tx,
    charge: &Charge,
    caps: &[Cap],
    now: Timestamp,
) -> Result<ReserveOutcome, Fault> {
    tx.leave(SYNCED, &[]);
    let tenant = tenant_no(tx, &charge.tenant).await?;
    let purses = Purse::all(&charge.user, &charge.run, now);
    let amounts = lock(tx, tenant, &purses).await?;
    let counted = |purse: &Purse| {
        let mut all = purses.iter().zip(&amounts);
        let found = all.find(|(known, _)| *known == purse);
        found.map_or_else(Amount::default, |(_, amount)| *amount)
    };
    if let Some(at_cap) = at_cap(charge, caps, now, counted) {
        return Ok(ReserveOutcome::AtCap(Box::new(at_cap)));
    }
    let worst = charge.worst().amount();
    let amounts: Vec<Amount> = amounts.iter().map(|amount| amount.plus(worst)).collect();
    put(tx, tenant, &purses, &amounts);
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
        scope.map(|scope| scope.kind.word()),
        scope.map(|scope| &scope.name),
        now,
        Day::of(now).to_string(),
        worst.tokens,
        worst.money.map(|money| money.0),
    ];
    get(&tx.one(insert, values).await?, "call_no")
}

async fn lock_open(tx: &Tx, reservation: &ReservationId) -> Result<Option<Open>, Fault> {
    let find = "SELECT call_no, spend_calls.tenant_no, \"user\", run, at, worst_tokens, worst_money
        FROM spend_calls JOIN tenants USING (tenant_no)
        WHERE call_no = $1 AND tenant = $2 AND settled_at IS NULL FOR UPDATE OF spend_calls";
    let key = values![reservation.no, &reservation.tenant.0];
    let rows = tx.rows(find, key).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (user, run): (String, String) = (get(row, "user")?, get(row, "run")?);
    Ok(Some(Open {
        no: get(row, "call_no")?,
        tenant: get(row, "tenant_no")?,
        worst: Worst {
            tokens: get(row, "worst_tokens")?,
            money: get::<Option<u64>>(row, "worst_money")?.map(Money),
        },
        purses: Purse::all(&user, &run, get(row, "at")?),
    }))
}

/// Puts an amount in the place of the worst case of a reservation.
async fn count(tx: &Tx, open: &Open, amount: Amount) -> Result<(), Fault> {
    let worst = open.worst.amount();
    let used = lock(tx, open.tenant, &open.purses).await?;
    let now = used.iter().map(|used| used.less(worst).plus(amount));
    put(tx, open.tenant, &open.purses, &now.collect::<Vec<_>>());
    Ok(())
}

/// What counts in purses, which are locked until the transaction ends.
async fn lock(tx: &Tx, tenant: i64, purses: &[Purse]) -> Result<Vec<Amount>, Fault> {
    // New ones are made in the order of their keys, too, since others wait for what we make.
    let make = "INSERT INTO spend_purses (tenant_no, payer, \"user\", period, key, tokens, money)
        SELECT $1, payer, \"user\", period, key, 0, 0
        FROM unnest($2, $3, $4, $5) AS wanted (payer, \"user\", period, key)
        ORDER BY payer COLLATE \"C\", \"user\" COLLATE \"C\", period COLLATE \"C\", key COLLATE \"C\"
        ON CONFLICT DO NOTHING";
    let find = "SELECT payer, \"user\", period, key, tokens, money
        FROM spend_purses
        WHERE tenant_no = $1 AND (payer, \"user\", period, key) IN (SELECT * FROM unnest($2, $3, $4, $5))
        ORDER BY payer, \"user\", period, key FOR UPDATE";
    let [payers, users, periods, keys] = columns(purses);
    let values = &[Value::from(tenant), payers, users, periods, keys];
    tx.leave(make, values);
    let rows = tx.rows(find, values).await?;
    let amount = |purse: &Purse| {
        let is_its = |row: &Row| -> Result<bool, Fault> {
            let (payer, period): (String, String) = (get(row, "payer")?, get(row, "period")?);
            Ok(payer == purse.of.word() && period == purse.period.word())
        };
        // All are of one user and one time, so these two words tell them apart.
        for row in &rows {
            if is_its(row)? {
                return amount_of(row);
            }
        }
        Err(Fault::corrupt("a purse is gone that was just made"))
    };
    purses.iter().map(amount).collect()
}

/// Notes what counts from now on, with the next statement.
fn put(tx: &Tx, tenant: i64, purses: &[Purse], amounts: &[Amount]) {
    let put = "UPDATE spend_purses AS known SET tokens = new.tokens, money = new.money
        FROM unnest($2, $3, $4, $5, $6, $7) AS new (payer, \"user\", period, key, tokens, money)
        WHERE known.tenant_no = $1 AND known.payer = new.payer AND known.\"user\" = new.\"user\"
            AND known.period = new.period AND known.key = new.key";
    let [payers, users, periods, keys] = columns(purses);
    let number = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
    let tokens = amounts.iter().map(|amount| number(amount.tokens));
    let money = amounts.iter().map(|amount| number(amount.money.0));
    let tokens = Value::from(tokens.collect::<Vec<_>>());
    let money = Value::from(money.collect::<Vec<_>>());
    let tenant = Value::from(tenant);
    tx.leave(put, &[tenant, payers, users, periods, keys, tokens, money]);
}

/// The parts of purses' names, each as a list: payer, user, period, key.
fn columns(purses: &[Purse]) -> [Value; 4] {
    let list = |part: fn(&Purse) -> &str| {
        let parts = purses.iter().map(part);
        Value::from(parts.collect::<Vec<&str>>())
    };
    [
        list(|purse| purse.of.word()),
        list(|purse| &purse.user),
        list(|purse| purse.period.word()),
        list(|purse| &purse.key),
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
