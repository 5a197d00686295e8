//! Separates a person's words from what Gemini CLI, and Qwen Code after it, write in their place.
//!
//! A message of type `user` may also hold the session's context, a hook's text, what an editor shows, the content of
//! files that the person named with `@`, a shell command's output, or a summary of what came before.

use std::borrow::Cow;

use daybook_domain::Origin;

use crate::transcripts::genai::{self, Part};
use crate::transcripts::item::Via;
use crate::transcripts::item_writer::{EventContent, EventKey, ItemWriter};
use crate::transcripts::wrappers;
use daybook_text::lenient::Content;

/// Elements that the host writes into a person's message.
const ELEMENTS: &[&str] = &[
    "session_context",
    "hook_context",
    "system_note",
    "system-reminder",
    "qwen:user-prompt-submit-context",
];
/// Beginnings of parts that are the host's as a whole.
const BY_HOST: &[&str] = &[
    "This is the Gemini CLI. We are setting up the context for our chat",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
    "I ran the following shell command:",
    "Background execution update:",
    "System: Potential loop detected",
    "System: Please continue",
];
/// What the host sends when an answer broke off.
const GO_ON: &str = "Please continue.";
/// Where the content of named files begins and ends.
const FILES: [&str; 2] = [
    "--- Content from referenced files ---",
    "--- Content from referenced context ---",
];
const BEHIND_FILES: &str = "--- End of content ---";
/// How the host hands on what a person typed while the agent worked.
const STEERING: [&str; 2] = ["User steering update:", "User hints:"];
/// The element of a summary that replaces earlier messages.
const SUMMARY: &str = "<state_snapshot>";

/// The parts of one message, by author.
#[derive(Default)]
struct Authors<'t> {
    words: Vec<Cow<'t, str>>,
    typed_meanwhile: Vec<&'t str>,
    by_host: Vec<&'t str>,
    summary: Vec<&'t str>,
}

/// Reads a message in a person's place.
pub(in crate::transcripts) fn read(
    key: EventKey<'_>,
    content: &Content<'_, Part<'_>>,
    shown: &Content<'_, Part<'_>>,
    out: &mut ItemWriter<'_>,
) {
    let texts = genai::texts(content);
    let mut authors = Authors::default();
    let typed = genai::texts(shown).join("");
    let mut in_files = false;
    match typed.is_empty() {
        true => texts
            .iter()
            .for_each(|text| authors.add(text, &mut in_files)),
        // What the host made of the typed words is its own: a command's prompt, the content of files.
        false => {
            authors.add(&typed, &mut in_files);
            let others = texts.iter().map(|text| &**text);
            authors.by_host.extend(others.filter(|text| *text != typed));
        }
    }
    let plain = |origin, text: String| EventContent::plain(key, origin, text);
    out.push(plain(Origin::Harness, authors.by_host.join("\n")).part("harness"));
    out.push(plain(Origin::Synthetic, authors.summary.join("\n")).part("summary"));
    out.push(EventContent {
        via: Via::Queue,
        part: "meanwhile",
        ..plain(Origin::Human, authors.typed_meanwhile.join("\n"))
    });
    out.push(plain(Origin::Human, authors.words.join("\n")));
}

impl<'t> Authors<'t> {
    /// Adds a part of the message, parting the content of files from the rest.
    fn add(&mut self, text: &'t str, in_files: &mut bool) {
        let mut rest = text;
        while !rest.is_empty() {
            let border = match *in_files {
                true => rest.find(BEHIND_FILES).map(|at| at + BEHIND_FILES.len()),
                false => FILES.iter().filter_map(|sign| rest.find(sign)).min(),
            };
            let (part, behind) = rest.split_at(border.unwrap_or(rest.len()));
            match *in_files {
                true => self.add_by_host(part),
                false => self.add_outside_files(part),
            }
            *in_files ^= border.is_some();
            rest = behind;
        }
    }

    fn add_by_host(&mut self, part: &'t str) {
        let part = part.trim();
        if !part.is_empty() {
            self.by_host.push(part);
        }
    }

    fn add_outside_files(&mut self, part: &'t str) {
        let part = part.trim();
        if let Some(hints) = STEERING.iter().find_map(|sign| part.strip_prefix(sign)) {
            return self.typed_meanwhile.extend(typed_in(hints));
        }
        if part.starts_with(SUMMARY) {
            return self.summary.push(part);
        }
        let by_host = BY_HOST.iter().any(|beginning| part.starts_with(beginning));
        if by_host || part == GO_ON || is_bare_command(part) {
            return self.add_by_host(part);
        }
        let unwrapped = wrappers::unwrap(part, ELEMENTS);
        for (_, inside) in &unwrapped.elements {
            self.add_by_host(inside);
        }
        if !unwrapped.rest.is_empty() {
            self.words.push(unwrapped.rest);
        }
    }
}

/// The lines that a person typed, within the host's element around them.
fn typed_in(hints: &str) -> impl Iterator<Item = &str> {
    let inside = hints
        .split_once("<user_input>")
        .map_or("", |(_, inside)| inside);
    let inside = inside
        .rsplit_once("</user_input>")
        .map_or("", |(inside, _)| inside);
    let lines = inside
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.map(|line| line.strip_prefix("- ").unwrap_or(line))
}

/// A command of the interface without any words behind it, such as `/compress` or `?`.
pub(in crate::transcripts) fn is_bare_command(text: &str) -> bool {
    text == "?"
        || text.strip_prefix('/').is_some_and(|name| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
            !name.is_empty() && name.chars().all(is_plain)
        })
}
