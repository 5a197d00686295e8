use super::*;

fn server(program: &str) -> ServerEntry {
    ServerEntry {
        program: program.to_owned(),
        arguments: vec!["mcp".to_owned()],
    }
}

fn ours() -> ServerEntry {
    server("/home/ada/.cargo/bin/daybook")
}

fn check(settle: fn(&str, Option<&ServerEntry>) -> Result<String>, before: &str) -> String {
    let after = settle(before, Some(&ours())).expect("settles");
    assert_eq!(
        settle(&after, Some(&ours())).expect("settles"),
        after,
        "twice is once"
    );
    assert_eq!(
        settle(&after, None).expect("settles"),
        before,
        "through {after}"
    );
    let old = after.replace("/home/ada/.cargo/bin", "/opt/old");
    assert_eq!(
        settle(&old, Some(&ours())).expect("settles"),
        after,
        "an older one is replaced"
    );
    after
}

#[test]
fn json_keeps_all_other_servers_and_bytes() {
    for text in [
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"tides\": {\"command\": \"tides\"}\n  }\n}",
        "{\"projects\":{\"/home/ada/tidepool\":{\"mcpServers\":{}}}}",
    ] {
        let after = check(settle_json, text);
        assert_eq!(
            others_json(text).expect("JSON"),
            others_json(&after).expect("JSON")
        );
    }
}

#[test]
fn toml_keeps_all_other_servers_and_bytes() {
    for text in [
        "",
        "model = \"gpt-5\" # the good one\n",
        "# top\r\n[features]\r\nhooks = true\r\n\r\n# end\r\n",
        "[mcp_servers.tides]\ncommand   = 'tides'\nargs = [\n  \"a\", # one\n]\n\n[tui]\nx = 1\n",
        "mcp_servers.tides.command = \"tides\"\n",
        "mcp_servers = { tides = { command = \"tides\" } }\n",
    ] {
        let after = check(settle_toml, text);
        assert_eq!(
            others_toml(text).expect("TOML"),
            others_toml(&after).expect("TOML")
        );
    }
}

#[test]
fn a_server_of_that_name_that_is_not_ours_stays() {
    let json = "{\"mcpServers\": {\"daybook\": {\"command\": \"npx\", \"args\": [\"diary\"]}}}";
    assert_eq!(settle_json(json, Some(&ours())).expect("settles"), json);
    assert_eq!(settle_json(json, None).expect("settles"), json);
    assert!(is_taken(json, false, &ours()));
    let toml = "[mcp_servers.daybook]\nurl = \"https://example.com/diary\"\n";
    assert_eq!(settle_toml(toml, Some(&ours())).expect("settles"), toml);
    assert!(is_taken(toml, true, &ours()));
}

#[test]
fn places_of_the_wrong_kind_are_refused() {
    assert!(settle_json("{\"mcpServers\": []}", Some(&ours())).is_err());
    assert!(settle_json("{\"mcpServers\": null}", Some(&ours())).is_err());
    assert!(settle_toml("mcp_servers = 3\n", Some(&ours())).is_err());
    assert!(settle_toml("mcp_servers = [\n", Some(&ours())).is_err());
}
