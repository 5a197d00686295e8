//! An event of a thread, its time, and how it is serialized.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::event::EventType;
use crate::time::Timestamp;

/// Something that happened in a thread.
///
/// ```
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::{EventType, ThreadEvent};
/// let hello = ThreadEvent::new(EventType::user("Hello!"), Timestamp(1)).with_id("message-17");
/// assert_eq!(hello.id(), Some("message-17"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadEvent {
    /// What.
    pub kind: EventType,
    /// When, by its host's clock, in milliseconds since 1970 UTC.
    pub timestamp: Timestamp,
    /// Further fields of its host. `eventId` makes a repeated dispatch one event.
    pub metadata: Map<String, Value>,
}

impl ThreadEvent {
    /// An event without metadata.
    ///
    /// ```
    /// use daybook_domain::Timestamp;
    /// use daybook_domain::working::{EventType, ThreadEvent};
    /// let hello = ThreadEvent::new(
    ///     EventType::UserMessage { content: "Hello, agent!".to_owned(), attachments: vec![] },
    ///     Timestamp(1),
    /// );
    /// let json = serde_json::to_string(&hello).unwrap();
    /// assert_eq!(json, r#"{"content":"Hello, agent!","timestamp":1,"type":"USER_MESSAGE"}"#);
    /// assert_eq!(serde_json::from_str::<ThreadEvent>(&json).unwrap(), hello);
    /// ```
    #[must_use]
    pub fn new(kind: EventType, timestamp: Timestamp) -> Self {
        Self {
            kind,
            timestamp,
            metadata: Map::new(),
        }
    }

    /// The event, by that name: dispatched again under it, it is the same event.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.metadata
            .insert("eventId".to_owned(), Value::String(id.into()));
        self
    }

    /// Its host's name for it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.metadata.get("eventId").and_then(Value::as_str)
    }
}

impl Serialize for ThreadEvent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let mut event = match &self.kind {
            EventType::Custom { name, fields } => {
                let mut event = fields.clone();
                event.insert("type".to_owned(), name.clone().into());
                event
            }
            kind => match serde_json::to_value(kind).map_err(S::Error::custom)? {
                Value::Object(event) => event,
                _ => return Err(S::Error::custom("an event is an object")),
            },
        };
        event.insert("timestamp".to_owned(), self.timestamp.0.into());
        if !self.metadata.is_empty() {
            event.insert("metadata".to_owned(), self.metadata.clone().into());
        }
        event.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ThreadEvent {
    /// A type that Team9 does not have is the host's own; one that it has must have its fields.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut event = Map::deserialize(deserializer)?;
        let timestamp = match event.remove("timestamp") {
            None => return Err(D::Error::missing_field("timestamp")),
            Some(timestamp) => serde_json::from_value(timestamp)
                .map_err(|error| D::Error::custom(format!("timestamp: {error}")))?,
        };
        let metadata = match event.remove("metadata") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(metadata)) => metadata,
            Some(_) => return Err(D::Error::custom("metadata is an object")),
        };
        let name = match event.get("type").and_then(Value::as_str) {
            None => return Err(D::Error::missing_field("type")),
            Some(name) => name.to_owned(),
        };
        let kind = if EventType::WORDS.contains(&name.as_str()) {
            serde_json::from_value(Value::Object(event))
                .map_err(|error| D::Error::custom(format!("{name}: {error}")))?
        } else {
            event.remove("type");
            EventType::Custom {
                name,
                fields: event,
            }
        };
        Ok(Self {
            kind,
            timestamp,
            metadata,
        })
    }
}
