//! Telling repeated words apart where the host names no event.
//!
//! A person says "yes" many times, and each is an event. What identifies it is the turn that it
//! was said in and how often it was said there before: that stays the same in every copy of the
//! conversation, and needs little memory.
//!
//! Not here: what begins a turn.

use std::collections::BTreeMap;

use daybook_domain::EventId;
use serde::{Deserialize, Serialize};

/// Texts of one turn whose repetitions are counted.
const TEXTS: usize = 256;

/// The present turn.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Turn {
    /// Human messages so far.
    number: u64,
    /// How often each text was said in this turn, by fingerprint.
    said: BTreeMap<String, u32>,
}

impl Turn {
    /// A person speaks.
    pub(crate) fn begin(&mut self) {
        self.number += 1;
        self.said.clear();
    }

    /// The identity of what is said now by `session`. `parts` say who speaks, and what.
    pub(crate) fn identify(&mut self, session: &[&str], parts: &[&str]) -> EventId {
        let mut all: Vec<&[u8]> = session.iter().map(|part| part.as_bytes()).collect();
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        let (turn, times) = (self.number.to_string(), self.times(&parts).to_string());
        all.extend([b"turn", turn.as_bytes()]);
        all.extend(parts);
        all.push(times.as_bytes());
        EventId::of(&all)
    }

    /// How often it was said before in this turn.
    fn times(&mut self, parts: &[&[u8]]) -> u32 {
        let text = format!("{:016x}", EventId::of(parts).0 as u64);
        if self.said.len() >= TEXTS && !self.said.contains_key(&text) {
            return 0;
        }
        let times = self.said.entry(text).or_default();
        *times += 1;
        *times - 1
    }
}
