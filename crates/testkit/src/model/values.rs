//! Maps the small numbers in operations to values, the same ones for every tenant and every store.

use std::time::Duration;

use daybook_domain::index::{DocumentVectors, EmbeddingInput, FileEntry, Terms};
use daybook_domain::{
    ClaimedJob, Digest, EventId, Evidence, Extraction, JobKey, NewEvent, Observation,
    ObservationOrigin, Origin, Scope, SessionId, Tenant, Timestamp, Yield,
};

use strum::VariantArray;

use super::operations::ObservedItem;
use super::subjects;
use crate::fixtures::{event, evidence, extraction, observation, place, tokens};

/// A session of a tenant.
pub(crate) fn session(tenant: &Tenant, number: u8) -> SessionId {
    subjects::sessions_of(tenant)[usize::from(number)].clone()
}

/// A scope of a tenant.
pub(crate) fn scope(tenant: &Tenant, number: u8) -> Scope {
    subjects::scopes_of(tenant)[usize::from(number)].clone()
}

/// A job of a tenant.
pub(crate) fn key(tenant: &Tenant, number: u8) -> JobKey {
    match number {
        0..=2 => JobKey::Extract(session(tenant, number)),
        _ => JobKey::Consolidate(scope(tenant, number - 3)),
    }
}

/// A folder in which events happened.
pub(crate) fn root(number: u8) -> String {
    ["/home/ada/a", "/home/ada/b"][usize::from(number)].to_owned()
}

/// The name of a process that holds leases.
pub(crate) fn holder(number: u8) -> &'static str {
    ["worker one", "worker two"][usize::from(number)]
}

/// The version of the engine that gives ranges up.
pub(crate) fn engine(number: u8) -> &'static str {
    ["engine/1", "engine/2"][usize::from(number)]
}

/// Event number `n`. Its content depends on `n` alone, so that it can recur.
pub(crate) fn event_numbered(
    n: u8,
    in_file: bool,
    at: Option<Timestamp>,
    at_root: Option<u8>,
) -> NewEvent {
    let text = format!("t{} s{} e{n}", n % 3, n % 5);
    NewEvent {
        id: EventId::of(&[&[n]]),
        line: if in_file { u32::from(n) / 2 + 1 } else { 0 },
        origin: if n.is_multiple_of(2) {
            Origin::Human
        } else {
            Origin::Assistant
        },
        at: at.map_or(Timestamp::ZERO, |at| {
            at.plus(Duration::from_secs(u64::from(n)))
        }),
        place: at_root.map(|number| place(&root(number))),
        ..event(&text)
    }
}

/// The name of an embedding model.
pub(crate) fn model(number: u8) -> &'static str {
    ["ada/small@1", "ada/large@1"][usize::from(number)]
}

/// The signs of a text's vector.
pub(crate) fn signs(text: &str) -> [u64; 2] {
    let words = text.split(' ').map(|word| u64::from(Terms::of_token(word)));
    [words.fold(0, |signs, word| signs ^ word), !0]
}

/// Whether a text gets vectors in turn `number`.
pub(crate) fn is_embedded(text: &str, number: u8) -> bool {
    signs(text)[0] % 3 != u64::from(number)
}

/// Makes vectors for the waiting texts that get them in turn `number`.
pub(crate) fn vectors(waiting: Vec<EmbeddingInput>, number: u8) -> Vec<DocumentVectors> {
    let chosen = waiting
        .into_iter()
        .filter(|one| is_embedded(&one.text, number));
    let embedded = |one: EmbeddingInput| DocumentVectors {
        doc: one.doc,
        digest: one.digest(),
        vectors: vec![1, -1],
        signs: signs(&one.text).to_vec(),
        tokens: tokens(&one.text),
    };
    chosen.map(embedded).collect()
}

/// The result of a pass over a claimed window.
pub(crate) fn pass(
    claimed: &ClaimedJob,
    short_by: u8,
    found: &[ObservedItem],
    at_root: Option<u8>,
) -> Extraction {
    let JobKey::Extract(id) = claimed.token.job() else {
        unreachable!("only sessions are extracted");
    };
    let window = (
        claimed.after + 1,
        claimed.upto.saturating_sub(u64::from(short_by)),
    );
    let mut seen: Vec<Observation> = Vec::new();
    for found in found {
        let length = claimed.upto - claimed.after;
        let within = |n: u8| claimed.after + 1 + u64::from(n) % length;
        seen.push(observation_of(id, found, within));
    }
    let mut pass = extraction(id, window, seen);
    match (&mut pass.yielded, at_root) {
        (Yield::Something { observations, .. }, None) if observations.is_empty() => {
            pass.yielded = Yield::Nothing;
        }
        (Yield::Something { digest, .. }, at_root) => {
            **digest = Digest {
                root: at_root.map(root),
                ..Digest::default()
            };
        }
        (Yield::Nothing, _) => {}
    }
    pass
}

/// Makes an observation of the session's tenant. `within` maps a small number to an event's.
pub(crate) fn observation_of(
    id: &SessionId,
    found: &ObservedItem,
    within: impl Fn(u8) -> u64,
) -> Observation {
    let scope = scope(&id.tenant, found.scope);
    let mut events: Vec<u64> = found.events.iter().map(|&n| within(n)).collect();
    events.sort_unstable();
    events.dedup();
    let resting = Evidence {
        root: found.root.map(root),
        ..evidence(id, &events)
    };
    // Equal observations get different texts, so that it matters whose text is shown.
    let text = format!("Said {}{}", found.text_number, "!".repeat(events.len()));
    Observation {
        stated: events.len() != 1,
        origin: ObservationOrigin::VARIANTS[1 + events.len() % 5],
        quoted: events.len() != 1,
        ..observation(&scope, &text, vec![resting])
    }
}

/// An entry of a memory file.
pub(crate) fn entry((line, number): (usize, &u8)) -> FileEntry {
    let text = format!("t{} s{} e{number} said", number % 3, number % 5);
    FileEntry {
        line: u32::try_from(line).unwrap_or(u32::MAX) + 1,
        tokens: tokens(&text),
        text,
        heading: "Heading".to_owned(),
        observation: None,
        citation: None,
    }
}
