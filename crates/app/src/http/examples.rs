//! An example of each request that has a body. They are published, and the tests send them to a server.

use serde_json::{Value, json};

/// The example for the route with this operation id.
pub(super) fn example(operation: &str) -> Option<Value> {
    let example = match operation {
        "appendEvents" => json!({
            "agent": "harbour-bot",
            "session": "2026-03-02-tides",
            "events": [
                {"id": "msg-17", "role": "user", "text": "please always write the test first"},
                {"id": "msg-18", "role": "assistant", "text": "I will write the test first."},
            ],
        }),
        "reportTrigger" => json!({
            "agent": "harbour-bot", "session": "2026-03-02-tides", "what": "end",
        }),
        "recallMemories" => json!({"question": "how large is the tide cache", "limit": 5}),
        "rememberText" | "addMemory" => json!({"text": "deploys happen on Tuesdays"}),
        "updateMemory" => json!({"text": "deploys happen on Wednesdays"}),
        "writeFile" => json!({"text": "# Tides\n\n- high at noon\n"}),
        "restoreFile" => json!({"at": "2026-02-04"}),
        "runMemoryTool" => json!({
            "command": "create", "path": "/memories/tides.md", "file_text": "# Tides\n",
        }),
        "writeEntity" => json!({
            "name": "Tidepool", "description": "the service that draws tide charts",
        }),
        "writeRecord" => json!({"content": "deploys happen on Tuesdays"}),
        "forgetMemory" => json!({"memory": "deploys happen on Tuesdays"}),
        "editLine" => json!({
            "line": "deploys happen on Tuesdays", "words": "deploys happen on Wednesdays",
        }),
        "purgeMemory" => json!({"memory": "deploys happen on Tuesdays", "dry_run": true}),
        "createThread" => json!({"name": "2026-03-02-tides", "agent": "harbour-bot"}),
        "dispatchEvent" => json!({"type": "USER_MESSAGE", "content": "how high is the tide"}),
        "compactThread" => json!({"chunks": []}),
        "getThreadContext" => json!({"max_tokens": 8192, "wire": "openai"}),
        _ => return None,
    };
    Some(example)
}
