//! The last step of every event before the log, whichever way it came.
//!
//! Not here: the event's origin and source; the metadata of its session (`names`).

use std::borrow::Cow;

use daybook_domain::NewEvent;

use super::cut::event_text;
use super::indexed::indexed_tokens;
use super::names::{redact_id, redact_name, redact_place};
use super::raw::RawEvent;
use super::redact::{RedactionFinding, Redactor};

/// The event for the log: without secrets, no longer than an event may be, cut into tokens. Returns
/// the secrets that were hidden in its text too.
///
/// All strings of it are redacted: also the names of its tool, call, folder and branch.
#[must_use]
pub fn prepare_event(redactor: &Redactor, mut raw: RawEvent) -> (NewEvent, Vec<RedactionFinding>) {
    let said = std::mem::take(&mut raw.text);
    let redacted = redactor.redact(&said);
    // Redacts before it cuts: no rule recognises half of a secret.
    let text = event_text(Cow::Borrowed(&redacted.text));
    let tokens = indexed_tokens(raw.origin, &text);
    (
        redact_names(redactor, raw).with(text, tokens),
        redacted.findings,
    )
}

/// The event with its names redacted. Its text stays.
#[must_use]
fn redact_names(redactor: &Redactor, raw: RawEvent) -> RawEvent {
    RawEvent {
        tool: raw.tool.map(|it| redact_name(redactor, &it).into_owned()),
        call: raw.call.map(|it| redact_id(redactor, &it).into_owned()),
        place: raw.place.map(|place| redact_place(redactor, place)),
        ..raw
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::{EventId, Origin, Place, Timestamp};

    use super::*;
    use crate::raw::Via;

    #[test]
    fn no_field_of_an_event_keeps_a_secret() {
        let redactor = Redactor::standard();
        let secret = |nth: u8| format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3));
        let raw = RawEvent {
            id: EventId(1),
            line: 1,
            origin: Origin::ToolCall,
            at: Timestamp::ZERO,
            text: format!("run {}", secret(1)),
            tool: Some(secret(2)),
            call: Some(secret(3)),
            status: None,
            sidechain: false,
            reports_external: false,
            place: Some(Place {
                root: format!("/srv/{}", secret(4)),
                branch: Some(secret(5)),
            }),
            via: Via::Message,
            mentions: Vec::new(),
            retracts: Vec::new(),
        };
        let (event, findings) = prepare_event(&redactor, raw.clone());
        let shown = format!("{event:?}");
        for nth in 1..6 {
            assert!(!shown.contains(&secret(nth)), "{nth} is in {shown}");
        }
        assert_eq!(findings.len(), 1);
        let once = redact_names(&redactor, raw);
        assert_eq!(redact_names(&redactor, once.clone()), once);
    }
}
