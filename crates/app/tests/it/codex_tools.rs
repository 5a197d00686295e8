//! The tools by which Codex's agents look through their memories, over MCP.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::mcp::McpClient;

const NOTE: &str = "2026-03-02T08-15-00-harbour.md";

#[test]
fn files_are_listed_read_searched_and_notes_are_added() {
    let place = TestPlace::new();
    let mut client = McpClient::connect(&place, &["--tools", "codex-memories"]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].take();
    let names: Vec<&Value> = tools
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["list", "read", "search", "add_ad_hoc_note"]);
    assert_eq!(client.call_ok("list", json!({})).1["entries"], json!([]));
    assert!(!place.root().exists(), "nothing was to be kept");

    let secret = format!("gh{}_{}", 'p', "1aB3dE5gH7jK9".repeat(3));
    let note =
        format!("Moor at the northern quay\nThe key is {secret}\nNever at the southern quay");
    let given = json!({"filename": NOTE, "note": note});
    assert_eq!(
        client.call_ok("add_ad_hoc_note", given.clone()).1,
        json!({})
    );
    let again = client.call_error("add_ad_hoc_note", given);
    assert!(again.starts_with("AlreadyExists"), "{again}");
    let path = format!("extensions/ad_hoc/notes/{NOTE}");
    let kept =
        fs::read_to_string(place.root().join("users/ada/memory").join(&path)).expect("a note");
    assert!(
        kept.starts_with("Moor at") && !kept.contains(&secret),
        "{kept}"
    );
    let found = place.stdout(&["recall", "at which quay do we moor"]);
    assert!(found.contains("northern quay"), "{found}");

    let (_, listed) = client.call_ok("list", json!({}));
    let folder = json!({"path": "extensions", "entry_type": "directory"});
    assert!(
        listed["entries"]
            .as_array()
            .expect("a list")
            .contains(&folder),
        "{listed}"
    );
    let (_, listed) = client.call_ok("list", json!({"path": "extensions/ad_hoc/notes"}));
    assert_eq!(
        listed["entries"],
        json!([{"path": path, "entry_type": "file"}])
    );
    let (_, lines) = client.call_ok(
        "read",
        json!({"path": path, "line_offset": 3, "max_lines": 1}),
    );
    assert_eq!(lines["content"], "Never at the southern quay\n");
    let queries = json!({"queries": ["QUAY", "northern"], "case_sensitive": false, "match_mode": {"type": "all_on_same_line"}});
    let (_, found) = client.call_ok("search", queries);
    let first = &found["matches"][0];
    assert_eq!(
        (&first["path"], &first["match_line_number"]),
        (&json!(path), &json!(1)),
        "{found}"
    );

    for (tool, arguments, why) in [
        (
            "read",
            json!({"path": "../../../daybook.db"}),
            "InvalidPath",
        ),
        ("read", json!({"path": "extensions"}), "NotFile"),
        ("read", json!({"path": "none.md"}), "NotFound"),
        ("read", json!({"path": ".git/config"}), "NotFound"),
        ("list", json!({"cursor": "99"}), "InvalidCursor"),
        ("list", json!({"path": "none"}), "NotFound"),
        ("search", json!({"queries": []}), "EmptyQuery"),
        ("search", json!({"query": "tide"}), "unknown field"),
        (
            "add_ad_hoc_note",
            json!({"filename": "note.md", "note": "x"}),
            "InvalidFilename",
        ),
    ] {
        let error = client.call_error(tool, arguments.clone());
        assert!(error.contains(why), "{tool} {arguments}: {error}");
    }
    client.close();
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_folder() {
    let place = TestPlace::new();
    place.stdout(&["remember", "--everywhere", "moor at the northern quay"]);
    let memory = place.root().join("users/ada/memory");
    fs::write(place.root().join("outside.md"), "a word of others\n").expect("a file");
    std::os::unix::fs::symlink(place.root().join("outside.md"), memory.join("inside.md"))
        .expect("a link");
    let mut client = McpClient::connect(&place, &["--tools", "codex-memories"]);
    let refused = client.call_error("read", json!({"path": "inside.md"}));
    assert!(refused.contains("InvalidPath"), "{refused}");
    let (_, listed) = client.call_ok("list", json!({}));
    assert!(!listed.to_string().contains("inside.md"), "{listed}");
    let (_, found) = client.call_ok("search", json!({"queries": ["word of others"]}));
    assert_eq!(found["matches"], json!([]));
    client.close();
}
