//! Reducers: turn an event into operations on a state.
//!
//! Reducers are pure: the same state and event give the same operations, with the same ids. So a thread that
//! is folded again from its log has the same state.
//!
//! Not here: applying operations (`domain::working`), the log.

mod conversation;
mod defaults;
mod memory;
mod todos;

use std::sync::Arc;

use daybook_domain::working::{
    Chunk, ChunkContent, ChunkType, IdSource, Operation, OperationKind, ThreadEvent, ThreadState,
};
use daybook_domain::{BoxError, EventSeq, Timestamp};
use serde_json::{Map, Value};

pub use defaults::DefaultReducer;

/// The place and time at which an event is reduced, and the ids for new items.
///
/// ```
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # use daybook_domain::working::{ChunkType, ChunkContent, EventType, IdSource, ThreadEvent};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let ids = IdSource::new(&thread, EventSeq(1));
/// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
/// use daybook_domain::working::OperationKind;
/// use daybook_working::reduce::ReduceContext;
/// let mut at = ReduceContext { ids, seq: EventSeq(1), now: Timestamp(0) };
/// let chunk = at.chunk(ChunkType::Environment, ChunkContent::text("It rains."), &event);
/// assert_eq!(chunk.metadata.custom["eventType"], "USER_MESSAGE");
/// let delete = at.operation(OperationKind::Delete { chunk_id: chunk.id });
/// assert_eq!(delete.timestamp, Timestamp(0));
/// ```
#[derive(Debug, Clone)]
pub struct ReduceContext {
    /// Ids for new operations and chunks.
    pub ids: IdSource,
    /// The event's place in the log.
    pub seq: EventSeq,
    /// The time at which it was stored.
    pub now: Timestamp,
}

impl ReduceContext {
    /// Makes an operation at this place and time.
    pub fn operation(&mut self, kind: OperationKind) -> Operation {
        Operation::new(&mut self.ids, kind, self.now)
    }

    /// Makes a chunk of that type, whose metadata name its event.
    pub fn chunk(&mut self, kind: ChunkType, content: ChunkContent, event: &ThreadEvent) -> Chunk {
        let mut chunk = Chunk::new(self.ids.chunk(), kind, content, self.now);
        let custom = &mut chunk.metadata.custom;
        custom.insert(
            "eventType".to_owned(),
            event.kind.name().into_owned().into(),
        );
        custom.insert("seq".to_owned(), self.seq.0.into());
        custom.insert("timestamp".to_owned(), event.timestamp.0.into());
        chunk
    }
}

/// The effect of an event: operations, and the chunks that they bring.
///
/// ```
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # use daybook_domain::working::{ChunkType, ChunkContent, EventType, IdSource, ThreadEvent};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let ids = IdSource::new(&thread, EventSeq(1));
/// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
/// use daybook_working::reduce::{ReduceContext, Reduced};
/// let mut at = ReduceContext { ids, seq: EventSeq(1), now: Timestamp(0) };
/// let rain = at.chunk(ChunkType::Environment, ChunkContent::text("It rains."), &event);
/// let wind = at.chunk(ChunkType::Environment, ChunkContent::text("The wind is up."), &event);
/// let calm = wind.derive(&mut at.ids, Timestamp(0));
///
/// let mut reduced = Reduced::add(&mut at, rain);
/// reduced.push(&mut at, wind.clone());
/// reduced.update(&mut at, &wind, calm);
/// assert_eq!((reduced.operations.len(), reduced.chunks.len()), (3, 3));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reduced {
    /// Applied in this order, all or none.
    pub operations: Vec<Operation>,
    /// The new chunks of the operations.
    pub chunks: Vec<Arc<Chunk>>,
}

impl Reduced {
    /// The effect of adding one chunk.
    pub fn add(at: &mut ReduceContext, chunk: Chunk) -> Self {
        let mut reduced = Self::default();
        reduced.push(at, chunk);
        reduced
    }

    /// Adds one more chunk.
    pub fn push(&mut self, at: &mut ReduceContext, chunk: Chunk) {
        let kind = OperationKind::Add {
            chunk_id: chunk.id.clone(),
            position: None,
        };
        self.bring(at, kind, chunk);
    }

    /// Replaces a chunk by one that was derived from it.
    pub fn update(&mut self, at: &mut ReduceContext, old: &Chunk, new: Chunk) {
        let kind = OperationKind::Update {
            target_chunk_id: old.id.clone(),
            new_chunk_id: new.id.clone(),
        };
        self.bring(at, kind, new);
    }

    fn bring(&mut self, at: &mut ReduceContext, kind: OperationKind, mut chunk: Chunk) {
        let operation = at.operation(kind);
        chunk.metadata.source_operation = Some(operation.id.clone());
        self.operations.push(operation);
        self.chunks.push(Arc::new(chunk));
    }
}

/// Turns events into operations.
///
/// ```
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # use daybook_domain::working::{ChunkType, ChunkContent, EventType, IdSource, ThreadEvent};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let ids = IdSource::new(&thread, EventSeq(1));
/// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
/// use daybook_domain::BoxError;
/// use daybook_domain::working::ThreadState;
/// use daybook_working::reduce::{ReduceContext, Reduced, Reducer, ReducerRegistry};
///
/// /// Keeps the reports of a weather station.
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
///     fn reduce(&self, _: &ThreadState, event: &ThreadEvent, at: &mut ReduceContext) -> Result<Reduced, BoxError> {
///         let EventType::Custom { fields, .. } = &event.kind else {
///             return Ok(Reduced::default());
///         };
///         let report = fields.get("report").and_then(|report| report.as_str());
///         let report = ChunkContent::text(report.ok_or("a report without words")?);
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
    /// The reducer's name, for observers and errors.
    fn name(&self) -> &str;

    /// Whether the reducer handles events of that type.
    fn takes(&self, event_type: &str) -> bool;

    /// Returns the effect of `event` on `state`.
    ///
    /// # Errors
    /// Any error: the event then has no effect, its caller gets the error, and it stays in the log.
    fn reduce(
        &self,
        state: &ThreadState,
        event: &ThreadEvent,
        at: &mut ReduceContext,
    ) -> Result<Reduced, BoxError>;
}

/// The registered reducers. All that handle an event's type are called, in the order of registration, each
/// with the same state. An event that no reducer handles has no effect.
///
/// ```
/// use daybook_working::reduce::ReducerRegistry;
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
    /// One reducer for each of Team9's event types that has an effect.
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
    /// A registry without reducers.
    #[must_use]
    pub fn empty() -> Self {
        Self(Vec::new())
    }

    /// Registers a reducer. Registering it again changes nothing.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use daybook_working::reduce::{DefaultReducer, ReducerRegistry};
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

    /// Removes the reducers of that name, and returns how many there were.
    pub fn unregister(&mut self, name: &str) -> usize {
        let before = self.0.len();
        self.0.retain(|reducer| reducer.name() != name);
        before - self.0.len()
    }

    /// The reducers that handle events of a type.
    pub fn reducers_for<'a>(
        &'a self,
        event_type: &'a str,
    ) -> impl Iterator<Item = &'a Arc<dyn Reducer>> {
        self.0
            .iter()
            .filter(move |reducer| reducer.takes(event_type))
    }

    /// The number of registered reducers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no reducer is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the joint effect of an event, from all reducers that handle it.
    ///
    /// # Errors
    /// The error of the first reducer that fails.
    ///
    /// ```
    /// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
    /// # use daybook_domain::working::{ChunkType, ChunkContent, EventType, IdSource, ThreadEvent};
    /// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
    /// # let ids = IdSource::new(&thread, EventSeq(1));
    /// # let event = ThreadEvent::new(EventType::user("Hello!"), Timestamp(0));
    /// use daybook_working::reduce::{ReduceContext, ReducerRegistry};
    /// # let fold = daybook_working::fold::Fold::new(&thread, std::sync::Arc::new(ReducerRegistry::default()));
    /// # let state = fold.beginning(Timestamp(0));
    /// let mut at = ReduceContext { ids, seq: EventSeq(1), now: Timestamp(0) };
    /// let reduced = ReducerRegistry::default().reduce(&state, &event, &mut at)?;
    /// assert_eq!(reduced.chunks[0].content.to_text(), "Hello!");
    /// # Ok::<(), daybook_domain::BoxError>(())
    /// ```
    pub fn reduce(
        &self,
        state: &ThreadState,
        event: &ThreadEvent,
        at: &mut ReduceContext,
    ) -> Result<Reduced, BoxError> {
        let mut all = Reduced::default();
        for reducer in self.reducers_for(&event.kind.name()) {
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

/// Content of a text and fields; fields without a value are left out.
fn content<const N: usize>(text: Option<String>, fields: [(&str, Value); N]) -> ChunkContent {
    let fields: Map<String, Value> = fields
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    ChunkContent::Text { text, fields }
}

#[cfg(test)]
#[path = "reduce_tests.rs"]
mod tests;
