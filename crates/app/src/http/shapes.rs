//! The forms of requests and answers. The doc comments here are published in openapi.json.

use daybook_domain::seams::AppendOutcome;
use daybook_domain::{Event, Priority, Session, SessionKind, Trigger};
use daybook_engine::append::batch::SpeakerRole;
use daybook_engine::recall::confidence::Likelihood;
use daybook_engine::triggers::TriggerOutcome;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::service::context::AgentContext;
use crate::service::notes::SavedNote;
use crate::service::search_result::SearchResult;
use crate::service::show::MAX_EVENTS;
use crate::terminal::output::rfc3339;

/// Events of one session, in order.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendRequest {
    /// The agent that holds the conversation: letters, digits, dots, dashes and underscores.
    #[schema(min_length = 1, max_length = 64, example = "harbour-bot")]
    pub(super) agent: String,
    /// The agent's own id of the conversation: letters, digits and `. _ ~ : @ + | = # / -`.
    #[schema(min_length = 1, max_length = 200, example = "2026-03-02-tides")]
    pub(super) session: String,
    /// The events, oldest first.
    #[schema(min_items = 1, max_items = 512)]
    pub(super) events: Vec<AppendEvent>,
    /// What sort of conversation it is; `root` unless an earlier request set another.
    pub(super) kind: Option<ConversationKind>,
    /// Whose words the `user` events are, where that is not the person of the data folder: what they
    /// prefer is kept as theirs. Once set, it stays.
    #[schema(min_length = 1, max_length = 200, example = "ada")]
    pub(super) user: Option<String>,
    /// The folder that the agent works in, as an absolute path. What is learned is filed under the
    /// folder's project; without a folder, under the person.
    #[schema(min_length = 1, max_length = 4096, example = "/home/ada/tidepool")]
    pub(super) folder: Option<String>,
    /// The branch that is worked on; when left out, the one that is checked out in the folder.
    #[schema(min_length = 1, max_length = 255, example = "main")]
    pub(super) branch: Option<String>,
    /// The room that the conversation is held in: what is learned is the room's alone. The first
    /// request of a session decides; another room later is refused.
    #[schema(min_length = 1, max_length = 512, example = "!pier:example.org")]
    pub(super) room_id: Option<String>,
    /// The thread of the room.
    #[schema(min_length = 1, max_length = 512, example = "$thread-1")]
    pub(super) thread_id: Option<String>,
    /// The team of agents that holds it, by its name or its members: what is learned is the team's.
    #[schema(min_length = 1, max_length = 512, example = "alpha+beta")]
    pub(super) team: Option<String>,
    /// Whose memory everything that is learned becomes, in place of what the rules choose: a scope that this agent takes
    /// part in, such as `agent/harbour-bot`.
    #[schema(min_length = 1, max_length = 512, example = "agent/harbour-bot")]
    pub(super) scope: Option<String>,
}

/// One message or tool event. Secrets in it are hidden before anything is written.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendEvent {
    /// Your own id of it, unique within the session: an event that is sent again with a known id
    /// is not added again. Without one, an event is identified by its role, tool, text and time; and
    /// without a time, the same text of the same role is one event of its session, except that it
    /// counts as often as it occurs in one request.
    #[schema(min_length = 1, max_length = 256, example = "msg-17")]
    pub(super) id: Option<String>,
    /// Who speaks.
    pub(super) role: Speaker,
    /// Its text; may be blank for `tool` alone. Of a text over 262144 bytes the head and the
    /// tail are kept.
    #[schema(example = "please always write the test first")]
    pub(super) text: String,
    /// When, RFC 3339, at most a day ahead of the server's clock; when left out, the time of
    /// arrival.
    #[schema(format = DateTime, example = "2026-03-02T08:15:00Z")]
    pub(super) at: Option<String>,
    /// The tool that an assistant calls (its text is the tool's input), or that answers.
    #[schema(min_length = 1, max_length = 128, example = "Bash")]
    pub(super) tool: Option<String>,
    /// Whether it brings text from outside that its tool does not show: a page, a mail. With the setting
    /// `disable_on_external_context`, memory leaves such a session out.
    #[serde(default)]
    pub(super) external: bool,
}

/// Who speaks.
#[derive(Deserialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaker {
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool, answering.
    Tool,
    /// The agent's host: instructions, reminders. Never learned from.
    System,
}

impl From<Speaker> for SpeakerRole {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::User => Self::User,
            Speaker::Assistant => Self::Assistant,
            Speaker::Tool => Self::Tool,
            Speaker::System => Self::System,
        }
    }
}

/// What sort of conversation it is. Memory is made from `root` sessions alone.
#[derive(Deserialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum ConversationKind {
    /// A person and an agent.
    Root,
    /// An agent that another agent called.
    SubAgent,
    /// Never learned from.
    Ephemeral,
    /// A memory agent's own conversation.
    MemoryAgent,
}

impl From<ConversationKind> for SessionKind {
    fn from(kind: ConversationKind) -> Self {
        match kind {
            ConversationKind::Root => Self::Root,
            ConversationKind::SubAgent => Self::SubAgent,
            ConversationKind::Ephemeral => Self::Ephemeral,
            ConversationKind::MemoryAgent => Self::MemoryAgent,
        }
    }
}

/// What an append did. All of it is on disk.
#[derive(Serialize, ToSchema)]
pub(super) struct AppendAnswer {
    /// Events added.
    added: u64,
    /// Events that were known already.
    known: u64,
    /// Sequence number of the session's last event.
    last: u64,
}

impl From<AppendOutcome> for AppendAnswer {
    fn from(appended: AppendOutcome) -> Self {
        Self {
            added: appended.added,
            known: appended.known,
            last: appended.last.0,
        }
    }
}

/// What happened to a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TriggerRequest {
    /// The agent that holds the conversation.
    #[schema(min_length = 1, max_length = 64, example = "harbour-bot")]
    pub(super) agent: String,
    /// The agent's own id of the conversation.
    #[schema(min_length = 1, max_length = 200, example = "2026-03-02-tides")]
    pub(super) session: String,
    /// Whose words the session holds, where that is not the person of the data folder and nothing
    /// was appended to it yet.
    #[schema(min_length = 1, max_length = 200, example = "ada")]
    pub(super) user: Option<String>,
    /// What happened.
    pub(super) what: TriggerName,
    /// The agent's own id of the conversation that replaces this one: created once this one is marked,
    /// so that no end in between loses anything. For `compaction` and `reset`.
    #[schema(min_length = 1, max_length = 200, example = "2026-03-02-tides-2")]
    pub(super) successor: Option<String>,
}

/// What happened to a session, and when its extraction is due for it.
#[derive(Deserialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum TriggerName {
    /// A turn completed: due once the session has rested, at once when more than five turns wait.
    Turn,
    /// The agent has no pending messages: due now.
    Sleep,
    /// The conversation is over: due now.
    End,
    /// The agent is about to condense the conversation: due now, before others.
    Compaction,
    /// The conversation is about to be replaced: due now, before others.
    Reset,
    /// A person sent a message: other sessions of the agent that wait go before the rest.
    Prompt,
    /// The session begins: waiting sessions that have rested become due.
    Start,
}

impl From<TriggerName> for Trigger {
    fn from(what: TriggerName) -> Self {
        match what {
            TriggerName::Turn => Self::Turn,
            TriggerName::Sleep => Self::Sleep,
            TriggerName::End => Self::End,
            TriggerName::Compaction => Self::Compaction,
            TriggerName::Reset => Self::Reset,
            TriggerName::Prompt => Self::Prompt,
            TriggerName::Start => Self::Start,
        }
    }
}

/// What a trigger did.
#[derive(Serialize, ToSchema)]
pub(crate) struct TriggerAnswer {
    /// `due`, `nothing_new` (all events have been extracted), `never` (memory is not made
    /// from this session), `raised` (other sessions go before the rest) or `swept` (waiting
    /// sessions that had rested became due).
    outcome: &'static str,
    /// When the session is extracted at the earliest, RFC 3339.
    #[schema(format = DateTime)]
    due_at: Option<String>,
    /// How soon among others: `low`, `normal`, `raised` or `high`.
    priority: Option<Urgency>,
    /// Why never.
    why: Option<&'static str>,
    /// How many other sessions were raised, or are due now.
    sessions: Option<usize>,
}

/// How soon a session is extracted among others.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Urgency {
    /// A sweep found it.
    Low,
    /// The ordinary case.
    Normal,
    /// Its agent was prompted elsewhere.
    Raised,
    /// It is about to be replaced.
    High,
}

impl From<Priority> for Urgency {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Low => Self::Low,
            Priority::Normal => Self::Normal,
            Priority::Raised => Self::Raised,
            Priority::High => Self::High,
        }
    }
}

impl From<TriggerOutcome> for TriggerAnswer {
    fn from(triggered: TriggerOutcome) -> Self {
        let of = |outcome| Self {
            outcome,
            due_at: None,
            priority: None,
            why: None,
            sessions: None,
        };
        match triggered {
            TriggerOutcome::DueAt(at, priority) => Self {
                due_at: rfc3339(at),
                priority: Some(priority.into()),
                ..of("due")
            },
            TriggerOutcome::NothingNew => of("nothing_new"),
            TriggerOutcome::Never(why) => Self {
                why: Some(why.reason()),
                ..of("never")
            },
            TriggerOutcome::Raised(sessions) => Self {
                sessions: Some(sessions),
                ..of("raised")
            },
            TriggerOutcome::Swept(swept) => Self {
                sessions: Some(swept.due.len()),
                ..of("swept")
            },
        }
    }
}

/// A search in memory.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallRequest {
    /// The question, in words; at most 4096 bytes.
    #[schema(
        min_length = 1,
        max_length = 4096,
        example = "how large is the tide cache"
    )]
    pub(super) question: String,
    /// Most answers.
    #[serde(default = "default_limit")]
    #[schema(minimum = 1, maximum = 100, default = 10)]
    pub(super) limit: usize,
    /// Only these layers; all when left out.
    #[serde(default)]
    pub(super) layers: Vec<LayerName>,
    /// Only the memory of these scopes, such as `project/tidepool`; all when left out.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub(super) scopes: Vec<String>,
    /// The agent that asks: it is given its own memory, and that of its teams.
    #[schema(min_length = 1, max_length = 512, example = "harbour-bot")]
    pub(super) agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[schema(min_length = 1, max_length = 512, example = "ada")]
    pub(super) user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is shown.
    #[schema(min_length = 1, max_length = 512, example = "!pier:example.org")]
    pub(super) room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[schema(min_length = 1, max_length = 512, example = "alpha+beta")]
    pub(super) team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[schema(min_length = 1, max_length = 512, example = "tidepool")]
    pub(super) project: Option<String>,
    /// Search what tools were asked and answered, too.
    #[serde(default)]
    pub(super) tools: bool,
    /// Return no answer unless the question was likely discussed.
    #[serde(default)]
    pub(super) strict: bool,
    /// What was known and held at this time: a day, a month or RFC 3339; the present when left out.
    #[serde(default)]
    #[schema(example = "2026-02-04")]
    pub(super) at: Option<String>,
    /// Show the parts of each answer's score, as `parts`.
    #[serde(default)]
    pub(super) explain: bool,
}

fn default_limit() -> usize {
    10
}

/// A layer of memory to search.
#[derive(Deserialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum LayerName {
    /// Memory files.
    Entry,
    /// Single things that were learned.
    Observation,
    /// The original words.
    Event,
}

/// The nearest answers, best first, and whether they are likely to answer the question.
#[derive(Serialize, ToSchema)]
pub(super) struct RecallAnswer {
    /// How likely it is that the question was discussed at all. With `unlikely`, the results are near it but
    /// do not answer it.
    pub(super) confidence: LikelihoodName,
    /// The same as a number from 0 to 1, comparable between questions.
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub(super) confidence_score: f64,
    /// Why the answers were found by words alone, where the settings choose an embedding model that could not be
    /// used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) without_vectors: Option<String>,
    /// Parts of memory that did not answer, each with the reason: an agent's memory on a mem0 server that is down.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unanswered: Vec<String>,
    pub(super) results: Vec<SearchResult>,
}

/// How likely it is that a question was discussed.
#[derive(Serialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum LikelihoodName {
    /// The results are about it.
    Likely,
    /// The results may be about it.
    Weak,
    /// The results are about something else.
    Unlikely,
}

impl From<Likelihood> for LikelihoodName {
    fn from(likelihood: Likelihood) -> Self {
        match likelihood {
            Likelihood::Likely => Self::Likely,
            Likelihood::Weak => Self::Weak,
            Likelihood::Unlikely => Self::Unlikely,
        }
    }
}

/// A text to keep as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RememberRequest {
    /// What to remember; at most 16384 bytes. Secrets in it are hidden.
    #[schema(
        min_length = 1,
        max_length = 16384,
        example = "deploys happen on Tuesdays"
    )]
    pub(super) text: String,
    /// Whose memory, such as `project/tidepool` or `user/ada`; that of the folder's project when
    /// left out, else the person's.
    #[schema(example = "project/tidepool")]
    pub(super) scope: Option<String>,
    /// The folder that the agent works in, as an absolute path.
    #[schema(max_length = 4096, example = "/home/ada/tidepool")]
    pub(super) folder: Option<String>,
    /// The agent that asks: it is given its own memory, and that of its teams.
    #[schema(min_length = 1, max_length = 512, example = "harbour-bot")]
    pub(super) agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[schema(min_length = 1, max_length = 512, example = "ada")]
    pub(super) user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is shown.
    #[schema(min_length = 1, max_length = 512, example = "!pier:example.org")]
    pub(super) room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[schema(min_length = 1, max_length = 512, example = "alpha+beta")]
    pub(super) team: Option<String>,
}

/// The note that was kept. Recall finds it at once; memory files show it after the next update.
#[derive(Serialize, ToSchema)]
pub(super) struct RememberAnswer {
    /// Its id.
    id: String,
    /// Whose memory it is in.
    scope: String,
    /// The text as it is kept.
    text: String,
    /// Secrets that were hidden in it.
    secrets_hidden: usize,
}

impl From<SavedNote> for RememberAnswer {
    fn from(note: SavedNote) -> Self {
        Self {
            id: note.id,
            scope: note.scope.to_string(),
            text: note.text,
            secrets_hidden: note.secrets,
        }
    }
}

/// Where an agent is.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ContextParams {
    /// The folder that it works in, as an absolute path.
    #[param(max_length = 4096, example = "/home/ada/tidepool")]
    pub(super) folder: Option<String>,
    /// The memory of this project, wherever the folder is.
    #[param(example = "tidepool")]
    pub(super) project: Option<String>,
    /// As if on this branch; when left out, the one that is checked out in the folder.
    pub(super) branch: Option<String>,
    /// Files that it works on, relative to the folder or as absolute paths, each in a line of its own: entries that
    /// name them or their folder are included, too.
    #[param(max_length = 65536, example = "src/cache.rs\nsrc/chart.rs")]
    pub(super) files: Option<String>,
    /// The prompt that it was given: entries that are likely about it are included, too.
    #[param(
        max_length = 65536,
        example = "why does the cache forget tides at a restart?"
    )]
    pub(super) prompt: Option<String>,
    /// Most tokens; when left out, the setting `context_tokens`.
    #[param(minimum = 1, maximum = 100_000)]
    pub(super) budget: Option<usize>,
    /// The agent that asks: it is given its own memory, and that of its teams.
    #[param(min_length = 1, max_length = 512, example = "harbour-bot")]
    pub(super) agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[param(min_length = 1, max_length = 512, example = "ada")]
    pub(super) user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is shown.
    #[param(min_length = 1, max_length = 512, example = "!pier:example.org")]
    pub(super) room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[param(min_length = 1, max_length = 512, example = "alpha+beta")]
    pub(super) team: Option<String>,
}

/// The memory to give an agent at the start of its work.
#[derive(Serialize, ToSchema)]
pub(super) struct ContextAnswer {
    /// The whole text, in one `daybook-memory` element; empty when no memory applies.
    text: String,
    /// Its size in tokens, estimated from above.
    tokens: usize,
    /// Entries that are included.
    entries: usize,
    /// Entries that did not fit.
    left_out: usize,
    /// The project whose memory it is.
    project: Option<String>,
    /// The branch that it is for.
    branch: Option<String>,
}

impl From<AgentContext> for ContextAnswer {
    fn from(context: AgentContext) -> Self {
        Self {
            text: context.assembled.text,
            tokens: context.assembled.tokens,
            entries: context.assembled.lines.len(),
            left_out: context.assembled.left_out,
            project: context.at.project.map(|scope| scope.name),
            branch: context.branch,
        }
    }
}

/// Which events to show.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ShowQuery {
    /// A citation, or a session's short name for all of it.
    #[param(example = "7f78:L382,476-480", max_length = 512)]
    pub(super) citation: String,
    /// Lines before and after, too.
    #[serde(default)]
    #[param(default = 0, maximum = 500)]
    pub(super) around: u32,
    /// The agent that asks: it reads its own memory, and that of its teams.
    #[param(max_length = 512, example = "harbour-bot")]
    pub(super) agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[param(max_length = 512, example = "ada")]
    pub(super) user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is read.
    #[param(max_length = 512, example = "!pier:example.org")]
    pub(super) room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[param(max_length = 512, example = "alpha+beta")]
    pub(super) team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[param(max_length = 512, example = "tidepool")]
    pub(super) project: Option<String>,
}

/// The original text behind a citation.
#[derive(Serialize, ToSchema)]
pub(super) struct ShowAnswer {
    /// The session that they are from, as `agent:session`.
    session: String,
    /// Its short name in citations.
    label: String,
    /// The cited events, in order; at most 500.
    events: Vec<ShownEvent>,
    /// There may be more: request a range of lines.
    cut: bool,
}

/// One event of a session.
#[derive(Serialize, ToSchema)]
struct ShownEvent {
    /// Its place in the session, counted from 1.
    seq: u64,
    /// The number that citations give it.
    line: u32,
    /// Its origin: `human`, `assistant`, `tool_call`, `tool_result`, `harness`, `synthetic`,
    /// `recalled` or `retraction`.
    origin: &'static str,
    /// When, RFC 3339; `null` when unknown.
    #[schema(format = DateTime)]
    at: Option<String>,
    /// The tool that was called, or answered.
    tool: Option<String>,
    /// Its text.
    text: String,
}

impl From<(Session, Vec<Event>)> for ShowAnswer {
    fn from((session, events): (Session, Vec<Event>)) -> Self {
        Self {
            session: session.id.to_string(),
            label: session.label,
            cut: events.len() == MAX_EVENTS,
            events: events.into_iter().map(ShownEvent::from).collect(),
        }
    }
}

impl From<Event> for ShownEvent {
    fn from(event: Event) -> Self {
        Self {
            seq: event.seq.0,
            line: event.line,
            origin: event.origin.as_str(),
            at: rfc3339(event.at),
            tool: event.tool,
            text: event.text,
        }
    }
}

/// The server answers.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    /// Always true.
    pub(super) ok: bool,
    /// The version of daybook.
    #[schema(example = "0.1.0")]
    pub(super) version: &'static str,
}
