//! Checks requests before a store writes anything.
//!
//! Not here: how long a text may be kept and what is cut from it; ingest decides that.

use daybook_domain::limits::{
    APPEND_BYTES, APPEND_EVENTS, EVENT_TEXT, RETRACTED_AT_ONCE, THREAD_ENTRY, USES_AT_ONCE,
};
use daybook_domain::seams::Append;
use daybook_domain::source::TranscriptSource;
use daybook_domain::spend::{Cap, Charge};
use daybook_domain::working::ThreadAppend;
use daybook_domain::{
    Extraction, JobKey, LeaseToken, Observation, StoreError, Tenant, Use, UsedBy, Yield,
};

/// Most bytes of an event's text that a found document shows.
pub(crate) const DOCUMENT_TEXT: usize = 4 * 1024;
/// Most sessions that a search by name answers with.
pub(crate) const FOUND_SESSIONS: usize = 10;
/// Most rows that one transaction of a long operation touches.
pub(crate) const STEP_ROWS: usize = 128;

/// Most jobs that one transaction of a long operation begins anew.
pub(crate) const STEP_JOBS: usize = 32;

/// Refuses an append that would hold the store for too long, or that names another tenant.
pub(crate) fn check_append(append: &Append) -> Result<(), StoreError> {
    if let Some(source) = &append.source {
        check_source(&append.session.id.tenant, source)?;
    }
    let events = &append.events;
    if events.len() > APPEND_EVENTS {
        return Err(StoreError::Refused(format!(
            "{} events in one append, at most {APPEND_EVENTS}",
            events.len()
        )));
    }
    if append.remotes.len() > APPEND_EVENTS {
        return Err(StoreError::Refused(format!(
            "{} remotes in one append, at most {APPEND_EVENTS}",
            append.remotes.len()
        )));
    }
    if let Some(long) = events.iter().find(|event| event.text.len() > EVENT_TEXT) {
        return Err(StoreError::Refused(format!(
            "an event of {} bytes, at most {EVENT_TEXT}",
            long.text.len()
        )));
    }
    let bytes: usize = events.iter().map(|event| event.text.len()).sum();
    if events.len() > 1 && bytes > APPEND_BYTES {
        return Err(StoreError::Refused(format!(
            "{bytes} bytes in one append, at most {APPEND_BYTES}"
        )));
    }
    let retracted: usize = events.iter().map(|event| event.retracts.len()).sum();
    if retracted > RETRACTED_AT_ONCE {
        return Err(StoreError::Refused(format!(
            "{retracted} retracted events in one append, at most {RETRACTED_AT_ONCE}"
        )));
    }
    Ok(())
}

/// Refuses entries that are not exactly one for each event, and entries that are too long.
pub(crate) fn check_entries(append: &ThreadAppend) -> Result<(), StoreError> {
    check_append(&append.append)?;
    let (entries, events) = (append.entries.len(), append.append.events.len());
    if entries != events {
        let what = format!("{entries} entries for {events} events");
        return Err(StoreError::Refused(what));
    }
    match append
        .entries
        .iter()
        .find(|entry| entry.len() > THREAD_ENTRY)
    {
        Some(long) => Err(StoreError::Refused(format!(
            "an entry of {} bytes, at most {THREAD_ENTRY}",
            long.len()
        ))),
        None => Ok(()),
    }
}

/// Refuses a file of one tenant with a session of another.
pub(crate) fn check_source(tenant: &Tenant, source: &TranscriptSource) -> Result<(), StoreError> {
    let sessions = source.session.iter();
    let what = format!("file {}", source.path);
    check_tenants(&what, tenant, sessions.map(|session| &session.tenant))
}

/// Refuses observations without evidence, and those whose evidence belongs to another tenant.
pub(crate) fn check_observations(observations: &[Observation]) -> Result<(), StoreError> {
    for observation in observations {
        let what = format!("observation {}", observation.id);
        if observation.evidence.is_empty() {
            return Err(StoreError::Refused(format!("{what} has no evidence")));
        }
        let evidence = observation.evidence.iter().map(|e| &e.session.tenant);
        check_tenants(&what, &observation.scope.tenant, evidence)?;
    }
    Ok(())
}

/// Refuses uses that would hold the store for too long, or that name another tenant.
pub(crate) fn check_uses(tenant: &Tenant, uses: &[Use]) -> Result<(), StoreError> {
    if uses.len() > USES_AT_ONCE {
        let what = format!("{} uses at once, at most {USES_AT_ONCE}", uses.len());
        return Err(StoreError::Refused(what));
    }
    let named = uses.iter().flat_map(|one| {
        let by = match &one.by {
            UsedBy::Session { session, .. } => Some(&session.tenant),
            UsedBy::Interface(_) => None,
        };
        by.into_iter().chain([&one.session.tenant])
    });
    check_tenants("a use", tenant, named)
}

/// Refuses a charge without money under a cap on money, and one that names another tenant.
pub(crate) fn check_charge(charge: &Charge, caps: &[Cap]) -> Result<(), StoreError> {
    let session = charge.session.iter().map(|session| &session.tenant);
    let scope = charge.scope.iter().map(|scope| &scope.tenant);
    check_tenants("a charge", &charge.tenant, session.chain(scope))?;
    if charge.money.is_none() && caps.iter().any(|cap| cap.money.is_some()) {
        let model = &charge.model;
        let what = format!("a charge for {model} without money, under a cap on money");
        return Err(StoreError::Refused(what));
    }
    Ok(())
}

/// Refuses a request in which something belongs to another tenant.
fn check_tenants<'a>(
    what: &str,
    tenant: &Tenant,
    mut named: impl Iterator<Item = &'a Tenant>,
) -> Result<(), StoreError> {
    match named.find(|other| *other != tenant) {
        Some(other) => Err(StoreError::Refused(format!(
            "{what} of tenant {} that names something of tenant {}",
            tenant.0, other.0
        ))),
        None => Ok(()),
    }
}

/// Refuses an extraction that can never be stored, before the job changes.
pub(crate) fn check_extraction(
    lease: &LeaseToken,
    extraction: &Extraction,
) -> Result<(), StoreError> {
    if lease.job() != &JobKey::Extract(extraction.session.clone()) {
        let what = format!("a lease of {} for {}", lease.job(), extraction.session);
        return Err(StoreError::Refused(what));
    }
    if extraction.to < extraction.from {
        return Err(StoreError::Refused(format!(
            "a window of {} that ends at {} before it begins at {}",
            extraction.session, extraction.to.0, extraction.from.0
        )));
    }
    let tenant = &extraction.session.tenant;
    let concerns = extraction.concerns.iter().map(|scope| &scope.tenant);
    check_tenants("an extraction", tenant, concerns)?;
    let Yield::Something { observations, .. } = &extraction.yielded else {
        return Ok(());
    };
    check_observations(observations)?;
    let mut evidence = observations.iter().flat_map(|o| &o.evidence);
    match evidence.find(|evidence| evidence.session != extraction.session) {
        Some(other) => Err(StoreError::Refused(format!(
            "evidence from {} in an extraction of {}",
            other.session, extraction.session
        ))),
        None => Ok(()),
    }
}

/// The first `most` bytes of `text`, less what would split a character.
pub(crate) fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
