//! What requests and answers look like. The descriptions here are the published ones.

use daybook_domain::seams::Appended;
use daybook_domain::{Event, Priority, Session, SessionKind, Trigger};
use daybook_engine::ingest::told::Role;
use daybook_engine::recall::confidence::Likelihood;
use daybook_engine::triggers::Triggered;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::desk::{Briefing, EVENTS, Kept};
use crate::found::Found;
use crate::output::rfc3339;

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
    /// What was said, oldest first.
    #[schema(min_items = 1, max_items = 512)]
    pub(super) events: Vec<ToldEvent>,
    /// What sort of conversation it is; `root` unless something else was said before.
    pub(super) kind: Option<Kind>,
    /// Whose words the `user` events are, where that is not the person of the data folder: what they
    /// prefer is kept as theirs. Once said, it stays.
    #[schema(min_length = 1, max_length = 200, example = "ada")]
    pub(super) user: Option<String>,
    /// The folder that the agent works in, as a whole path. What is learned is filed under the
    /// project that it belongs to; without a folder, under the person.
    #[schema(min_length = 1, max_length = 4096, example = "/home/ada/tidepool")]
    pub(super) folder: Option<String>,
    /// The branch that is worked on; the one that is checked out in the folder unless it is said.
    #[schema(min_length = 1, max_length = 255, example = "main")]
    pub(super) branch: Option<String>,
}

/// One thing that was said. Secrets in it are hidden before anything is written.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToldEvent {
    /// Your own id of it, unique within the session: what is sent again with a known id is not
    /// added again. Without one, an event is known by its role, tool, text and time; and where
    /// there is no time either, the same words of the same role are one event of their session,
    /// except that they count as often as they stand in one request.
    #[schema(min_length = 1, max_length = 256, example = "msg-17")]
    pub(super) id: Option<String>,
    /// Who speaks.
    pub(super) role: Speaker,
    /// What is said; may be blank for `tool` alone. Of a text over 262144 bytes the head and the
    /// tail are kept.
    #[schema(example = "please always write the test first")]
    pub(super) text: String,
    /// When, RFC 3339, at most a day ahead of the server's clock; the time of arrival unless it is
    /// said.
    #[schema(format = DateTime, example = "2026-03-02T08:15:00Z")]
    pub(super) at: Option<String>,
    /// The tool that an assistant calls (its text is what the tool is asked), or that answers.
    #[schema(min_length = 1, max_length = 128, example = "Bash")]
    pub(super) tool: Option<String>,
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

impl From<Speaker> for Role {
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
pub(super) enum Kind {
    /// A person and an agent.
    Root,
    /// An agent that another agent called.
    SubAgent,
    /// Never learned from.
    Ephemeral,
    /// A memory agent's own conversation.
    MemoryAgent,
}

impl From<Kind> for SessionKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Root => Self::Root,
            Kind::SubAgent => Self::SubAgent,
            Kind::Ephemeral => Self::Ephemeral,
            Kind::MemoryAgent => Self::MemoryAgent,
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

impl From<Appended> for AppendAnswer {
    fn from(appended: Appended) -> Self {
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
    pub(super) what: What,
    /// The agent's own id of the conversation that replaces this one: created once this one is marked,
    /// so that no end in between loses anything. For `compaction` and `reset`.
    #[schema(min_length = 1, max_length = 200, example = "2026-03-02-tides-2")]
    pub(super) successor: Option<String>,
}

/// What happened to a session, and when its extraction is due for it.
#[derive(Deserialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
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
    /// A person said something: other sessions of the agent that wait go before the rest.
    Prompt,
    /// The session begins: what waits and has rested is looked over.
    Start,
}

impl From<What> for Trigger {
    fn from(what: What) -> Self {
        match what {
            What::Turn => Self::Turn,
            What::Sleep => Self::Sleep,
            What::End => Self::End,
            What::Compaction => Self::Compaction,
            What::Reset => Self::Reset,
            What::Prompt => Self::Prompt,
            What::Start => Self::Start,
        }
    }
}

/// What a trigger did.
#[derive(Serialize, ToSchema)]
pub(crate) struct TriggerAnswer {
    /// `due`, `nothing_new` (all that was said has been extracted), `never` (memory is not made
    /// from this session), `raised` (other sessions go before the rest) or `swept` (what waits was
    /// looked over).
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

impl From<Triggered> for TriggerAnswer {
    fn from(triggered: Triggered) -> Self {
        let of = |outcome| Self {
            outcome,
            due_at: None,
            priority: None,
            why: None,
            sessions: None,
        };
        match triggered {
            Triggered::DueAt(at, priority) => Self {
                due_at: rfc3339(at),
                priority: Some(priority.into()),
                ..of("due")
            },
            Triggered::NothingNew => of("nothing_new"),
            Triggered::Never(why) => Self {
                why: Some(why.reason()),
                ..of("never")
            },
            Triggered::Raised(sessions) => Self {
                sessions: Some(sessions),
                ..of("raised")
            },
            Triggered::Swept(swept) => Self {
                sessions: Some(swept.due.len()),
                ..of("swept")
            },
        }
    }
}

/// A question to memory.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallRequest {
    /// What you want to know, in words; at most 4096 bytes.
    #[schema(
        min_length = 1,
        max_length = 4096,
        example = "how large is the tide cache"
    )]
    pub(super) question: String,
    /// Most answers.
    #[serde(default = "ten")]
    #[schema(minimum = 1, maximum = 100, default = 10)]
    pub(super) limit: usize,
    /// Only these layers; all when left out.
    #[serde(default)]
    pub(super) layers: Vec<LayerName>,
    /// Only the memory of these scopes, such as `project/tidepool`; all when left out.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub(super) scopes: Vec<String>,
    /// Search what tools were asked and answered, too.
    #[serde(default)]
    pub(super) tools: bool,
    /// No answer at all, unless the question was likely discussed.
    #[serde(default)]
    pub(super) strict: bool,
    /// Show what each answer's score is made of, as `parts`.
    #[serde(default)]
    pub(super) explain: bool,
}

fn ten() -> usize {
    10
}

/// Where answers are looked for.
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
    /// How likely it is that the question was discussed at all. With `unlikely`, the results are near it and
    /// no answer to it.
    pub(super) confidence: LikelihoodName,
    /// The same as a number from 0 to 1, comparable between questions.
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub(super) confidence_score: f64,
    pub(super) results: Vec<Found>,
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

/// Words to keep as they are.
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
    /// The folder that the agent works in, as a whole path.
    #[schema(max_length = 4096, example = "/home/ada/tidepool")]
    pub(super) folder: Option<String>,
}

/// What was kept. It is found at once; memory files show it when what is due was processed.
#[derive(Serialize, ToSchema)]
pub(super) struct RememberAnswer {
    /// Its id.
    id: String,
    /// Whose memory it is in.
    scope: String,
    /// The words as they are kept.
    text: String,
    /// Secrets that were hidden in it.
    secrets_hidden: usize,
}

impl From<Kept> for RememberAnswer {
    fn from(kept: Kept) -> Self {
        Self {
            id: kept.observation.id.to_string(),
            scope: kept.observation.scope.to_string(),
            text: kept.observation.text,
            secrets_hidden: kept.secrets,
        }
    }
}

/// Where an agent is.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ContextQuery {
    /// The folder that it works in, as a whole path.
    #[param(max_length = 4096, example = "/home/ada/tidepool")]
    pub(super) folder: Option<String>,
    /// The memory of this project, wherever the folder is.
    #[param(example = "tidepool")]
    pub(super) project: Option<String>,
    /// As if on this branch; the one that is checked out in the folder unless it is said.
    pub(super) branch: Option<String>,
    /// Most tokens; the setting `context_tokens` unless it is said.
    #[param(minimum = 1, maximum = 100_000)]
    pub(super) budget: Option<usize>,
}

/// What an agent should be told at the start of its work.
#[derive(Serialize, ToSchema)]
pub(super) struct ContextAnswer {
    /// The whole text, in one `daybook-memory` element; empty when there is nothing to tell.
    text: String,
    /// Its size in tokens, estimated from above.
    tokens: usize,
    /// Entries told.
    entries: usize,
    /// Entries that did not fit.
    left_out: usize,
    /// The project whose memory it is.
    project: Option<String>,
    /// The branch that it is for.
    branch: Option<String>,
}

impl From<Briefing> for ContextAnswer {
    fn from(briefing: Briefing) -> Self {
        Self {
            text: briefing.told.text,
            tokens: briefing.told.tokens,
            entries: briefing.told.told,
            left_out: briefing.told.left_out,
            project: briefing.here.project.map(|scope| scope.name),
            branch: briefing.branch,
        }
    }
}

/// Which words.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WordsQuery {
    /// A citation, or a session's short name for all of it.
    #[param(example = "7f78:L382,476-480", max_length = 512)]
    pub(super) citation: String,
    /// Lines before and after, too.
    #[serde(default)]
    #[param(default = 0, maximum = 500)]
    pub(super) around: u32,
}

/// The original words behind a citation.
#[derive(Serialize, ToSchema)]
pub(super) struct WordsAnswer {
    /// The session that they are from, as `agent:session`.
    session: String,
    /// Its short name in citations.
    label: String,
    /// The words, in order; at most 500 events.
    events: Vec<WordsEvent>,
    /// There may be more: ask for a range of lines.
    cut: bool,
}

/// One event of a session.
#[derive(Serialize, ToSchema)]
struct WordsEvent {
    /// Its place in the session, counted from 1.
    seq: u64,
    /// The number that citations give it.
    line: u32,
    /// Who said it: `human`, `assistant`, `tool_call`, `tool_result`, `harness`, `synthetic`,
    /// `recalled` or `retraction`.
    origin: &'static str,
    /// When, RFC 3339; `null` when unknown.
    #[schema(format = DateTime)]
    at: Option<String>,
    /// The tool that was called, or answered.
    tool: Option<String>,
    /// What was said.
    text: String,
}

impl From<(Session, Vec<Event>)> for WordsAnswer {
    fn from((session, events): (Session, Vec<Event>)) -> Self {
        Self {
            session: session.id.to_string(),
            label: session.label,
            cut: events.len() == EVENTS,
            events: events.into_iter().map(WordsEvent::from).collect(),
        }
    }
}

impl From<Event> for WordsEvent {
    fn from(event: Event) -> Self {
        Self {
            seq: event.seq.0,
            line: event.line,
            origin: event.origin.word(),
            at: rfc3339(event.at),
            tool: event.tool,
            text: event.text,
        }
    }
}

/// That the server answers.
#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    /// Always true.
    pub(super) ok: bool,
    /// The version of daybook.
    #[schema(example = "0.1.0")]
    pub(super) version: &'static str,
}
