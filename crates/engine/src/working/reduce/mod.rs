//! What an event does to a state: reducers, and who is asked (spec/working-memory.md 3).
//!
//! Reducers are pure: the same state and event give the same operations, to the last id. So a thread that
//! is folded again from its log is the same thread.
//!
//! Not here: applying operations (`domain::working`), the log.

mod conversation;
mod defaults;
mod memory;
mod todos;

use std::sync::Arc;

use daybook_domain::working::{
    Act, Chunk, ChunkType, Content, IdSource, Operation, State, ThreadEvent,
};
use daybook_domain::{BoxError, EventSeq, Timestamp};
use serde_json::{Map, Value};

pub use defaults::DefaultReducer;

/// Where and when an event is reduced.
///
/// ```
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # use daybook_domain::working::{ChunkType, Content, EventType, IdSource, ThreadEvent};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let ids = IdSource::new(&thread, EventSeq(1));
/// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
/// use daybook_domain::working::Act;
/// use daybook_engine::working::reduce::ReduceContext;
/// let mut at = ReduceContext { ids, seq: EventSeq(1), now: Timestamp(0) };
/// let chunk = at.chunk(ChunkType::Environment, Content::text("It rains."), &event);
/// assert_eq!(chunk.metadata.custom["eventType"], "USER_MESSAGE");
/// let delete = at.operation(Act::Delete { chunk_id: chunk.id });
/// assert_eq!(delete.timestamp, Timestamp(0));
/// ```
#[derive(Debug, Clone)]
pub struct ReduceContext {
    /// Names for what is made.
    pub ids: IdSource,
    /// The event's place in the log.
    pub seq: EventSeq,
    /// When it was stored.
    pub now: Timestamp,
}

impl ReduceContext {
    /// An operation, here and now.
    pub fn operation(&mut self, act: Act) -> Operation {
        Operation::new(&mut self.ids, act, self.now)
    }

    /// A chunk of that type that says where it comes from.
    pub fn chunk(&mut self, kind: ChunkType, content: Content, event: &ThreadEvent) -> Chunk {
        let mut chunk = Chunk::new(self.ids.chunk(), kind, content, self.now);
        let custom = &mut chunk.metadata.custom;
        custom.insert(
            "eventType".to_owned(),
            event.kind.word().into_owned().into(),
        );
        custom.insert("seq".to_owned(), self.seq.0.into());
        custom.insert("timestamp".to_owned(), event.timestamp.0.into());
        chunk
    }
}

/// What an event does.
///
/// ```
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # use daybook_domain::working::{ChunkType, Content, EventType, IdSource, ThreadEvent};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let ids = IdSource::new(&thread, EventSeq(1));
/// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
/// use daybook_engine::working::reduce::{ReduceContext, Reduced};
/// let mut at = ReduceContext { ids, seq: EventSeq(1), now: Timestamp(0) };
/// let rain = at.chunk(ChunkType::Environment, Content::text("It rains."), &event);
/// let wind = at.chunk(ChunkType::Environment, Content::text("The wind is up."), &event);
/// let calm = wind.derive(&mut at.ids, Timestamp(0));
///
/// let mut reduced = Reduced::add(&mut at, rain);
/// reduced.push(&mut at, wind.clone());
/// reduced.update(&mut at, &wind, calm);
/// assert_eq!((reduced.operations.len(), reduced.chunks.len()), (3, 3));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reduced {
    /// In this order, all or none.
    pub operations: Vec<Operation>,
    /// Chunks that the operations bring.
    pub chunks: Vec<Arc<Chunk>>,
}

impl Reduced {
    /// One chunk more.
    pub fn add(at: &mut ReduceContext, chunk: Chunk) -> Self {
        let mut reduced = Self::default();
        reduced.push(at, chunk);
        reduced
    }

    /// One chunk more.
    pub fn push(&mut self, at: &mut ReduceContext, chunk: Chunk) {
        let act = Act::Add {
            chunk_id: chunk.id.clone(),
            position: None,
        };
        self.bring(at, act, chunk);
    }

    /// A chunk in the place of the one that it was derived from.
    pub fn update(&mut self, at: &mut ReduceContext, old: &Chunk, new: Chunk) {
        let act = Act::Update {
            target_chunk_id: old.id.clone(),
            new_chunk_id: new.id.clone(),
        };
        self.bring(at, act, new);
    }

    fn bring(&mut self, at: &mut ReduceContext, act: Act, mut chunk: Chunk) {
        let operation = at.operation(act);
        chunk.metadata.source_operation = Some(operation.id.clone());
        self.operations.push(operation);
        self.chunks.push(Arc::new(chunk));
    }
}

/// Turns events into operations.
///
/// ```
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # use daybook_domain::working::{ChunkType, Content, EventType, IdSource, ThreadEvent};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let ids = IdSource::new(&thread, EventSeq(1));
/// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
/// use daybook_domain::BoxError;
/// use daybook_domain::working::State;
/// use daybook_engine::working::reduce::{ReduceContext, Reduced, Reducer, ReducerRegistry};
///
/// /// Keeps what the weather station says.
/// struct Weather;
///
/// impl Reducer for Weather {
///     fn name(&self) -> &str {
///         "weather"
///     }
///
///     fn takes(&self, event_type: &str) -> bool {
///         event_type == "WEATHER"
///     }
///
///     fn reduce(&self, _: &State, event: &ThreadEvent, at: &mut ReduceContext) -> Result<Reduced, BoxError> {
///         let EventType::Custom { fields, .. } = &event.kind else {
///             return Ok(Reduced::default());
///         };
///         let report = fields.get("report").and_then(|report| report.as_str());
///         let report = Content::text(report.ok_or("a report without words")?);
///         let chunk = at.chunk(ChunkType::Environment, report, event);
///         Ok(Reduced::add(at, chunk))
///     }
/// }
///
/// let mut registry = ReducerRegistry::default();
/// registry.register(std::sync::Arc::new(Weather));
/// assert_eq!(registry.reducers_for("WEATHER").count(), 1);
/// # let _ = (ids, event);
/// ```
#[doc(alias = "IReducer")]
pub trait Reducer: Send + Sync {
    /// By which observers and errors call it.
    fn name(&self) -> &str;

    /// Whether it is asked about events of that type.
    fn takes(&self, event_type: &str) -> bool;

    /// What `event` does to `state`.
    ///
    /// # Errors
    /// The event then does nothing at all: whoever dispatched it is told, and it stays in the log.
    fn reduce(
        &self,
        state: &State,
        event: &ThreadEvent,
        at: &mut ReduceContext,
    ) -> Result<Reduced, BoxError>;
}

/// Who is asked about an event: all that take its type, in the order in which they were registered, each
/// about the same state. An event that nobody takes does nothing.
///
/// ```
/// use daybook_engine::working::reduce::ReducerRegistry;
/// assert_eq!(ReducerRegistry::default().reducers_for("USER_MESSAGE").count(), 1);
/// assert_eq!(ReducerRegistry::empty().reducers_for("USER_MESSAGE").count(), 0);
///
/// let mut registry = ReducerRegistry::default();
/// let all = registry.len();
/// assert_eq!(registry.unregister("EXTERNAL_TIMER"), 1);
/// assert_eq!(registry.len(), all - 1);
/// assert!(!registry.is_empty());
/// ```
#[doc(alias = "DefaultReducerRegistry")]
#[derive(Clone)]
pub struct ReducerRegistry(Vec<Arc<dyn Reducer>>);

impl Default for ReducerRegistry {
    /// One reducer for each of the seed's event types that does something.
    fn default() -> Self {
        let all = DefaultReducer::all();
        Self(all.map(|one| Arc::new(one) as Arc<dyn Reducer>).collect())
    }
}

impl std::fmt::Debug for ReducerRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|it| it.name()))
            .finish()
    }
}

impl ReducerRegistry {
    /// Nobody.
    #[must_use]
    pub fn empty() -> Self {
        Self(Vec::new())
    }

    /// Asks one more. Registering it again changes nothing.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use daybook_engine::working::reduce::{DefaultReducer, ReducerRegistry};
    /// let mut registry = ReducerRegistry::empty();
    /// for reducer in DefaultReducer::all() {
    ///     registry.register(Arc::new(reducer));
    /// }
    /// assert_eq!(registry.len(), ReducerRegistry::default().len());
    /// ```
    pub fn register(&mut self, reducer: Arc<dyn Reducer>) {
        if !self.0.iter().any(|known| Arc::ptr_eq(known, &reducer)) {
            self.0.push(reducer);
        }
    }

    /// Asks those of that name no more, and says how many there were.
    pub fn unregister(&mut self, name: &str) -> usize {
        let before = self.0.len();
        self.0.retain(|reducer| reducer.name() != name);
        before - self.0.len()
    }

    /// Who is asked about events of a type.
    pub fn reducers_for<'a>(
        &'a self,
        event_type: &'a str,
    ) -> impl Iterator<Item = &'a Arc<dyn Reducer>> {
        self.0
            .iter()
            .filter(move |reducer| reducer.takes(event_type))
    }

    /// How many are registered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What an event does, by all who take it.
    ///
    /// # Errors
    /// The first one's.
    ///
    /// ```
    /// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
    /// # use daybook_domain::working::{ChunkType, Content, EventType, IdSource, ThreadEvent};
    /// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
    /// # let ids = IdSource::new(&thread, EventSeq(1));
    /// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
    /// use daybook_engine::working::reduce::{ReduceContext, ReducerRegistry};
    /// # let fold = daybook_engine::working::fold::Fold::new(&thread, std::sync::Arc::new(ReducerRegistry::default()));
    /// # let state = fold.beginning(Timestamp(0));
    /// let mut at = ReduceContext { ids, seq: EventSeq(1), now: Timestamp(0) };
    /// let reduced = ReducerRegistry::default().reduce(&state, &event, &mut at)?;
    /// assert_eq!(reduced.chunks[0].content.told(), "Hello!");
    /// # Ok::<(), daybook_domain::BoxError>(())
    /// ```
    pub fn reduce(
        &self,
        state: &State,
        event: &ThreadEvent,
        at: &mut ReduceContext,
    ) -> Result<Reduced, BoxError> {
        let mut all = Reduced::default();
        for reducer in self.reducers_for(&event.kind.word()) {
            let reduced = reducer.reduce(state, event, at)?;
            if all.operations.is_empty() {
                all = reduced;
            } else {
                all.operations.extend(reduced.operations);
                all.chunks.extend(reduced.chunks);
            }
        }
        Ok(all)
    }
}

/// Content of words and fields; fields without a value are left out.
fn content<const N: usize>(text: Option<String>, fields: [(&str, Value); N]) -> Content {
    let fields: Map<String, Value> = fields
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Content::Text { text, fields }
}

#[cfg(test)]
#[path = "reduce_tests.rs"]
mod tests;
