//! Open reservations, and SQL for sums of spending: the same in both dialects.

use daybook_domain::spend::{BudgetPeriod, SpendBy, WorstCase};

/// A reservation that is still open.
pub(crate) struct OpenReservation {
    pub(crate) no: i64,
    pub(crate) tenant: i64,
    pub(crate) worst: WorstCase,
    pub(crate) budgets: Vec<BudgetPeriod>,
}

/// Sums of a tenant's calls. The parameters, in the dialect's own syntax: tenant, first time, time after the
/// last, how many.
pub(crate) fn sums_sql(by: SpendBy, [tenant, from, to, most]: [&str; 4]) -> String {
    let (name, group) = match by {
        SpendBy::Day => ("day", "day"),
        SpendBy::Month => ("substr(day, 1, 7)", "substr(day, 1, 7)"),
        SpendBy::Model => ("model", "model"),
        SpendBy::Stage => ("stage", "stage"),
        SpendBy::User => ("\"user\"", "\"user\""),
        SpendBy::Scope => (
            "coalesce(scope_kind || '/' || scope_name, '')",
            "scope_kind, scope_name",
        ),
        SpendBy::Session => ("coalesce(agent || ':' || host_id, '')", "agent, host_id"),
    };
    let order = match by {
        SpendBy::Day | SpendBy::Month => "name DESC",
        SpendBy::Model | SpendBy::Stage | SpendBy::User | SpendBy::Scope | SpendBy::Session => {
            "money + reserved_money DESC, input + output + reserved_tokens DESC, name"
        }
    };
    let sum = |what: &str| format!("coalesce(sum({what}), 0)");
    let count = |when: &str| format!("coalesce(sum(CASE WHEN {when} THEN 1 ELSE 0 END), 0)");
    let open = |what: &str| sum(&format!("CASE WHEN settled_at IS NULL THEN {what} END"));
    let columns = [
        ("input", sum("input")),
        ("cached", sum("cached")),
        ("output", sum("output")),
        ("money", sum("money")),
        ("open", count("settled_at IS NULL")),
        ("reserved_tokens", open("worst_tokens")),
        ("reserved_money", open("worst_money")),
        (
            "exceeded",
            count("input + output > worst_tokens OR money > worst_money"),
        ),
        ("unpriced", count("money IS NULL AND worst_money IS NULL")),
    ];
    let columns = columns.map(|(column, sum)| format!("CAST({sum} AS BIGINT) AS {column}"));
    format!(
        "SELECT * FROM (SELECT {name} AS name, count(*) AS calls, {}
            FROM spend_calls JOIN tenants USING (tenant_no)
            WHERE tenant = {tenant} AND at >= {from} AND at < {to} GROUP BY {group}) AS sums
         ORDER BY {order} LIMIT {most}",
        columns.join(", ")
    )
}
