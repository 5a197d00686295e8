//! Units: what is shown together or not at all, in the order in which it is shown.
//!
//! A unit is a message, or a message of the agent that calls with the outcomes of all its calls.

use std::collections::HashMap;
use std::sync::Arc;

use daybook_domain::model::{Message, Role, ToolCall};
use daybook_domain::working::{Chunk, ChunkId, ChunkType, RetentionStrategy, WorkingFlowSubType};

use super::{ContextOptions, Style, spoken, tags};
use crate::ingest::recalled::{Stripped, strip};
use crate::recall::element::enclosed;

/// When a unit is left out; the least first, and the oldest of equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It may go at any time.
    Disposable,
    /// The conversation before the newest message that asks for something.
    Earlier,
    /// What was recalled.
    Recalled,
    /// What the agent did since.
    Later,
    /// The newest of that.
    Newest,
    /// What shall stay: whether it must, and its priority.
    Pinned(bool, i32),
    /// The system prompt, and the newest message that asks for something.
    Never,
}

/// A message, and where it comes from.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) message: Message,
    /// The chunk of each call; of a message without calls, its own.
    pub(super) from: Vec<&'a Chunk>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    pub(super) rank: Rank,
    pub(super) lines: Vec<Line<'a>>,
    /// In the order of the state.
    pub(super) chunks: Vec<&'a Chunk>,
}

impl<'a> Unit<'a> {
    fn of(chunk: &'a Chunk, role: Role, text: String) -> Self {
        let line = Line {
            message: Message::new(role, text),
            from: vec![chunk],
        };
        Self {
            rank: rank(&[chunk]),
            lines: vec![line],
            chunks: vec![chunk],
        }
    }

    fn given(rank: Rank, role: Role, text: &str) -> Self {
        let line = Line {
            message: Message::new(role, text),
            from: Vec::new(),
        };
        Self {
            rank,
            lines: vec![line],
            chunks: Vec::new(),
        }
    }

    pub(super) fn role(&self) -> Role {
        self.lines[0].message.role
    }
}

/// What is to become of a unit of these chunks, wherever it stands.
fn rank(chunks: &[&Chunk]) -> Rank {
    use RetentionStrategy::{Critical, Disposable, Ephemeral};
    let passing = |chunk: &&Chunk| matches!(chunk.retention_strategy, Disposable | Ephemeral);
    if chunks.iter().all(passing) {
        return Rank::Disposable;
    }
    let critical = chunks.iter().any(|it| it.retention_strategy == Critical);
    let pinned = critical || chunks.iter().any(|chunk| is_pinned(chunk));
    match pinned {
        true => Rank::Pinned(
            critical,
            chunks.iter().map(|it| it.priority).max().unwrap_or(0),
        ),
        false => Rank::Earlier,
    }
}

/// A summary stands for all that went; a priority above what its type has was given for a reason.
fn is_pinned(chunk: &Chunk) -> bool {
    let (usual, ..) = chunk.kind.defaults();
    is_head(chunk) || chunk.is(WorkingFlowSubType::Compacted) || chunk.priority > usual
}

/// Whether it belongs to the stable beginning. A fault of the system is something that happened, and is
/// told where it happened.
fn is_head(chunk: &Chunk) -> bool {
    match chunk.kind {
        ChunkType::System => chunk.content.word("errorType").is_none(),
        ChunkType::Agent | ChunkType::Workflow => true,
        ChunkType::Delegation
        | ChunkType::Environment
        | ChunkType::WorkingFlow
        | ChunkType::Output => false,
    }
}

/// Whether somebody asks the agent for something with it.
fn asks(chunk: &Chunk) -> bool {
    chunk.kind == ChunkType::Delegation || chunk.is(WorkingFlowSubType::User)
}

/// All units, in the order in which they are shown.
pub(super) fn units<'a>(chunks: &[&'a Arc<Chunk>], options: &ContextOptions<'_>) -> Vec<Unit<'a>> {
    let chunks = chunks.iter().map(|chunk| &***chunk);
    let (head, flow): (Vec<&Chunk>, Vec<&Chunk>) = chunks.partition(|chunk| is_head(chunk));
    let system = options.system.filter(|system| !system.trim().is_empty());
    let system = system.map(|system| Unit::given(Rank::Never, Role::System, system));
    let head = head.into_iter().map(|chunk| {
        let text = match options.style {
            Style::Native => chunk.content.told().into_owned(),
            Style::Tagged => tags::element(chunk),
        };
        Unit::of(chunk, Role::System, text)
    });
    let mut conversation = Conversation::new(options.style);
    flow.into_iter().for_each(|chunk| conversation.take(chunk));
    let mut flow = conversation.units();
    let asked = flow.iter().rposition(|unit| asks(unit.chunks[0]));
    rank_flow(&mut flow, asked);
    let recalled = options.recalled.filter(|it| !it.trim().is_empty());
    if let Some(recalled) = recalled {
        let recalled = Unit::given(Rank::Recalled, Role::User, &in_element(recalled));
        flow.insert(asked.unwrap_or(0), recalled);
    }
    system.into_iter().chain(head).chain(flow).collect()
}

fn rank_flow(flow: &mut [Unit<'_>], asked: Option<usize>) {
    let last = flow.len().saturating_sub(1);
    for (at, unit) in flow.iter_mut().enumerate() {
        unit.rank = match unit.rank {
            _ if asked == Some(at) => Rank::Never,
            Rank::Earlier if at == last => Rank::Newest,
            Rank::Earlier if asked.is_some_and(|asked| at > asked) => Rank::Later,
            rank => rank,
        };
    }
}

/// In one element that ends: an open one would take what follows with it when it is read in again.
fn in_element(recalled: &str) -> String {
    let recalled = recalled.trim();
    match strip(&format!("{recalled}\nsaid")) == Stripped::Said("said".into()) {
        true => recalled.to_owned(),
        false => enclosed(recalled).trim_end().to_owned(),
    }
}

/// Chunks of the conversation on their way to units.
struct Conversation<'a> {
    style: Style,
    drafts: Vec<Draft<'a>>,
    /// The agent's last message, whose calls may still be answered.
    open: Option<usize>,
    /// Whether the agent's next words belong to that message.
    goes_on: bool,
    /// Ids of calls, and how often each was wanted again.
    ids: HashMap<String, u64>,
}

/// A unit, and the outcomes of its calls so far, in the order of the calls.
struct Draft<'a> {
    unit: Unit<'a>,
    outcomes: Vec<Option<&'a Chunk>>,
}

impl<'a> Conversation<'a> {
    fn new(style: Style) -> Self {
        Self {
            style,
            drafts: Vec::new(),
            open: None,
            goes_on: false,
            ids: HashMap::new(),
        }
    }

    fn take(&mut self, chunk: &'a Chunk) {
        use WorkingFlowSubType::{
            ActionResponse, AgentAction, Compacted, Response, Thinking, User,
        };
        let native = self.style == Style::Native;
        let words = || match spoken::words(&chunk.content) {
            words if words.trim().is_empty() => spoken::NO_WORDS.to_owned(),
            words => words,
        };
        match (chunk.kind, chunk.sub_type) {
            (ChunkType::WorkingFlow, Some(User)) if native => self.tell(chunk, words()),
            (ChunkType::WorkingFlow, Some(Response)) if native => {
                self.say(chunk, words());
            }
            (ChunkType::WorkingFlow, Some(AgentAction)) => self.call(chunk),
            (ChunkType::WorkingFlow, Some(ActionResponse)) => self.answer(chunk),
            (ChunkType::WorkingFlow, Some(Response | Thinking)) | (ChunkType::Output, _) => {
                self.say(chunk, tags::element(chunk));
            }
            (ChunkType::WorkingFlow, Some(User | Compacted) | None)
            | (
                ChunkType::System
                | ChunkType::Agent
                | ChunkType::Workflow
                | ChunkType::Delegation
                | ChunkType::Environment,
                _,
            ) => self.tell(chunk, tags::element(chunk)),
        }
    }

    /// Somebody else than the agent said it.
    fn tell(&mut self, chunk: &'a Chunk, text: String) {
        self.goes_on = false;
        self.drafts.push(Draft {
            unit: Unit::of(chunk, Role::User, text),
            outcomes: Vec::new(),
        });
    }

    /// The agent said it, in its message at hand or in a new one.
    fn say(&mut self, chunk: &'a Chunk, text: String) -> &mut Draft<'a> {
        let at = match self.open {
            Some(at) if self.goes_on => at,
            _ => {
                self.drafts.push(Draft {
                    unit: Unit::given(Rank::Earlier, Role::Assistant, ""),
                    outcomes: Vec::new(),
                });
                self.drafts.len() - 1
            }
        };
        (self.open, self.goes_on) = (Some(at), true);
        let draft = &mut self.drafts[at];
        draft.unit.chunks.push(chunk);
        join(&mut draft.unit.lines[0].message.text, &text);
        draft
    }

    fn call(&mut self, chunk: &'a Chunk) {
        let (text, call) = match self.style {
            Style::Tagged => (tags::element(chunk), None),
            Style::Native => {
                let call = ToolCall {
                    id: self.unused(chunk.call_id().unwrap_or("call")),
                    name: spoken::called(&chunk.content),
                    arguments: spoken::arguments(&chunk.content),
                };
                (String::new(), Some(call))
            }
        };
        let draft = self.say(chunk, text);
        draft.outcomes.push(None);
        draft.unit.lines[0].from.push(chunk);
        draft.unit.lines[0].message.calls.extend(call);
    }

    /// An outcome belongs to the first call of its id in the agent's last message that has none yet. Any
    /// other is something that the agent is told: its call was compacted, or the agent has gone on, and
    /// what is new would come to stand far up, where room is made first.
    fn answer(&mut self, chunk: &'a Chunk) {
        self.goes_on = false;
        if let Some(at) = self.open {
            let draft = &mut self.drafts[at];
            let calls = draft.unit.lines[0].from.iter().zip(&mut draft.outcomes);
            let mut waiting = calls
                .filter(|(call, outcome)| outcome.is_none() && call.call_id() == chunk.call_id());
            if let Some((_, outcome)) = waiting.next() {
                *outcome = Some(chunk);
                draft.unit.chunks.push(chunk);
                return;
            }
        }
        self.tell(chunk, tags::element(chunk));
    }

    /// `id` in characters that providers accept, and as no other call has it: hosts use ids again, providers
    /// refuse that.
    fn unused(&mut self, id: &str) -> String {
        const LONGEST: usize = 32;
        let wanted = spoken::allowed(id, LONGEST);
        let mut unused = wanted.clone();
        while unused.is_empty() || self.ids.contains_key(&unused) {
            let times = self.ids.entry(wanted.clone()).or_insert(0);
            *times += 1;
            unused = format!("{wanted}_{}", *times + 1);
        }
        self.ids.insert(unused.clone(), 0);
        unused
    }

    fn units(self) -> Vec<Unit<'a>> {
        let style = self.style;
        let drafts = self.drafts.into_iter();
        drafts.map(|draft| draft.finished(style)).collect()
    }
}

impl<'a> Draft<'a> {
    /// The unit, with its outcomes behind it.
    fn finished(self, style: Style) -> Unit<'a> {
        let Self { mut unit, outcomes } = self;
        if unit.role() == Role::Assistant {
            unit.rank = rank(&unit.chunks);
        }
        for (at, outcome) in outcomes.into_iter().enumerate() {
            let call = unit.lines[0].message.calls.get(at);
            let message = match (style, outcome) {
                (Style::Native, outcome) => {
                    let text = outcome.map(|it| spoken::outcome(&it.content));
                    let id = call.map(|call| call.id.as_str()).unwrap_or_default();
                    Message::outcome(id, text.as_deref().unwrap_or(spoken::NO_OUTCOME))
                }
                (Style::Tagged, Some(outcome)) => Message::new(Role::User, tags::element(outcome)),
                (Style::Tagged, None) => continue,
            };
            unit.lines.push(Line {
                message,
                from: outcome.into_iter().collect(),
            });
        }
        unit
    }
}

/// Appends `more` as a paragraph of its own.
pub(super) fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// The names of chunks.
pub(super) fn ids(chunks: &[&Chunk]) -> impl Iterator<Item = ChunkId> {
    chunks.iter().map(|chunk| chunk.id.clone())
}
