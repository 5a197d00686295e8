//! Parses and checks arguments of tools.

use anyhow::{Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Most lines around a citation.
pub(super) const AROUND: u32 = 50;

pub(super) fn parse_arguments<T: DeserializeOwned>(mut arguments: Map<String, Value>) -> Result<T> {
    // Models write null for what they leave out.
    arguments.retain(|_, value| !value.is_null());
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| anyhow!("these arguments do not fit: {error}"))
}

/// Parses a count; some clients write `8.0`.
pub(super) fn count<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    let number = f64::deserialize(input)?;
    if number.fract() != 0.0 || !(0.0..=9e15).contains(&number) {
        return Err(serde::de::Error::custom(format!("{number} is not a count")));
    }
    Ok(Some(number as u64))
}

pub(super) fn within(what: &str, number: u64, least: u64, most: u64) -> Result<usize> {
    if !(least..=most).contains(&number) {
        bail!("{what} is {number}; give {least} to {most}");
    }
    Ok(usize::try_from(number)?)
}
