//! One item of an account: who or what it is about, and its shorter forms.
//!
//! An item is text, so that an account survives as the summary that an agent reads. Its kind is read off its beginning.
//!
//! Not here: which item is shortened, and how far (`shorten`).

use daybook_text::wishes::{WishKind, wishes};

use crate::compact::excerpt::line;

/// The beginning of a person's message.
const PERSON: &str = "Person: \"";
/// The end of a message, before the question that it answers.
const ASKED: &str = "\" (asked: \"";
/// The beginning of an agent's message.
const AGENT: &str = "Agent: \"";
/// The beginning of a call.
const CALLED: &str = "Called ";
/// Between a call and its outcome.
const OUTCOME: &str = " → ";
/// Between a call and the reason why it failed.
const FAILED: &str = " — failed: ";
/// Between sentences of a message that others stood between.
const GAP: &str = " … ";

/// Most characters of a sentence that outlives its message, before it is shortened further than its message.
const SENTENCE: usize = 400;

/// Most calls of one tool that follow each other and share an item.
const JOINED: usize = 12;

/// What an item is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A person's message.
    Person,
    /// A message of the agent.
    Agent,
    /// Calls, with their outcomes where there was room.
    Call,
    /// A call that failed.
    Failure,
    /// Anything else: reports from the environment, and what a model wrote.
    Note,
}

/// One item of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::compact) struct Item(pub(super) String);

impl Item {
    /// A person's message, with the agent's question that it answers.
    pub(in crate::compact) fn person(text: &str, asked: Option<&str>) -> Self {
        let text = text.trim();
        Self(match asked {
            Some(asked) => format!("{PERSON}{text}{ASKED}{asked}\")"),
            None => format!("{PERSON}{text}\""),
        })
    }

    /// A message of the agent, on one line.
    pub(in crate::compact) fn agent(text: &str) -> Self {
        Self(format!("{AGENT}{text}\""))
    }

    /// A call with its arguments, and what came of it.
    pub(in crate::compact) fn call(tool: &str, given: Option<&str>, outcome: Option<&str>) -> Self {
        let calls = CallTally {
            tool: tool.to_owned(),
            times: 1,
            named: given.map(str::to_owned).into_iter().collect(),
        };
        let outcome = outcome.map_or(String::new(), |outcome| format!("{OUTCOME}{outcome}"));
        Self(format!("{}{outcome}", calls.text(usize::MAX)))
    }

    /// A call that failed, with the reason.
    pub(in crate::compact) fn failure(what: &str, why: &str) -> Self {
        Self(format!("{what}{FAILED}{why}"))
    }

    /// Any other text, on one line.
    pub(in crate::compact) fn note(text: String) -> Self {
        Self(text)
    }

    pub(super) fn kind(&self) -> ItemKind {
        let text = &self.0;
        if text.starts_with(PERSON) {
            ItemKind::Person
        } else if text.starts_with(AGENT) {
            ItemKind::Agent
        } else if text.contains(FAILED) {
            ItemKind::Failure
        } else if text.starts_with(CALLED) {
            ItemKind::Call
        } else {
            ItemKind::Note
        }
    }

    /// A person's words, and the question that they answer.
    pub(super) fn words(&self) -> Option<(&str, Option<&str>)> {
        let rest = self.0.strip_prefix(PERSON)?;
        Some(match rest.rsplit_once(ASKED) {
            Some((words, asked)) => (words, Some(asked.strip_suffix("\")").unwrap_or(asked))),
            None => (rest.strip_suffix('"').unwrap_or(rest), None),
        })
    }

    /// The sentences of a person's message of `least` weight or more; an answer to a question is a decision.
    pub(super) fn wishes(&self, least: WishKind) -> Vec<String> {
        let Some((words, asked)) = self.words() else {
            return Vec::new();
        };
        if asked.is_some() && least <= WishKind::Decision {
            return vec![words.to_owned()];
        }
        let wishes = words.split(GAP).flat_map(wishes);
        let kept = wishes.filter(|wish| wish.kind >= least);
        kept.map(|wish| wish.text).collect()
    }

    /// A person's message with its sentences of `least` weight or more alone, each of at most `most` characters. A message
    /// without any keeps `head` characters of its beginning. `None` when nothing remains.
    pub(super) fn with_wishes_alone(
        &self,
        least: WishKind,
        most: usize,
        head: usize,
    ) -> Option<Self> {
        let (words, asked) = self.words()?;
        let whole = words.chars().count() <= head;
        let asked = asked.map(|asked| line(asked, head.max(60)));
        if whole {
            return Some(Self::person(words, asked.as_deref()));
        }
        let kept = self.wishes(least);
        let kept: Vec<_> = kept.iter().map(|it| line(it, most.min(SENTENCE))).collect();
        let text = match (kept.is_empty(), head) {
            (true, 0) => return None,
            (true, head) => line(words, head),
            (false, _) => kept.join(GAP),
        };
        Some(Self::person(&text, asked.as_deref()))
    }

    /// A message of the agent, or a note, of at most `most` characters. `None` for none.
    pub(super) fn cut(&self, most: usize) -> Option<Self> {
        let text = match self.0.strip_prefix(AGENT) {
            _ if most == 0 => return None,
            Some(words) => Self::agent(&line(words.strip_suffix('"').unwrap_or(words), most)),
            None => Self(line(&self.0, most)),
        };
        Some(text)
    }

    /// A call without its outcome.
    pub(super) fn without_outcome(&self) -> Self {
        match self.0.split_once(OUTCOME) {
            Some((call, _)) if self.kind() == ItemKind::Call => Self(call.to_owned()),
            _ => self.clone(),
        }
    }

    /// This call and a later one of the same tool in one item, where neither shows its outcome.
    pub(super) fn joined(&self, later: &Self) -> Option<Self> {
        let is_plain = |item: &Self| item.kind() == ItemKind::Call && !item.0.contains(OUTCOME);
        let (mut calls, new) = (self.calls()?, later.calls()?);
        let is_one = calls.tool == new.tool && calls.named.len() < JOINED;
        (is_one && is_plain(self) && is_plain(later)).then(|| {
            calls.add(new);
            Self(calls.text(usize::MAX))
        })
    }

    /// The calls of an item, without outcomes.
    pub(super) fn calls(&self) -> Option<CallTally> {
        (self.kind() == ItemKind::Call).then(|| CallTally::parse(&self.without_outcome().0))
    }
}

/// Calls of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallTally {
    pub(super) tool: String,
    pub(super) times: usize,
    /// Arguments of the calls, the oldest first, without repetitions.
    pub(super) named: Vec<String>,
}

impl CallTally {
    fn parse(text: &str) -> Self {
        let text = text.strip_prefix(CALLED).unwrap_or(text);
        let (head, named) = text.split_once(": ").unwrap_or((text, ""));
        let counted = head.strip_suffix(" times)").and_then(|head| {
            let (tool, times) = head.rsplit_once(" (")?;
            Some((tool, times.parse::<usize>().ok()?))
        });
        let (tool, times) = counted.unwrap_or((head, 1));
        let named = named.split("; ").filter(|it| !matches!(*it, "" | "…"));
        Self {
            tool: tool.to_owned(),
            times,
            named: named.map(str::to_owned).collect(),
        }
    }

    /// Adds later calls of the same tool.
    pub(super) fn add(&mut self, later: Self) {
        self.times += later.times;
        self.named.retain(|it| !later.named.contains(it));
        self.named.extend(later.named);
    }

    /// One line that names at most the `most` newest calls.
    pub(super) fn text(&self, most: usize) -> String {
        let times = match self.times {
            1 => String::new(),
            times => format!(" ({times} times)"),
        };
        let from = self.named.len().saturating_sub(most);
        let mut named = self.named[from..].to_vec();
        if from > 0 && most > 0 {
            named.insert(0, "…".to_owned());
        }
        let named = match named.is_empty() {
            true => String::new(),
            false => format!(": {}", named.join("; ")),
        };
        format!("{CALLED}{}{times}{named}", self.tool)
    }
}
