//! Telling a person's words from what Codex writes in their place.
//!
//! The host speaks in messages of role `user`, too: surroundings, instructions, notifications, each
//! in an element of its own or behind a heading. What is left is the person's; in a sub-agent's
//! session it is the calling agent's.
//!
//! Not here: calls and their outputs.

use std::borrow::Cow;

use daybook_domain::Origin;

use super::item::{Item, pieces};
use super::{CodexReader, Key, Said};
use crate::ingest::parsed::Parsed;
use crate::ingest::wrappers;

/// Elements that the host writes in a person's place.
const ELEMENTS: &[&str] = &[
    "environment_context",
    "user_instructions",
    "INSTRUCTIONS",
    "permissions instructions",
    "collaboration_mode",
    "personality_spec",
    "model_switch",
    "apps_instructions",
    "skills_instructions",
    "plugins_instructions",
    "skill",
    "subagent_notification",
    "turn_aborted",
    "user_action",
    "user_shell_command",
    "realtime_conversation",
    "hook_prompt",
    "hook_context",
    "goal_context",
    "system-reminder",
];

/// What stands before a project's instructions.
const AGENTS: &str = "# AGENTS.md instructions";
/// How what an editor adds begins, and what stands before the person's words then.
const EDITOR: (&str, &str) = ("# Context from my IDE setup", "## My request for Codex:");
/// How the summary begins that stands in for a conversation that was compacted.
const COMPACTED: &str = "Another language model started to solve this problem";

impl CodexReader<'_> {
    pub(super) fn message(&mut self, number: u32, item: &Item<'_>, out: &mut Vec<Parsed>) {
        let pieces = pieces(&item.content);
        match &*item.role {
            "user" => self.user(number, item, &pieces, out),
            "assistant" => {
                let said = Said::plain(Origin::Assistant, pieces.join("\n"));
                self.say(number, &keyed(item, said), out);
            }
            _ => {
                let said = Said::plain(Origin::Harness, pieces.join("\n\n"));
                self.say(number, &keyed(item, said), out);
            }
        }
    }

    /// What an agent said to another.
    pub(super) fn agent_message(&mut self, number: u32, item: &Item<'_>, out: &mut Vec<Parsed>) {
        let said = Said {
            sidechain: true,
            ..Said::plain(Origin::Assistant, pieces(&item.content).join("\n"))
        };
        self.say(number, &keyed(item, said), out);
    }

    fn user(
        &mut self,
        number: u32,
        item: &Item<'_>,
        pieces: &[Cow<'_, str>],
        out: &mut Vec<Parsed>,
    ) {
        let mut harness: Vec<Cow<'_, str>> = Vec::new();
        let mut words: Vec<String> = Vec::new();
        for piece in pieces {
            let (by_host, said) = sorted(piece);
            harness.extend(by_host);
            if !said.is_empty() {
                words.push(said);
            }
        }
        if !harness.is_empty() {
            let said = Said {
                part: "harness",
                ..Said::plain(Origin::Harness, harness.join("\n\n"))
            };
            self.say(number, &keyed(item, said), out);
        }
        let words = words.join("\n");
        let origin = match self.is_sub_agent() {
            _ if words.starts_with(COMPACTED) => Origin::Synthetic,
            true => Origin::Assistant,
            false => Origin::Human,
        };
        if !words.is_empty() {
            self.begin_turn();
            self.say(number, &keyed(item, Said::plain(origin, words)), out);
        }
    }
}

/// What rests on the item's own id, if it has one.
fn keyed<'t>(item: &'t Item<'_>, said: Said<'t>) -> Said<'t> {
    match item.id.get() {
        Some(id) => Said {
            key: Key::Item(id),
            ..said
        },
        None => said,
    }
}

/// A piece of a `user` message: the host's part, and the person's words.
fn sorted(piece: &str) -> (Option<Cow<'_, str>>, String) {
    let text = piece.trim();
    if is_image_mark(text) {
        return (None, String::new());
    }
    if text.starts_with(EDITOR.0) {
        return match text.split_once(EDITOR.1) {
            Some((editor, words)) => (Some(Cow::Borrowed(editor.trim())), words.trim().to_owned()),
            None => (Some(Cow::Borrowed(text)), String::new()),
        };
    }
    let (instructions, rest) = match text.starts_with(AGENTS) {
        true => text.split_at(end_of_instructions(text)),
        false => ("", text),
    };
    let unwrapped = wrappers::unwrap(rest, ELEMENTS);
    let insides = unwrapped.elements.iter().map(|(_, inside)| inside.trim());
    let by_host: Vec<&str> = std::iter::once(instructions)
        .chain(insides)
        .filter(|part| !part.is_empty())
        .collect();
    let by_host = (!by_host.is_empty()).then(|| Cow::Owned(by_host.join("\n\n")));
    (by_host, unwrapped.said.into_owned())
}

/// Whether a piece only marks where an image begins or ends.
fn is_image_mark(text: &str) -> bool {
    text == "</image>" || text.starts_with("<image") && text.find('>') == Some(text.len() - 1)
}

/// Where a project's instructions end.
fn end_of_instructions(text: &str) -> usize {
    const END: &str = "</INSTRUCTIONS>";
    text.rfind(END)
        .map_or(text.len(), |found| found + END.len())
}
