//! An answer of the scripted provider as it is sent.

use daybook_domain::model::Usage;
use serde_json::Value;

/// An answer as it is sent.
#[derive(Debug, Default)]
pub(super) struct ScriptedResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    /// The connection ends after this many bytes; `None` where the whole body is sent.
    pub(super) sent: Option<usize>,
    pub(super) hangs_up: bool,
    /// The usage that it reports.
    pub(super) usage: Usage,
}

pub(super) fn json_response(status: u16, body: Vec<u8>) -> ScriptedResponse {
    ScriptedResponse {
        status,
        headers: vec![("content-type", "application/json".to_owned())],
        body,
        ..ScriptedResponse::default()
    }
}

pub(super) fn error_response(status: u16, body: Value) -> ScriptedResponse {
    json_response(status, body.to_string().into_bytes())
}
