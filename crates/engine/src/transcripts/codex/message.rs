//! Separates a person's words from what Codex writes in their place.
//!
//! The host writes messages of role `user` too: environment, instructions, notifications, each in an
//! element of its own or after a heading. The rest is the person's; in a sub-agent's session it is the
//! calling agent's.
//!
//! Not here: calls and their outputs.

use std::borrow::Cow;

use daybook_domain::Origin;

use super::item::{Item, part_texts};
use super::{CodexContent, CodexReader, IdentityBasis};
use crate::transcripts::item::TranscriptItem;
use crate::transcripts::wrappers;

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

/// The heading before a project's instructions.
const AGENTS: &str = "# AGENTS.md instructions";
/// How an editor's addition begins, and the heading before the person's words in it.
const EDITOR: (&str, &str) = ("# Context from my IDE setup", "## My request for Codex:");
/// How the summary begins that replaces a compacted conversation.
const COMPACTED: &str = "Another language model started to solve this problem";

impl CodexReader<'_> {
    pub(super) fn message(&mut self, number: u32, item: &Item<'_>, out: &mut Vec<TranscriptItem>) {
        let part_texts = part_texts(&item.content);
        match &*item.role {
            "user" => self.user(number, item, &part_texts, out),
            "assistant" => {
                let content = CodexContent::plain(Origin::Assistant, part_texts.join("\n"));
                self.push_event(number, &keyed(item, content), out);
            }
            _ => {
                let content = CodexContent::plain(Origin::Harness, part_texts.join("\n\n"));
                self.push_event(number, &keyed(item, content), out);
            }
        }
    }

    /// Reads a message of one agent to another.
    pub(super) fn agent_message(
        &mut self,
        number: u32,
        item: &Item<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let content = CodexContent {
            sidechain: true,
            ..CodexContent::plain(Origin::Assistant, part_texts(&item.content).join("\n"))
        };
        self.push_event(number, &keyed(item, content), out);
    }

    fn user(
        &mut self,
        number: u32,
        item: &Item<'_>,
        part_texts: &[Cow<'_, str>],
        out: &mut Vec<TranscriptItem>,
    ) {
        let mut harness: Vec<Cow<'_, str>> = Vec::new();
        let mut words: Vec<String> = Vec::new();
        for piece in part_texts {
            let (by_host, content) = split_by_author(piece);
            harness.extend(by_host);
            if !content.is_empty() {
                words.push(content);
            }
        }
        if !harness.is_empty() {
            let content = CodexContent {
                part: "harness",
                ..CodexContent::plain(Origin::Harness, harness.join("\n\n"))
            };
            self.push_event(number, &keyed(item, content), out);
        }
        let words = words.join("\n");
        let origin = match self.is_sub_agent() {
            _ if words.starts_with(COMPACTED) => Origin::Synthetic,
            true => Origin::Assistant,
            false => Origin::Human,
        };
        if !words.is_empty() {
            self.begin_turn();
            self.push_event(
                number,
                &keyed(item, CodexContent::plain(origin, words)),
                out,
            );
        }
    }
}

/// The same content, identified by the item's own id if it has one.
fn keyed<'t>(item: &'t Item<'_>, content: CodexContent<'t>) -> CodexContent<'t> {
    match item.id.get() {
        Some(id) => CodexContent {
            key: IdentityBasis::Item(id),
            ..content
        },
        None => content,
    }
}

/// Splits a part of a `user` message: whether the host wrote any of it, and the person's words.
fn split_by_author(piece: &str) -> (Option<Cow<'_, str>>, String) {
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
    (by_host, unwrapped.rest.into_owned())
}

/// Whether a part only marks where an image begins or ends.
fn is_image_mark(text: &str) -> bool {
    text == "</image>" || text.starts_with("<image") && text.find('>') == Some(text.len() - 1)
}

/// Where a project's instructions end.
fn end_of_instructions(text: &str) -> usize {
    const END: &str = "</INSTRUCTIONS>";
    text.rfind(END)
        .map_or(text.len(), |found| found + END.len())
}
