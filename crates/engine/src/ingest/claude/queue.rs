//! What a person types while the agent works, counted once.
//!
//! Such words are queued. Either they are delivered while the agent works (`remove`, often with an
//! attachment that repeats them), or they become the next message (`dequeue`, then a `user` line),
//! or the person takes them back into the editor (`popAll`). They are kept at the line where they
//! were typed; what repeats them is passed over, and what took them back retracts them: should they
//! return, they are said then.
//!
//! Not here: what a queued text consists of.

use std::collections::VecDeque;

use daybook_domain::{EventId, Origin};
use serde::{Deserialize, Serialize};

use super::line::{Attachment, plain};
use super::person::{harness, is_by_host, unwrapped};
use super::{AGENT, ClaudeReader, Here, Said};
use crate::ingest::json;
use crate::ingest::parsed::{Parsed, Via};

/// Texts whose fate is followed at once.
const FOLLOWED: usize = 64;

/// Words that may come up again.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Queue {
    /// How many texts have been queued in this file.
    queued: u64,
    /// Waiting, oldest first.
    waiting: VecDeque<Waiting>,
    /// Delivered while the agent worked: an attachment may repeat them.
    delivered: VecDeque<String>,
}

/// A text in the queue.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    /// Fingerprint of the text.
    text: String,
    /// Its event, in hexadecimal digits; empty for what is not kept.
    event: String,
    /// It has left the queue to become a `user` line.
    leaving: bool,
}

impl Queue {
    fn add(&mut self, text: &str, event: Option<EventId>) {
        if self.waiting.len() >= FOLLOWED {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting {
            text: fingerprint(text),
            event: event.map(json::hex).unwrap_or_default(),
            leaving: false,
        });
    }

    /// The place of a text, or of the oldest one if no text is named.
    fn find(&self, text: Option<&str>) -> Option<usize> {
        match text {
            Some(text) => {
                let text = fingerprint(text);
                self.waiting.iter().position(|waiting| waiting.text == text)
            }
            None => self.waiting.iter().position(|waiting| !waiting.leaving),
        }
    }

    /// The oldest text leaves the queue.
    fn dequeued(&mut self) {
        if let Some(next) = self.waiting.iter_mut().find(|waiting| !waiting.leaving) {
            next.leaving = true;
        }
    }

    /// A text was delivered while the agent worked.
    fn removed(&mut self, text: Option<&str>) {
        if let Some(waiting) = self.find(text).and_then(|at| self.waiting.remove(at)) {
            if self.delivered.len() >= FOLLOWED {
                self.delivered.pop_front();
            }
            self.delivered.push_back(waiting.text);
        }
    }

    /// A text was taken back, or all of them; says which events that retracts.
    fn popped(&mut self, text: Option<&str>) -> Vec<String> {
        let popped: Vec<Waiting> = match text.and_then(|text| self.find(Some(text))) {
            Some(at) => self.waiting.remove(at).into_iter().collect(),
            None => self.waiting.drain(..).collect(),
        };
        popped
            .into_iter()
            .map(|waiting| waiting.event)
            .filter(|event| !event.is_empty())
            .collect()
    }

    /// Whether a `user` line repeats what was queued: one text, or several joined by line ends.
    pub(super) fn came_back(&mut self, text: &str) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        if let Some(at) = self.find(Some(text)) {
            self.waiting.remove(at);
            return true;
        }
        let parts: Vec<String> = text.split('\n').map(fingerprint).collect();
        let waiting: Vec<&str> = self.waiting.iter().map(|waiting| &*waiting.text).collect();
        let found = match parts.len() {
            1 => None,
            several => waiting.windows(several).position(|texts| texts == parts),
        };
        if let Some(at) = found {
            self.waiting.drain(at..at + parts.len());
        }
        found.is_some()
    }

    /// Whether an attachment repeats what was queued.
    fn attached(&mut self, text: &str) -> bool {
        let text_print = fingerprint(text);
        if let Some(at) = self
            .delivered
            .iter()
            .position(|delivered| *delivered == text_print)
        {
            self.delivered.remove(at);
            return true;
        }
        // The attachment may come before the `remove`, which then finds nothing else to remove.
        self.find(Some(text)).is_some()
    }
}

impl ClaudeReader<'_> {
    pub(super) fn queue_operation(&mut self, here: &Here<'_>, out: &mut Vec<Parsed>) {
        let content = plain(&here.line.content);
        let text = content.trim();
        let named = (!text.is_empty()).then_some(text);
        match &*here.line.operation {
            "enqueue" => self.enqueue(here, text, out),
            "dequeue" => self.state.queue.dequeued(),
            "remove" => self.state.queue.removed(named),
            "popAll" => {
                let events = self.state.queue.popped(named);
                self.say(
                    here,
                    &Said::plain(0, Origin::Retraction, events.join(" ")),
                    out,
                );
            }
            _ => {}
        }
    }

    fn enqueue(&mut self, here: &Here<'_>, text: &str, out: &mut Vec<Parsed>) {
        if text.is_empty() {
            return;
        }
        let unwrapped = unwrapped(text);
        let (origin, said) = match harness(&unwrapped) {
            _ if is_by_host(text) => (Origin::Harness, text.to_owned()),
            Some(harness) if unwrapped.said.is_empty() => (Origin::Harness, harness),
            Some(_) | None => (Origin::Human, unwrapped.said.into_owned()),
        };
        if origin == Origin::Harness {
            // Its `user` line will say the same, at greater length.
            return self.state.queue.add(text, None);
        }
        let event = self.queued_id(&said);
        let words = Said {
            via: Via::Queue,
            ..Said::plain(0, origin, said.as_str())
        };
        self.push(event, here, &words, out);
        self.state.queue.add(&said, Some(event));
    }

    /// The identity of the next queued text: the same in every copy of the session.
    fn queued_id(&mut self, text: &str) -> EventId {
        self.state.queue.queued += 1;
        let place = self.state.queue.queued.to_string();
        EventId::of(&[
            AGENT.as_bytes(),
            self.session().as_bytes(),
            b"queued",
            place.as_bytes(),
            text.as_bytes(),
        ])
    }

    /// An attachment that hands a queued text to the working agent.
    pub(super) fn queued_command(
        &mut self,
        here: &Here<'_>,
        attachment: &Attachment<'_>,
        out: &mut Vec<Parsed>,
    ) {
        let content = plain(&attachment.prompt);
        let text = content.trim();
        let by_person = attachment
            .origin
            .0
            .as_ref()
            .is_none_or(|origin| origin.is_person())
            && matches!(&*attachment.command_mode, "" | "prompt")
            && !attachment.is_meta.0;
        let unwrapped = unwrapped(text);
        if !by_person || is_by_host(text) || unwrapped.said.is_empty() {
            return self.say(here, &Said::plain(0, Origin::Harness, text), out);
        }
        if self.state.queue.attached(&unwrapped.said) {
            return;
        }
        let said = Said {
            via: Via::Queue,
            ..Said::plain(0, Origin::Human, &*unwrapped.said)
        };
        self.say(here, &said, out);
    }
}

fn fingerprint(text: &str) -> String {
    blake3::hash(text.trim().as_bytes()).to_hex()[..16].to_owned()
}
