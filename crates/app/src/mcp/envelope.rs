//! Parses a line as a message of JSON-RPC, and builds the error for a line that is none.
//!
//! Every line that could be a request is answered, under its id where one can be read. An invalid notification, or
//! a response without a request, is ignored, as the protocol demands.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, JsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Map, Value, json};

use super::MESSAGE;
use super::id_scanner::IdScanner;

/// Not JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON, and no request.
const INVALID_REQUEST: i32 = -32600;
/// A request whose parameters are not those of its method.
const INVALID_PARAMS: i32 = -32602;
/// Of the range that servers may use: too much at once.
const BUSY: i32 = -32000;
/// The byte order mark of UTF-8, which some tools put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// The methods with parameters that this server answers; all others are unknown.
const KNOWN: [&str; 12] = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
];

/// The result of parsing a line.
pub(super) enum ReceivedLine {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    Refused(LineRefusal),
    Ignored,
}

/// The error answer to a line.
#[derive(Debug, PartialEq)]
pub(super) struct LineRefusal {
    code: i32,
    message: String,
    id: Value,
}

impl LineRefusal {
    pub(super) fn invalid(message: impl Into<String>, id: Value) -> Self {
        Self {
            code: INVALID_REQUEST,
            message: message.into(),
            id,
        }
    }

    pub(super) fn too_long(id: Value) -> Self {
        let message = format!("the message is longer than {MESSAGE} bytes; send less at once");
        Self::invalid(message, id)
    }

    pub(super) fn busy(id: Value) -> Self {
        Self {
            code: BUSY,
            message: "too many requests at once; wait for an answer and ask again".to_owned(),
            id,
        }
    }

    /// The answer.
    pub(super) fn answer(&self) -> Value {
        let error = json!({"code": self.code, "message": self.message});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error})
    }

    /// The answer as a line.
    pub(super) fn line(&self) -> Vec<u8> {
        format!("{}\n", self.answer()).into_bytes()
    }
}

/// Parses a line.
pub(super) fn read(line: &[u8]) -> ReceivedLine {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return ReceivedLine::Ignored;
    }
    let refused =
        |message: String| ReceivedLine::Refused(LineRefusal::invalid(message, Value::Null));
    match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => read_message(message),
        Ok(Value::Array(_)) => {
            refused("several messages at once are not taken; send one at a time".to_owned())
        }
        Ok(_) => refused("a message is a JSON object".to_owned()),
        Err(error) => ReceivedLine::Refused(LineRefusal {
            code: PARSE_ERROR,
            message: format!("the message is no JSON: {error}"),
            id: IdScanner::id_in(line),
        }),
    }
}

fn read_message(message: Map<String, Value>) -> ReceivedLine {
    let method = message.get("method").cloned();
    let is_answer = message.contains_key("result") || message.contains_key("error");
    if method.is_none() && is_answer {
        return ReceivedLine::Ignored;
    }
    let id = message.get("id").cloned();
    let invalid = |message: &str| {
        let known = id.clone().filter(is_id).unwrap_or(Value::Null);
        ReceivedLine::Refused(LineRefusal::invalid(message, known))
    };
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return invalid("an id is a string or an integer");
    }
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return invalid("a message has \"jsonrpc\": \"2.0\"");
    }
    let Some(Value::String(method)) = method else {
        return invalid("a message names its method");
    };
    let parsed = serde_json::from_value(Value::Object(message));
    match (parsed, id) {
        (Ok(message), id) if id.is_none() || !is_misread(&message, &method) => {
            ReceivedLine::Message(Box::new(message))
        }
        (Ok(_) | Err(_), Some(id)) => ReceivedLine::Refused(LineRefusal {
            code: INVALID_PARAMS,
            message: format!("the parameters do not fit {method}"),
            id,
        }),
        (Ok(_) | Err(_), None) => ReceivedLine::Ignored,
    }
}

/// Whether the library parsed a known method as a custom request, because its parameters do not fit.
fn is_misread(message: &RxJsonRpcMessage<RoleServer>, method: &str) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return true;
    };
    matches!(request.request, ClientRequest::CustomRequest(_)) && KNOWN.contains(&method)
}

/// Integers and strings are ids. The library reads integers up to 64 bits with a sign.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], code: i32, id: Value) {
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        match read(line) {
            ReceivedLine::Refused(refusal) => {
                assert_eq!(
                    (refusal.code, &refusal.id),
                    (code, &id),
                    "{shown}: {refusal:?}"
                );
            }
            ReceivedLine::Message(message) => panic!("{shown} was read as {message:?}"),
            ReceivedLine::Ignored => panic!("{shown} was ignored"),
        }
    }

    #[test]
    fn what_is_no_json_is_answered_under_its_id() {
        let deep = format!("{{\"id\":4,\"x\":{}", "[".repeat(200_000));
        for (line, id) in [
            (
                &br#"{"id":1,"method":"ping","params":{"x":"\ud800"}}"#[..],
                json!(1),
            ),
            (br#"{"id":2,"method":"ping","params":{"x":NaN}}"#, json!(2)),
            (br#"{"id":2,"x":1e999}"#, json!(2)),
            (b"{\"id\":\"a\",\"x\":\"\xff\xfe\"}", json!("a")),
            (deep.as_bytes(), json!(4)),
            (b"{", Value::Null),
            (b"hello", Value::Null),
            (b"\x00\x01", Value::Null),
            (
                br#"{"jsonrpc":"2.0","id":5,"method":"ping"} trailing"#,
                json!(5),
            ),
        ] {
            check(line, PARSE_ERROR, id);
        }
    }

    #[test]
    fn json_that_is_no_request_is_answered() {
        for (line, id) in [
            (&b"null"[..], Value::Null),
            (b"[]", Value::Null),
            (
                br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                Value::Null,
            ),
            (br#"{"jsonrpc":"2.0"}"#, Value::Null),
            (br#"{"jsonrpc":"2.0","id":1}"#, json!(1)),
            (br#"{"jsonrpc":"2.0","id":1,"method":7}"#, json!(1)),
            (br#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
            (br#"{"id":3,"method":"ping"}"#, json!(3)),
            (
                br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                Value::Null,
            ),
            (
                br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                Value::Null,
            ),
            (
                br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
                Value::Null,
            ),
        ] {
            check(line, INVALID_REQUEST, id);
        }
    }

    #[test]
    fn parameters_that_do_not_fit_are_answered() {
        for params in ["[]", "7", r#"{"name":3}"#, "{}"] {
            let line =
                format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{params}}}"#);
            check(line.as_bytes(), INVALID_PARAMS, json!(9));
        }
    }

    #[test]
    fn messages_are_read_and_what_expects_no_answer_gets_none() {
        for line in [
            &br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..],
            b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
            br#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert!(matches!(read(line), ReceivedLine::Message(_)));
        }
        for line in [
            &b""[..],
            b" \r",
            br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            br#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
        ] {
            assert!(matches!(read(line), ReceivedLine::Ignored));
        }
    }
}
