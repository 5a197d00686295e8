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

const JSON: ServerFormat = json("mcpServers", EntryLayout::Typed);

const fn json(servers: &'static str, entry: EntryLayout) -> ServerFormat {
    ServerFormat::Json(JsonLayout { servers, entry })
}

/// The settings without our server, parsed.
fn others(format: ServerFormat, text: &str) -> Value {
    let mut root = format.parse(text).expect("settings");
    format.strip(&mut root);
    root
}

fn check(format: ServerFormat, before: &str) -> String {
    let after = format.settle(before, Some(&ours())).expect("settles");
    assert_eq!(others(format, before), others(format, &after));
    assert_eq!(
        format.settle(&after, Some(&ours())).expect("settles"),
        after,
        "twice is once"
    );
    assert_eq!(
        format.settle(&after, None).expect("settles"),
        before,
        "through {after}"
    );
    let old = after.replace("/home/ada/.cargo/bin", "/opt/old");
    assert_eq!(
        format.settle(&old, Some(&ours())).expect("settles"),
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
        check(JSON, text);
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
        check(ServerFormat::Toml, text);
    }
}

#[test]
fn each_host_has_its_own_shape_of_json() {
    let remarked = "{\n  // mine\n  \"theme\": \"One Dark\",\n  \"KEY\": {\n    \"tides\": {\"url\": \"http://127.0.0.1:1\"}, // near\n  },\n}\n";
    for (servers, entry) in [
        ("mcpServers", EntryLayout::Plain),
        ("mcpServers", EntryLayout::WithTools),
        ("servers", EntryLayout::Typed),
        ("context_servers", EntryLayout::Plain),
        ("mcp", EntryLayout::CommandList),
    ] {
        let format = json(servers, entry);
        let after = check(format, &remarked.replace("KEY", servers));
        let root = format.parse(&after).expect("settings");
        assert_eq!(read(&root[servers][NAME]), Some(ours()), "{after}");
        check(format, "{\"a\":1}");
    }
}

#[test]
fn yaml_keeps_all_other_extensions_comments_and_bytes() {
    for text in [
        "# mine\nGOOSE_MODEL: tide-1   # the good one\n\nextensions:\n  developer:\n    enabled: true   # yes\n    type: builtin\n\n  # near the reef\n  tides:\n    cmd: tides\n    args:\n    - near\n    type: stdio\n\nslash_commands:\n- command: run-tests\n",
        "extensions:\n    memory:\n        enabled: false\n",
        "GOOSE_MODEL: tide-1\n",
        "a: 1\r\nextensions:\r\n  tides:\r\n    cmd: tides\r\n# end\r\n",
        "notes: |\n  extensions:\n    daybook:\n",
    ] {
        let after = check(ServerFormat::Yaml, text);
        let root = ServerFormat::Yaml.parse(&after).expect("settings");
        assert_eq!(read(&root["extensions"][NAME]), Some(ours()), "{after}");
    }
}

#[test]
fn yaml_as_goose_writes_it_again_is_still_ours() {
    let text = "extensions:\n  daybook:\n    args:\n    - mcp\n    available_tools: []\n    cmd: /home/ada/.cargo/bin/daybook\n    enabled: false\n    type: stdio\n  tides:\n    cmd: tides\n";
    let settle = |wanted: Option<&ServerEntry>| ServerFormat::Yaml.settle(text, wanted);
    assert_eq!(settle(Some(&ours())).expect("settles"), text);
    assert_eq!(
        settle(None).expect("settles"),
        "extensions:\n  tides:\n    cmd: tides\n"
    );
}

#[test]
fn yaml_of_another_layout_is_refused() {
    for (text, says) in [
        (
            "extensions: {tides: {cmd: tides}}\n",
            "not a block of lines",
        ),
        ("extensions: [\n", "it is not YAML"),
        ("- a\n", "other than a mapping"),
    ] {
        let error = ServerFormat::Yaml
            .settle(text, Some(&ours()))
            .expect_err("refused");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn a_server_of_that_name_that_is_not_ours_stays() {
    for (format, text) in [
        (
            JSON,
            "{\"mcpServers\": {\"daybook\": {\"command\": \"npx\", \"args\": [\"diary\"]}}}",
        ),
        (
            ServerFormat::Toml,
            "[mcp_servers.daybook]\nurl = \"https://example.com/diary\"\n",
        ),
        (
            ServerFormat::Yaml,
            "extensions:\n  daybook:\n    cmd: diary\n",
        ),
    ] {
        assert_eq!(format.settle(text, Some(&ours())).expect("settles"), text);
        assert_eq!(format.settle(text, None).expect("settles"), text);
        assert!(format.is_taken(text, &ours()));
    }
}

#[test]
fn places_of_the_wrong_kind_are_refused() {
    for (format, text) in [
        (JSON, "{\"mcpServers\": []}"),
        (JSON, "{\"mcpServers\": null}"),
        (ServerFormat::Toml, "mcp_servers = 3\n"),
        (ServerFormat::Toml, "mcp_servers = [\n"),
    ] {
        assert!(format.settle(text, Some(&ours())).is_err(), "{text}");
    }
}
