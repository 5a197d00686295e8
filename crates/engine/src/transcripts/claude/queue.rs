//! Follows what a person types while the agent works, so that it counts once.
//!
//! Such texts are queued. Either they are delivered while the agent works (`remove`, often with an
//! attachment that repeats them), or they become the next message (`dequeue`, then a `user` line),
//! or the person takes them back into the editor (`popAll`). They are kept at the line where they
//! were typed; their repetitions are skipped, and taking them back retracts them: if they return, they
//! become events again.
//!
//! Not here: what a queued text consists of.

use std::collections::VecDeque;

use daybook_domain::{EventId, Origin};
use serde::{Deserialize, Serialize};

use super::line::{Attachment, plain};
use super::person::{harness, is_by_host, unwrapped};
use super::{AGENT, ClaudeContent, ClaudeReader, LineContext};
use crate::transcripts::item::{TranscriptItem, Via};
use crate::transcripts::json;

/// Most texts that are followed at once.
const FOLLOWED: usize = 64;

/// Texts that may be repeated.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Queue {
    /// How many texts have been queued in this file.
    queued: u64,
    /// Waiting, oldest first.
    waiting: VecDeque<QueuedText>,
    /// Delivered while the agent worked: an attachment may repeat them.
    delivered: VecDeque<String>,
}

/// A text in the queue.
#[derive(Debug, Serialize, Deserialize)]
struct QueuedText {
    /// Fingerprint of the text.
    text: String,
    /// Its event; `None` for what is not kept.
    #[serde(with = "json::optional_hex")]
    event: Option<EventId>,
    /// It has left the queue to become a `user` line.
    leaving: bool,
}

impl Queue {
    fn add(&mut self, text: &str, event: Option<EventId>) {
        if self.waiting.len() >= FOLLOWED {
            self.waiting.pop_front();
        }
        self.waiting.push_back(QueuedText {
            text: fingerprint(text),
            event,
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

    /// Marks the oldest text as leaving the queue.
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

    /// Removes a text that was taken back, or all of them; returns the events that this retracts.
    fn popped(&mut self, text: Option<&str>) -> Vec<EventId> {
        let popped: Vec<QueuedText> = match text.and_then(|text| self.find(Some(text))) {
            Some(at) => self.waiting.remove(at).into_iter().collect(),
            None => self.waiting.drain(..).collect(),
        };
        popped
            .into_iter()
            .filter_map(|waiting| waiting.event)
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
    pub(super) fn queue_operation(
        &mut self,
        here: &LineContext<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let content = plain(&here.line.content);
        let text = content.trim();
        let named = (!text.is_empty()).then_some(text);
        match &*here.line.operation {
            "enqueue" => self.enqueue(here, text, out),
            "dequeue" => self.state.queue.dequeued(),
            "remove" => self.state.queue.removed(named),
            "popAll" => {
                let events = self.state.queue.popped(named);
                self.push_event(here, &ClaudeContent::retraction(&events), out);
            }
            _ => {}
        }
    }

    fn enqueue(&mut self, here: &LineContext<'_>, text: &str, out: &mut Vec<TranscriptItem>) {
        if text.is_empty() {
            return;
        }
        let unwrapped = unwrapped(text);
        let (origin, content) = match harness(&unwrapped) {
            _ if is_by_host(text) => (Origin::Harness, text.to_owned()),
            Some(harness) if unwrapped.rest.is_empty() => (Origin::Harness, harness),
            Some(_) | None => (Origin::Human, unwrapped.rest.into_owned()),
        };
        if origin == Origin::Harness {
            // Its `user` line repeats it, at greater length.
            return self.state.queue.add(text, None);
        }
        let event = self.queued_id(&content);
        let words = ClaudeContent {
            via: Via::Queue,
            ..ClaudeContent::plain(0, origin, content.as_str())
        };
        self.push_with_id(event, here, &words, out);
        self.state.queue.add(&content, Some(event));
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
        here: &LineContext<'_>,
        attachment: &Attachment<'_>,
        out: &mut Vec<TranscriptItem>,
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
        if !by_person || is_by_host(text) || unwrapped.rest.is_empty() {
            return self.push_event(here, &ClaudeContent::plain(0, Origin::Harness, text), out);
        }
        if self.state.queue.attached(&unwrapped.rest) {
            return;
        }
        let content = ClaudeContent {
            via: Via::Queue,
            ..ClaudeContent::plain(0, Origin::Human, &*unwrapped.rest)
        };
        self.push_event(here, &content, out);
    }
}

fn fingerprint(text: &str) -> String {
    blake3::hash(text.trim().as_bytes()).to_hex()[..16].to_owned()
}
