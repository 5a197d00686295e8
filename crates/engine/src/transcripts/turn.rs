//! Identifies repeated messages where the host gives events no ids.
//!
//! A person writes "yes" many times, and each is an event. Its identity is the turn that it is in and
//! how often the same text came before in that turn: this is the same in every copy of the conversation,
//! and needs little memory.
//!
//! Not here: what begins a turn.

use std::collections::BTreeMap;

use daybook_domain::EventId;
use serde::{Deserialize, Serialize};

/// Most texts of one turn whose repetitions are counted.
const TEXTS: usize = 256;

/// The present turn.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Turn {
    /// Human messages so far.
    number: u64,
    /// How often each text came in this turn, by fingerprint.
    #[serde(rename = "said")]
    occurrences: BTreeMap<String, u32>,
}

impl Turn {
    /// Begins a turn, with a person's message.
    pub(crate) fn begin(&mut self) {
        self.number += 1;
        self.occurrences.clear();
    }

    /// The identity of the next event of `session`. `parts` are its origin and its text.
    pub(crate) fn identify(&mut self, session: &[&str], parts: &[&str]) -> EventId {
        let mut all: Vec<&[u8]> = session.iter().map(|part| part.as_bytes()).collect();
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        let (turn, times) = (self.number.to_string(), self.times(&parts).to_string());
        all.extend([b"turn", turn.as_bytes()]);
        all.extend(parts);
        all.push(times.as_bytes());
        EventId::of(&all)
    }

    /// How often the same text came before in this turn.
    fn times(&mut self, parts: &[&[u8]]) -> u32 {
        let text = format!("{:016x}", EventId::of(parts).0 as u64);
        if self.occurrences.len() >= TEXTS && !self.occurrences.contains_key(&text) {
            return 0;
        }
        let times = self.occurrences.entry(text).or_default();
        *times += 1;
        *times - 1
    }
}
