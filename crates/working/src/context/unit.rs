//! Units: the parts of a context that are shown as a whole or not at all, in their order.
//!
//! A unit is one message, or the agent's message with calls together with the outcomes of all its calls.

use std::collections::HashMap;
use std::sync::Arc;

use daybook_domain::model::{Message, Role, ToolCall};
use daybook_domain::working::{Chunk, ChunkId, ChunkType, RetentionStrategy, WorkingFlowSubType};

use super::{ContextOptions, ContextStyle, rendering, tags};
use daybook_text::fence::enclose;
use daybook_text::recalled::{Stripped, strip};

/// The order in which units are left out: the least first, and the oldest of equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OmissionRank {
    /// Left out first.
    Disposable,
    /// The conversation before the newest request to the agent.
    Earlier,
    /// Recalled memory.
    Recalled,
    /// The agent's work since that request.
    Later,
    /// The newest part of that work.
    Newest,
    /// Pinned chunks: whether they are critical, and their priority.
    Pinned(bool, i32),
    /// The system prompt, and the newest request to the agent.
    Never,
}

/// A message, and the chunks that it was made from.
#[derive(Debug)]
pub(super) struct UnitMessage<'a> {
    pub(super) message: Message,
    /// The chunk of each call; of a message without calls, its own chunk.
    pub(super) from: Vec<&'a Chunk>,
}

/// A part of a context that is shown as a whole or not at all; see the module.
#[derive(Debug)]
pub(super) struct ContextUnit<'a> {
    pub(super) rank: OmissionRank,
    pub(super) lines: Vec<UnitMessage<'a>>,
    /// The unit's chunks, in the order of the state.
    pub(super) chunks: Vec<&'a Chunk>,
}

impl<'a> ContextUnit<'a> {
    fn of(chunk: &'a Chunk, role: Role, text: String) -> Self {
        let line = UnitMessage {
            message: Message::new(role, text),
            from: vec![chunk],
        };
        Self {
            rank: rank(&[chunk]),
            lines: vec![line],
            chunks: vec![chunk],
        }
    }

    fn given(rank: OmissionRank, role: Role, text: &str) -> Self {
        let line = UnitMessage {
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

/// The rank of a unit of these chunks, without regard to its place.
fn rank(chunks: &[&Chunk]) -> OmissionRank {
    use RetentionStrategy::{Critical, Disposable, Ephemeral};
    let passing = |chunk: &&Chunk| matches!(chunk.retention_strategy, Disposable | Ephemeral);
    if chunks.iter().all(passing) {
        return OmissionRank::Disposable;
    }
    let critical = chunks.iter().any(|it| it.retention_strategy == Critical);
    let pinned = critical || chunks.iter().any(|chunk| is_pinned(chunk));
    match pinned {
        true => OmissionRank::Pinned(
            critical,
            chunks.iter().map(|it| it.priority).max().unwrap_or(0),
        ),
        false => OmissionRank::Earlier,
    }
}

/// Whether a chunk is pinned: a part of the head, a summary, or one with a priority above the usual one of its type.
fn is_pinned(chunk: &Chunk) -> bool {
    let (usual, ..) = chunk.kind.defaults();
    is_head(chunk) || chunk.is(WorkingFlowSubType::Compacted) || chunk.priority > usual
}

/// Whether a chunk belongs to the stable beginning. An error of the system does not: it is shown where it
/// happened.
fn is_head(chunk: &Chunk) -> bool {
    match chunk.kind {
        ChunkType::System => chunk.content.str_field("errorType").is_none(),
        ChunkType::Agent | ChunkType::Workflow => true,
        ChunkType::Delegation
        | ChunkType::Environment
        | ChunkType::WorkingFlow
        | ChunkType::Output => false,
    }
}

/// Whether a chunk is a request to the agent.
fn asks(chunk: &Chunk) -> bool {
    chunk.kind == ChunkType::Delegation || chunk.is(WorkingFlowSubType::User)
}

/// All units, in the order of the messages.
pub(super) fn units<'a>(
    chunks: &[&'a Arc<Chunk>],
    options: &ContextOptions<'_>,
) -> Vec<ContextUnit<'a>> {
    let chunks = chunks.iter().map(|chunk| &***chunk);
    let (head, flow): (Vec<&Chunk>, Vec<&Chunk>) = chunks.partition(|chunk| is_head(chunk));
    let system = options.system.filter(|system| !system.trim().is_empty());
    let system = system.map(|system| ContextUnit::given(OmissionRank::Never, Role::System, system));
    let head = head.into_iter().map(|chunk| {
        let text = match options.style {
            ContextStyle::Native => chunk.content.to_text().into_owned(),
            ContextStyle::Tagged => tags::element(chunk),
        };
        ContextUnit::of(chunk, Role::System, text)
    });
    let mut conversation = ConversationUnits::new(options.style);
    flow.into_iter().for_each(|chunk| conversation.take(chunk));
    let mut flow = conversation.units();
    let asked = flow.iter().rposition(|unit| asks(unit.chunks[0]));
    rank_flow(&mut flow, asked);
    let recalled = options.recalled.filter(|it| !it.trim().is_empty());
    if let Some(recalled) = recalled {
        let recalled = ContextUnit::given(
            OmissionRank::Recalled,
            Role::User,
            &enclose_recalled(recalled),
        );
        flow.insert(asked.unwrap_or(0), recalled);
    }
    system.into_iter().chain(head).chain(flow).collect()
}

fn rank_flow(flow: &mut [ContextUnit<'_>], asked: Option<usize>) {
    let last = flow.len().saturating_sub(1);
    for (at, unit) in flow.iter_mut().enumerate() {
        unit.rank = match unit.rank {
            _ if asked == Some(at) => OmissionRank::Never,
            OmissionRank::Earlier if at == last => OmissionRank::Newest,
            OmissionRank::Earlier if asked.is_some_and(|asked| at > asked) => OmissionRank::Later,
            rank => rank,
        };
    }
}

/// Encloses recalled memory in one closed element: an open one would swallow the text behind it when it is read back.
fn enclose_recalled(recalled: &str) -> String {
    let recalled = recalled.trim();
    match strip(&format!("{recalled}\nsaid")) == Stripped::Remaining("said".into()) {
        true => recalled.to_owned(),
        false => enclose(recalled).trim_end().to_owned(),
    }
}

/// Builds the units of the conversation, chunk by chunk.
struct ConversationUnits<'a> {
    style: ContextStyle,
    drafts: Vec<UnitDraft<'a>>,
    /// The index of the agent's last message, whose calls may still get outcomes.
    open: Option<usize>,
    /// Whether the agent's next text or call belongs to that message.
    goes_on: bool,
    /// Ids of calls, and how often each was used again.
    ids: HashMap<String, u64>,
}

/// A unit under construction, with the outcomes of its calls so far, in the order of the calls.
struct UnitDraft<'a> {
    unit: ContextUnit<'a>,
    outcomes: Vec<Option<&'a Chunk>>,
}

impl<'a> ConversationUnits<'a> {
    fn new(style: ContextStyle) -> Self {
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
        let native = self.style == ContextStyle::Native;
        let words = || match rendering::message_text(&chunk.content) {
            words if words.trim().is_empty() => rendering::NO_WORDS.to_owned(),
            words => words,
        };
        match (chunk.kind, chunk.sub_type) {
            (ChunkType::WorkingFlow, Some(User)) if native => self.add_message(chunk, words()),
            (ChunkType::WorkingFlow, Some(Response)) if native => {
                self.add_agent_text(chunk, words());
            }
            (ChunkType::WorkingFlow, Some(AgentAction)) => self.add_call(chunk),
            (ChunkType::WorkingFlow, Some(ActionResponse)) => self.add_outcome(chunk),
            (ChunkType::WorkingFlow, Some(Response | Thinking)) | (ChunkType::Output, _) => {
                self.add_agent_text(chunk, tags::element(chunk));
            }
            (ChunkType::WorkingFlow, Some(User | Compacted) | None)
            | (
                ChunkType::System
                | ChunkType::Agent
                | ChunkType::Workflow
                | ChunkType::Delegation
                | ChunkType::Environment,
                _,
            ) => self.add_message(chunk, tags::element(chunk)),
        }
    }

    /// Adds a message to the agent.
    fn add_message(&mut self, chunk: &'a Chunk, text: String) {
        self.goes_on = false;
        self.drafts.push(UnitDraft {
            unit: ContextUnit::of(chunk, Role::User, text),
            outcomes: Vec::new(),
        });
    }

    /// Adds text of the agent to its current message, or to a new one.
    fn add_agent_text(&mut self, chunk: &'a Chunk, text: String) -> &mut UnitDraft<'a> {
        let at = match self.open {
            Some(at) if self.goes_on => at,
            _ => {
                self.drafts.push(UnitDraft {
                    unit: ContextUnit::given(OmissionRank::Earlier, Role::Assistant, ""),
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

    fn add_call(&mut self, chunk: &'a Chunk) {
        let (text, call) = match self.style {
            ContextStyle::Tagged => (tags::element(chunk), None),
            ContextStyle::Native => {
                let call = ToolCall {
                    id: self.unused_call_id(chunk.call_id().unwrap_or("call")),
                    name: rendering::call_name(&chunk.content),
                    arguments: rendering::arguments(&chunk.content),
                };
                (String::new(), Some(call))
            }
        };
        let draft = self.add_agent_text(chunk, text);
        draft.outcomes.push(None);
        draft.unit.lines[0].from.push(chunk);
        draft.unit.lines[0].message.calls.extend(call);
    }

    /// Adds an outcome to the first call of its id in the agent's last message that has none yet. Any
    /// other outcome becomes a message to the agent: its call was compacted, or the agent has continued, and
    /// beside its call the new outcome would be far up, where messages are left out first.
    fn add_outcome(&mut self, chunk: &'a Chunk) {
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
        self.add_message(chunk, tags::element(chunk));
    }

    /// `id` in characters that providers accept, and different from all other calls' ids: hosts reuse ids, and
    /// providers refuse that.
    fn unused_call_id(&mut self, id: &str) -> String {
        const LONGEST: usize = 32;
        let wanted = rendering::to_call_name(id, LONGEST);
        let mut unused = wanted.clone();
        while unused.is_empty() || self.ids.contains_key(&unused) {
            let times = self.ids.entry(wanted.clone()).or_insert(0);
            *times += 1;
            unused = format!("{wanted}_{}", *times + 1);
        }
        self.ids.insert(unused.clone(), 0);
        unused
    }

    fn units(self) -> Vec<ContextUnit<'a>> {
        let style = self.style;
        let drafts = self.drafts.into_iter();
        drafts.map(|draft| draft.into_unit(style)).collect()
    }
}

impl<'a> UnitDraft<'a> {
    /// Completes the unit: its outcomes come behind its message.
    fn into_unit(self, style: ContextStyle) -> ContextUnit<'a> {
        let Self { mut unit, outcomes } = self;
        if unit.role() == Role::Assistant {
            unit.rank = rank(&unit.chunks);
        }
        for (at, outcome) in outcomes.into_iter().enumerate() {
            let call = unit.lines[0].message.calls.get(at);
            let message = match (style, outcome) {
                (ContextStyle::Native, outcome) => {
                    let text = outcome.map(|it| rendering::outcome(&it.content));
                    let id = call.map(|call| call.id.as_str()).unwrap_or_default();
                    Message::outcome(id, text.as_deref().unwrap_or(rendering::NO_OUTCOME))
                }
                (ContextStyle::Tagged, Some(outcome)) => {
                    Message::new(Role::User, tags::element(outcome))
                }
                (ContextStyle::Tagged, None) => continue,
            };
            unit.lines.push(UnitMessage {
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

/// The ids of chunks.
pub(super) fn ids(chunks: &[&Chunk]) -> impl Iterator<Item = ChunkId> {
    chunks.iter().map(|chunk| chunk.id.clone())
}
