//! The tables `prices` and `caps`: prices of models, and limits on spending.

use daybook_domain::price::{Money, Price, PriceTable};
use daybook_domain::spend::{Cap, Payer, Period};
use serde_json::{Map, Value, json};
use strum::VariantArray;

/// Most models with a price of their own.
const MOST_PRICES: usize = 1_000;
/// Most bytes of a model's name.
const MODEL: usize = 200;
/// Prefix of the periods of each user.
const USER: &str = "user_";

/// Parses entries such as `"ada/small-*" = { input = 3, cached = 0.3, output = 15 }`, each per million tokens.
pub(super) fn prices(tables: &Value) -> Result<PriceTable, String> {
    let tables = table("prices", tables)?;
    if tables.len() > MOST_PRICES {
        return Err(format!("more than {MOST_PRICES} models"));
    }
    let prices = tables.iter().map(|(model, price)| {
        if model.is_empty() || model.len() > MODEL {
            return Err(format!("a model\'s name has 1 to {MODEL} bytes"));
        }
        Ok((model.clone(), parse_price(model, price)?))
    });
    Ok(PriceTable::new(prices.collect::<Result<Vec<_>, String>>()?))
}

fn parse_price(model: &str, price: &Value) -> Result<Price, String> {
    let price = table(model, price)?;
    check_keys(model, price, &["input", "cached", "output"])?;
    let part = |name| {
        let given = price.get(name);
        given.map(|given| parse_money(given).map_err(|why| format!("{model}: {name}: {why}")))
    };
    let wanting = |name: &str| {
        format!("{model}: no price for {name}; write {{ input = 3, cached = 0.3, output = 15 }}")
    };
    let input = part("input").ok_or_else(|| wanting("input"))??;
    Ok(Price {
        input,
        cached: part("cached").unwrap_or(Ok(input))?,
        output: part("output").ok_or_else(|| wanting("output"))??,
    })
}

/// Parses entries such as `day = { tokens = 2_000_000, money = 5 }`, for run, day and month, and for each user.
pub(super) fn caps(tables: &Value) -> Result<Vec<Cap>, String> {
    let caps = table("caps", tables)?.iter();
    let caps: Result<Vec<Cap>, String> = caps.map(|(name, cap)| parse_cap(name, cap)).collect();
    let mut caps = caps?;
    caps.sort_by_key(|cap| (cap.of, cap.period));
    Ok(caps)
}

fn parse_cap(name: &str, cap: &Value) -> Result<Cap, String> {
    let (of, word) = match name.strip_prefix(USER) {
        Some(word) => (Payer::User, word),
        None => (Payer::Tenant, name),
    };
    let period = word.parse().map_err(|_| {
        let names = cap_names().join(", ");
        format!("{name}: there is no such cap; there are {names}")
    })?;
    let cap = table(name, cap)?;
    check_keys(name, cap, &["tokens", "money"])?;
    let tokens = cap.get("tokens").map(|given| {
        let tokens = given
            .as_u64()
            .filter(|tokens| i64::try_from(*tokens).is_ok());
        tokens.ok_or_else(|| format!("{name}: tokens: not a whole number"))
    });
    let money = cap.get("money");
    let money = money.map(|given| parse_cap_money(name, given));
    Ok(Cap {
        period,
        of,
        tokens: tokens.transpose()?,
        money: money.transpose()?,
    })
}

fn parse_cap_money(name: &str, given: &Value) -> Result<Money, String> {
    parse_money(given).map_err(|why| format!("{name}: money: {why}"))
}

fn cap_names() -> Vec<String> {
    let both = [Payer::Tenant, Payer::User].into_iter();
    let both = both.flat_map(|of| Period::VARIANTS.iter().map(move |&period| (of, period)));
    both.map(|(of, period)| match of {
        Payer::Tenant => period.as_str().to_owned(),
        Payer::User => format!("{USER}{}", period.as_str()),
    })
    .collect()
}

/// Parses a number, or text, which keeps decimals exact.
fn parse_money(given: &Value) -> Result<Money, String> {
    let text = match given {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    text.parse::<Money>().map_err(|wrong| wrong.to_string())
}

pub(super) fn table<'a>(name: &str, given: &'a Value) -> Result<&'a Map<String, Value>, String> {
    let table = given.as_object();
    table.ok_or_else(|| format!("{name}: not a table"))
}

pub(super) fn check_keys(
    name: &str,
    table: &Map<String, Value>,
    names: &[&str],
) -> Result<(), String> {
    match table.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => Err(format!("{name}: no {key} here, only {}", names.join(", "))),
        None => Ok(()),
    }
}

fn amount_schema() -> Value {
    json!({"anyOf": [
        {"type": "number", "minimum": 0},
        {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]{0,6})?\s*$"},
    ]})
}

/// A JSON Schema of `prices`.
pub(super) fn prices_schema() -> Value {
    json!({
        "type": "object",
        "maxProperties": MOST_PRICES,
        "additionalProperties": {
            "type": "object",
            "properties": {"input": amount_schema(), "cached": amount_schema(), "output": amount_schema()},
            "required": ["input", "output"],
            "additionalProperties": false,
        },
    })
}

/// A JSON Schema of `caps`.
pub(super) fn caps_schema() -> Value {
    let cap = json!({
        "type": "object",
        "properties": {"tokens": {"type": "integer", "minimum": 0}, "money": amount_schema()},
        "additionalProperties": false,
    });
    let caps = cap_names().into_iter().map(|name| (name, cap.clone()));
    json!({
        "type": "object",
        "properties": caps.collect::<Map<String, Value>>(),
        "additionalProperties": false,
    })
}
