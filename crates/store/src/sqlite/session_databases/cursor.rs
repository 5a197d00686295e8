//! The key-value database of Cursor: a conversation and its bubbles, each of which is a message or a call.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::super::connection::Fault;
use super::{Layout, SessionLines, parsed};

pub(super) const LAYOUT: Layout = Layout {
    tables: &[("cursorDiskKV", &["key", "value"])],
    sessions: "SELECT substr(key, 14) FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY rowid",
    write_lines,
};

/// Fields of a bubble that are read; the others repeat files, rules and what the editor showed.
const BUBBLE: &[&str] = &[
    "type",
    "bubbleId",
    "text",
    "createdAt",
    "toolFormerData",
    "workspaceUris",
];

fn write_lines(
    database: &Connection,
    session: &str,
    lines: &mut SessionLines,
) -> Result<(), Fault> {
    let mut stored = database.prepare("SELECT value FROM cursorDiskKV WHERE key = ?1")?;
    let mut read = |key: String| -> Result<Value, Fault> {
        match stored.query([key])?.next()? {
            Some(row) => parsed(row, 0),
            None => Ok(Value::Null),
        }
    };
    let composer = read(format!("composerData:{session}"))?;
    // Older versions keep the bubbles within the conversation, newer ones each under a key of its own.
    let mut bubbles: Vec<Value> = Vec::new();
    bubbles.extend(
        composer["conversation"]
            .as_array()
            .into_iter()
            .flatten()
            .cloned(),
    );
    let headers = composer["fullConversationHeadersOnly"].as_array();
    for header in headers.into_iter().flatten() {
        if let Some(id) = header["bubbleId"].as_str() {
            bubbles.push(read(format!("bubbleId:{session}:{id}"))?);
        }
    }
    let folder = folder_of(&composer, &bubbles);
    lines.push(&json!({"composer": {
        "id": session,
        "name": composer["name"],
        "createdAt": composer["createdAt"],
        "folder": folder,
        "branch": composer["createdOnBranch"],
        "isSubagent": composer["subagentInfo"].is_object(),
    }}))?;
    for bubble in &bubbles {
        let fields = BUBBLE
            .iter()
            .map(|field| ((*field).to_owned(), bubble[field].clone()));
        let bubble = Value::Object(fields.filter(|(_, value)| !value.is_null()).collect());
        lines.push(&json!({ "bubble": bubble }))?;
    }
    Ok(())
}

/// The folder of the conversation: its workspace's, or the first that a bubble names.
fn folder_of(composer: &Value, bubbles: &[Value]) -> Option<String> {
    let workspace = composer["workspaceIdentifier"]["uri"]["fsPath"].as_str();
    let named = bubbles
        .iter()
        .find_map(|bubble| bubble["workspaceUris"][0].as_str());
    workspace.or(named).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_support::{database, lines, recognized};

    #[test]
    fn bubbles_stand_in_the_order_of_the_conversation() {
        let file = database(
            r#"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
               INSERT INTO cursorDiskKV VALUES
               ('bubbleId:c1:b2', '{"type":2,"bubbleId":"b2","text":"Two.","codebaseContextChunks":[1]}'),
               ('bubbleId:c1:b1', '{"type":1,"bubbleId":"b1","text":"count the owls","workspaceUris":["file:///home/ada/tidepool"]}'),
               ('composerData:c1', '{"name":"Owls","createdAt":1775030400000,"fullConversationHeadersOnly":[{"bubbleId":"b1"},{"bubbleId":"b2"},{"bubbleId":"gone"}]}'),
               ('composerData:c2', NULL);"#,
        );
        assert_eq!(recognized(&file).sessions().expect("ids"), ["c1", "c2"]);
        let expected = [
            json!({"composer": {"id": "c1", "name": "Owls", "createdAt": 1_775_030_400_000_i64, "folder": "file:///home/ada/tidepool", "branch": null, "isSubagent": false}}),
            json!({"bubble": {"type": 1, "bubbleId": "b1", "text": "count the owls", "workspaceUris": ["file:///home/ada/tidepool"]}}),
            json!({"bubble": {"type": 2, "bubbleId": "b2", "text": "Two."}}),
            json!({"bubble": {}}),
        ];
        assert_eq!(lines(&file, "c1"), expected);
        assert_eq!(lines(&file, "c2").len(), 1);
    }
}
