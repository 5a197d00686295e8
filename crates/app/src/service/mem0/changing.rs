//! Changes and forgets memories as mem0's programs ask for it. Each change is a commit of the person's through an agent.

use anyhow::{Result, bail};
use daybook_engine::jobs::memories::Memory;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Mem0Memory;
use super::attributes::{Attributes, keep};
use super::reading::{Wanted, found, get, one};
use crate::service::RequestError;
use crate::service::memory_changes::{RequestedBy, edit_by_id, forget};
use crate::service::scope_choice::ScopeChoice;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// What becomes of a memory; what is not given stays.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Update {
    pub(crate) text: Option<String>,
    pub(crate) metadata: Option<Map<String, Value>>,
    /// `null` takes the last day away.
    #[serde(default, deserialize_with = "given")]
    pub(crate) expiration_date: Option<Option<String>>,
}

/// Tells a field that is `null` from one that is not there.
fn given<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(input).map(Some)
}

/// Checks a last day.
pub(super) fn check_day(day: Option<&str>) -> Result<()> {
    match day {
        Some(day) if day.parse::<jiff::civil::Date>().is_err() || day.len() != 10 => {
            bail!(RequestError::Invalid(
                "expiration_date is a day such as 2026-12-31".to_owned()
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// Changes a memory, and returns it as it is now.
pub(crate) async fn update(daybook: &Daybook, id: &str, new: Update) -> Result<Mem0Memory> {
    if new.text.is_none() && new.metadata.is_none() && new.expiration_date.is_none() {
        bail!(RequestError::Invalid(
            "nothing is to be changed; give text, metadata or expiration_date".to_owned()
        ));
    }
    check_day(new.expiration_date.as_ref().and_then(Option::as_deref))?;
    let (memory, shown) = one(daybook, id).await?;
    if let Some(text) = &new.text {
        let anywhere = ScopeChoice::default();
        edit_by_id(daybook, &anywhere, (&shown.id, text), RequestedBy::Agent).await?;
    }
    let mut kept = Attributes::load(daybook, &memory.scope)?.of(&memory);
    if let Some(metadata) = new.metadata {
        kept.metadata = metadata;
    }
    if let Some(day) = new.expiration_date {
        kept.expiration_date = day;
    }
    kept.updated_at = rfc3339(daybook.clock.now());
    keep(daybook, &memory.scope, &shown.id, Some(kept)).await?;
    get(daybook, &shown.id).await
}

/// Forgets a memory.
pub(crate) async fn delete(daybook: &Daybook, id: &str) -> Result<()> {
    let (memory, shown) = one(daybook, id).await?;
    forget_all(daybook, &[(memory, shown)]).await
}

/// Forgets all memories that are wanted, and returns how many there were.
pub(crate) async fn delete_all(daybook: &Daybook, wanted: &Wanted) -> Result<usize> {
    let found = found(daybook, wanted).await?;
    forget_all(daybook, &found).await?;
    Ok(found.len())
}

async fn forget_all(daybook: &Daybook, found: &[(Memory, Mem0Memory)]) -> Result<()> {
    let memories: Vec<Memory> = found.iter().map(|(memory, _)| memory.clone()).collect();
    forget(daybook, &memories, RequestedBy::Agent).await?;
    for (memory, shown) in found {
        keep(daybook, &memory.scope, &shown.id, None).await?;
    }
    Ok(())
}
