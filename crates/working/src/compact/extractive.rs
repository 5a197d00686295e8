//! The compactor without a model: lists messages and calls under Team9's headings.
//!
//! People's messages are kept word for word, and so are the agent's, calls with what came of them, and reports from the
//! environment, as far as there is room. Where room is short the account is shortened step by step (`account`), and what
//! a person forbade, demanded and decided goes last. Items of an earlier summary are kept, whichever compactor wrote it,
//! and come before the new ones.
//!
//! Not here: the rendering of calls (`daybook_text::calls`), how much room there is (`plan`).

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::BoxError;
use daybook_domain::working::{Chunk, ChunkContent, WorkingFlowSubType};
use daybook_text::wishes::{WishKind, wishes};
use serde_json::Value;

use super::account::{Item, Section, SummaryAccount};
use super::check::takes;
use super::context::{earlier, names};
use super::excerpt::{ends, line, text_without_memories, without_memories};
use super::{CompactionContext, CompactionResult, Compactor};
use daybook_text::calls;

/// Most characters of a person's message; of a longer one, its sentences that outlive it are kept beside its ends.
const MESSAGE: usize = 4_000;
/// Most characters of another message or report.
const WORDS: usize = 1_000;
/// Most characters of a call, and of the reason of a failure.
const CALL: usize = 120;
/// Most characters of a call's outcome.
const OUTCOME: usize = 120;
/// Most words of an answer that only its question explains.
const SHORT_ANSWER: usize = 4;
/// Most characters of that question.
const QUESTION: usize = 160;

/// Condenses chunks without a model. Its name is `extractive`.
///
/// ```
/// use daybook_working::compact::{Compactor, ExtractiveCompactor};
/// let compactor = ExtractiveCompactor { max_tokens: 1_000 };
/// assert_eq!(compactor.name(), "extractive");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ExtractiveCompactor {
    /// Tokens that an account may have where room is short. Where the window has room, it may have more
    /// ([`CompactionContext::room`]).
    pub max_tokens: u32,
}

impl Default for ExtractiveCompactor {
    fn default() -> Self {
        Self { max_tokens: 2_000 }
    }
}

#[async_trait]
impl Compactor for ExtractiveCompactor {
    fn name(&self) -> &str {
        "extractive"
    }

    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        takes(chunks)
    }

    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError> {
        if !takes(chunks) {
            return Err("the extractive compactor cannot compact these chunks".into());
        }
        let room = context.room.for_account(u64::from(self.max_tokens));
        let room = room.min(context.most_tokens);
        let text = account_of(chunks).render_within(room, |text| u64::from((context.count)(text)));
        Ok(CompactionResult {
            compacted_chunk: context.compacted(chunks, text),
            original_chunk_ids: names(chunks),
            by: self.name().to_owned(),
            faults: Vec::new(),
        })
    }
}

/// The account of chunks, which carries on those of earlier summaries among them.
pub(super) fn account_of(chunks: &[Arc<Chunk>]) -> SummaryAccount {
    let (summary, rest) = earlier(chunks);
    let mut account = SummaryAccount::of(&summary.unwrap_or_default());
    Summarizer::new(&rest).summarize(&rest, &mut account);
    account
}

/// Turns chunks into items, one after the other.
struct Summarizer<'a> {
    outcomes: HashMap<&'a str, &'a Chunk>,
    /// The agent's last message.
    state: Option<Item>,
    /// The end of that message, until a person answers it.
    asked: Option<String>,
}

impl<'a> Summarizer<'a> {
    fn new(chunks: &'a [Arc<Chunk>]) -> Self {
        let outcomes = chunks
            .iter()
            .filter(|chunk| chunk.is(WorkingFlowSubType::ActionResponse))
            .filter_map(|chunk| Some((chunk.call_id()?, &**chunk)));
        Self {
            outcomes: outcomes.collect(),
            state: None,
            asked: None,
        }
    }

    fn summarize(mut self, chunks: &[Arc<Chunk>], account: &mut SummaryAccount) {
        for chunk in chunks {
            self.add(chunk, account);
        }
        if let Some(state) = self.state {
            account.push(Section::State, state);
        }
    }

    fn add(&mut self, chunk: &Chunk, account: &mut SummaryAccount) {
        use WorkingFlowSubType as Part;
        match chunk.sub_type {
            Some(Part::User) => {
                let asked = self.asked.take();
                add_words(&person_words(chunk), asked.as_deref(), account);
            }
            Some(Part::Response) => {
                let words = without_memories(chunk);
                self.asked = Some(question(&words)).filter(|asked| !asked.is_empty());
                // Only the last message is the current state; those before it are completed.
                account.complete_state();
                if let Some(before) = self.state.replace(Item::agent(&line(&words, WORDS))) {
                    account.push(Section::Completed, before);
                }
            }
            Some(Part::AgentAction) => {
                let (section, item) = self.call(chunk);
                account.push(section, item);
            }
            // An outcome is covered by the item of its call; thoughts are not kept.
            Some(Part::ActionResponse | Part::Thinking | Part::Compacted) => {}
            None => {
                let note = line(&without_memories(chunk), WORDS);
                if !note.is_empty() {
                    account.push(Section::Key, Item::note(note));
                }
            }
        }
    }

    fn call(&self, chunk: &Chunk) -> (Section, Item) {
        let (tool, given) = call_parts(chunk);
        let outcome = chunk.call_id().and_then(|call| self.outcomes.get(call));
        if let Some(why) = outcome.and_then(|outcome| failure(outcome)) {
            let what = given.map_or(tool.clone(), |given| format!("{tool}: {given}"));
            return (Section::Attempted, Item::failure(&what, &why));
        }
        let outcome = outcome.and_then(|outcome| result_line(chunk, outcome));
        let item = Item::call(&tool, given.as_deref(), outcome.as_deref());
        (Section::Completed, item)
    }
}

/// Adds a person's message; what it puts off is a next step, too.
fn add_words(words: &str, asked: Option<&str>, account: &mut SummaryAccount) {
    if words.trim().is_empty() {
        return;
    }
    let found = wishes(words);
    for later in found.iter().filter(|wish| wish.kind == WishKind::PutOff) {
        account.push(Section::Next, Item::person(&later.text, None));
    }
    let is_short = words.split_whitespace().count() <= SHORT_ANSWER;
    let asked = asked.filter(|_| is_short);
    let item = match words.chars().count() > MESSAGE {
        false => Item::person(words, asked),
        true => {
            let cut = ends(words, MESSAGE);
            let lost = found.iter().map(|wish| wish.text.as_str());
            let lost: Vec<_> = lost.filter(|text| !cut.contains(text)).collect();
            Item::person(&[cut.as_str(), &lost.join("\n")].join("\n"), asked)
        }
    };
    account.push(Section::Key, item);
}

/// A person's words, without what Daybook put among them, and without attachments where there are words.
fn person_words(chunk: &Chunk) -> String {
    match &chunk.content {
        ChunkContent::Text {
            text: Some(text), ..
        } if !text.trim().is_empty() => text_without_memories(text),
        _ => without_memories(chunk),
    }
}

/// What a message asks, or else its end: an answer such as "yes" means nothing without it.
fn question(words: &str) -> String {
    let lines = words.lines().rev().map(str::trim);
    let lines: Vec<_> = lines.filter(|it| !it.is_empty()).collect();
    let asked = lines.iter().find(|it| it.ends_with(['?', '？']));
    let text = asked.or(lines.first()).copied().unwrap_or_default();
    let sentences = daybook_text::sentences::split(text);
    line(sentences.last().map_or("", |it| it.trim()), QUESTION)
}

/// A call's tool, and its arguments in one line.
fn call_parts(chunk: &Chunk) -> (String, Option<String>) {
    let content = &chunk.content;
    let word = |name| content.str_field(name).map(str::to_owned);
    let tool = word("toolName")
        .or_else(|| word("skillName"))
        .or_else(|| word("agentType"))
        .unwrap_or_else(|| "call".to_owned());
    let given = content
        .field("arguments")
        .or_else(|| content.field("input"));
    let text = match (given, word("task")) {
        (_, Some(task)) => task,
        (Some(Value::Null) | None, None) => match content {
            ChunkContent::Text { text, .. } => text.clone().unwrap_or_default(),
            _ => content.to_text().into_owned(),
        },
        (Some(given), None) => match only_text_argument(given) {
            Some(word) => word.to_owned(),
            None => calls::render(&tool, &given.to_string()),
        },
    };
    let text = line(&text, CALL);
    (
        tool,
        (!matches!(text.as_str(), "" | "{}" | "[]" | "null")).then_some(text),
    )
}

/// The only argument of a call, if it has one alone and that is a text.
fn only_text_argument(given: &Value) -> Option<&str> {
    let fields = given.as_object().filter(|fields| fields.len() == 1)?;
    fields.values().next()?.as_str()
}

/// The last line of a successful outcome, if it is one of a program, which usually ends with what it came to, or short.
fn result_line(call: &Chunk, outcome: &Chunk) -> Option<String> {
    let result = match outcome.content.field("result")? {
        Value::String(text) => text_without_memories(text),
        Value::Null => return None,
        value => value.to_string(),
    };
    let given = call.content.field("arguments");
    let is_program = given.is_some_and(|given| given.get("command").is_some());
    let last = result.lines().rev().find(|line| !line.trim().is_empty())?;
    (is_program || result.len() <= OUTCOME).then(|| line(last, OUTCOME))
}

/// The reason of a failed outcome; `None` for a successful one.
fn failure(outcome: &Chunk) -> Option<String> {
    let content = &outcome.content;
    if content.field("success") != Some(&Value::Bool(false)) {
        return None;
    }
    let why = content.str_field("error").map(str::to_owned);
    let why = why.unwrap_or_else(|| match content.field("result") {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "no reason given".to_owned(),
    });
    // Programs usually print the error at the end of their output.
    let last = why.lines().rev().find(|line| !line.trim().is_empty());
    Some(line(last.unwrap_or(&why), CALL))
}
