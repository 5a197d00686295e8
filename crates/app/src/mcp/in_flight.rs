//! Tracks requests that wait for their answer: bounded in number and bytes, each with an id of its own.

use std::collections::HashMap;

use rmcp::model::RequestId;
use serde_json::{Value, json};

use super::envelope::LineRefusal;

/// Most requests that wait for their answer.
const REQUESTS: usize = 256;
/// Most bytes of their messages.
const BYTES: usize = 4 * super::MESSAGE;

/// The size of each request that was not answered yet.
#[derive(Default)]
pub(super) struct InFlight {
    requests: HashMap<RequestId, usize>,
    bytes: usize,
}

impl InFlight {
    /// Counts a request until it ends, or returns why it is refused.
    pub(super) fn begin(&mut self, id: &RequestId, bytes: usize) -> Result<(), LineRefusal> {
        if self.requests.contains_key(id) {
            let message =
                format!("request {id} is in progress already; give each request an id of its own");
            return Err(LineRefusal::invalid(message, as_json(id)));
        }
        if self.requests.len() >= REQUESTS || self.bytes + bytes > BYTES {
            return Err(LineRefusal::busy(as_json(id)));
        }
        self.requests.insert(id.clone(), bytes);
        self.bytes += bytes;
        Ok(())
    }

    /// Ends a request that was answered or cancelled.
    pub(super) fn end(&mut self, id: &RequestId) {
        self.bytes -= self.requests.remove(id).unwrap_or(0);
    }
}

fn as_json(id: &RequestId) -> Value {
    match id {
        RequestId::Number(number) => json!(number),
        RequestId::String(text) => json!(&**text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> RequestId {
        RequestId::Number(i64::try_from(number).expect("a small number"))
    }

    #[test]
    fn requests_are_bounded_in_number() {
        let mut in_flight = InFlight::default();
        for number in 0..REQUESTS {
            in_flight.begin(&id(number), 10).expect("room");
        }
        assert!(in_flight.begin(&id(REQUESTS), 10).is_err());
        in_flight.end(&id(3));
        in_flight.end(&id(3));
        in_flight.begin(&id(REQUESTS), 10).expect("room");
        assert_eq!(in_flight.bytes, 10 * REQUESTS);
    }

    #[test]
    fn requests_are_bounded_in_bytes_and_have_ids_of_their_own() {
        let mut in_flight = InFlight::default();
        in_flight.begin(&id(1), BYTES).expect("room");
        assert!(in_flight.begin(&id(2), 1).is_err());
        in_flight.end(&id(1));
        in_flight.begin(&id(2), 1).expect("room");
        assert!(in_flight.begin(&id(2), 1).is_err());
    }
}
