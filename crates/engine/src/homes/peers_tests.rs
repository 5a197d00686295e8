use std::fs;
use std::path::Path;

use super::*;

/// Each entry in one line: its author, its kind, its words, and its context.
fn shown(kind: HomeKind, path: &str, text: &str) -> Vec<String> {
    let entries = memory_entries(kind, path, text).into_iter();
    let shown = entries.map(|entry| {
        let author = match entry.author {
            EntryAuthor::Person => "person",
            EntryAuthor::Agent => "agent",
            EntryAuthor::Outside => "outside",
        };
        let context = entry.context.unwrap_or_default();
        format!("{author} {:?}: {} ({context})", entry.kind, entry.text)
    });
    shown.collect()
}

#[test]
fn a_claude_md_is_its_persons_rules_and_facts() {
    let text = "# Tidepool\n\n@docs/more.md\n\n## Rules\n- Never deploy on Fridays\n- The tide tables are in `data/`\n\n<!-- nothing -->\n";
    let expected = [
        "person Preference: Never deploy on Fridays (Tidepool · Rules)",
        "person Fact: The tide tables are in `data/` (Tidepool · Rules)",
    ];
    assert_eq!(shown(HomeKind::Claude, "CLAUDE.md", text), expected);
}

#[test]
fn a_folder_of_a_projects_memory_is_the_agents() {
    let list = "# Memory\n- [Deploys](deploys.md) — when they happen\n- Ada works in Lisbon\n";
    let path = "projects/-home-ada-tidepool/memory/MEMORY.md";
    let expected = ["agent Fact: Ada works in Lisbon (Memory)"];
    assert_eq!(shown(HomeKind::Claude, path, list), expected);
    let one = "---\nname: deploys\ndescription: when deploys happen\ntype: feedback\n---\n\nDeploys happen on Mondays.\n";
    let expected = ["agent Preference: Deploys happen on Mondays. (when deploys happen)"];
    assert_eq!(shown(HomeKind::Claude, "deploys.md", one), expected);
}

#[test]
fn a_graph_is_its_observations_and_relations() {
    let text = concat!(
        r#"{"type":"entity","name":"Ada","entityType":"person","observations":["keeps bees","likes tea"]}"#,
        "\nno JSON\n",
        r#"{"type":"relation","from":"Ada","to":"Tidepool","relationType":"works_on"}"#,
        "\n",
    );
    let expected = [
        "agent Fact: Ada: keeps bees (person)",
        "agent Fact: Ada: likes tea (person)",
        "agent Fact: Ada works on Tidepool ()",
    ];
    let path = "memory.jsonl";
    assert_eq!(shown(HomeKind::ServerMemory, path, text), expected);
    let entries = memory_entries(HomeKind::ServerMemory, path, text);
    let lines: Vec<u32> = entries.iter().map(|entry| entry.line).collect();
    assert_eq!(lines, [1, 1, 3]);
    let more = format!("{text}\n{{\"type\":\"entity\"}}\n");
    let refused = [
        (2, "no JSON".to_owned()),
        (5, "neither an entity nor a relation".to_owned()),
    ];
    assert_eq!(unreadable_lines(HomeKind::ServerMemory, &more), refused);
    assert_eq!(unreadable_lines(HomeKind::Claude, &more), []);
}

const EXPORT: &str = r#"{"results": [
  {"id": "m-1", "memory": "Keeps bees", "user_id": "ada", "categories": ["hobby"], "created_at": "2026-04-01T08:00:00Z"},
  {"id": "m-2", "memory": "Likes tea", "user_id": "ben", "updated_at": "2026-04-02T08:00:00Z"},
  {"id": "m-3", "memory": 7}
]}"#;

#[test]
fn an_export_of_several_users_is_each_ones_own() {
    let of = |path: &str| shown(HomeKind::Mem0, path, EXPORT);
    assert_eq!(of("export.json#ada"), ["agent Fact: Keeps bees (hobby)"]);
    assert_eq!(of("export.json#ben"), ["agent Fact: Likes tea ()"]);
    let ada = HomeOwner::User("ada".to_owned());
    assert_eq!(owner(HomeKind::Mem0, "export.json#ada"), ada);
    assert_eq!(owner(HomeKind::Mem0, "export.json"), HomeOwner::Person);
    let entries = memory_entries(HomeKind::Mem0, "export.json", EXPORT).into_iter();
    let at: Vec<_> = entries
        .map(|entry| (entry.line, entry.at.map(|at| at.0)))
        .collect();
    let expected = [(2, Some(1_775_030_400_000)), (3, Some(1_775_116_800_000))];
    assert_eq!(at, expected);
}

#[test]
fn a_note_of_basic_memory_is_its_observations_and_relations() {
    let text = "---\ntitle: Bees\npermalink: farm/bees\n---\n\n# Bees\n\n## Observations\n- [decision] Hives face south #garden\n- [fact] Two hives\n\n## Relations\n- belongs_to [[Garden]]\n";
    let expected = [
        "agent Decision: Hives face south #garden (Bees · Bees · Observations)",
        "agent Fact: Two hives (Bees · Bees · Observations)",
        "agent Fact: Bees belongs to Garden (Bees · Bees · Relations)",
    ];
    assert_eq!(shown(HomeKind::BasicMemory, "farm/bees.md", text), expected);
}

#[test]
fn a_persons_note_is_theirs_and_a_clipped_page_is_not() {
    let check = |path: &str, text: &str, expected: &str| {
        assert_eq!(shown(HomeKind::Obsidian, path, text), [expected]);
    };
    let own = "Hives face [[Compass|south]].\n";
    check("bees.md", own, "person Fact: Hives face south. (bees)");
    let page = "---\nsource: https://example.org/bees\n---\nAlways run this.\n";
    check("page.md", page, "outside Fact: Always run this. (page)");
    let clipped = "Bees dance.\n";
    check("Clippings/a.md", clipped, "outside Fact: Bees dance. (a)");
    // A line of dashes that nothing closes is no head.
    let dashes = "---\nsource: my garden\n";
    check("b.md", dashes, "person Fact: --- source: my garden (b)");
}

#[test]
fn what_came_from_outside_is_nobodys_decision() {
    let page = "---\nurl: https://example.org\n---\n- [decision] Use tabs\n";
    let expected = ["outside Fact: Use tabs (page)"];
    assert_eq!(shown(HomeKind::BasicMemory, "page.md", page), expected);
}

#[test]
fn a_system_is_told_by_what_its_files_hold() {
    let place = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
    };
    let check = |path: &str, expected: Option<(HomeKind, &[&str])>| {
        let home = recognize(&place.path().join(path));
        let found = home.as_ref().map(|home| {
            let files = home.paths(|role| role == FileRole::Memory);
            (home.kind, files.collect::<Vec<_>>())
        });
        let expected = expected.map(|(kind, files)| (kind, files.to_vec()));
        assert_eq!(found, expected, "{path}");
    };
    write("shop/CLAUDE.md", "- Use tabs\n");
    check("shop/CLAUDE.md", Some((HomeKind::Claude, &["CLAUDE.md"])));
    check("shop", None);
    let memory = "projects/-home-ada-shop/memory/MEMORY.md";
    write(&format!("claude/{memory}"), "- Tabs\n");
    write("claude/CLAUDE.md", "- Use tabs\n");
    check("claude", Some((HomeKind::Claude, &["CLAUDE.md", memory])));
    let graph = r#"{"type":"entity","name":"Ada","entityType":"person","observations":[]}"#;
    write("graph.jsonl", graph);
    check(
        "graph.jsonl",
        Some((HomeKind::ServerMemory, &["graph.jsonl"])),
    );
    write("export.json", EXPORT);
    let parts = ["export.json#ada", "export.json#ben"];
    check("export.json", Some((HomeKind::Mem0, &parts)));
    write("basic/bees.md", "---\npermalink: bees\n---\n");
    check("basic", Some((HomeKind::BasicMemory, &["bees.md"])));
    write("vault/.obsidian/app.json", "{}");
    write("vault/bees.md", "Bees dance.\n");
    check("vault", Some((HomeKind::Obsidian, &["bees.md"])));
    write("chat.json", r#"[{"role":"user","content":"\"memory\""}]"#);
    check("chat.json", None);
    write("chat.jsonl", r#"{"type":"user","sessionId":"s1"}"#);
    check("chat.jsonl", None);
}

#[test]
fn a_memory_of_a_project_names_its_folder() {
    let check = |root: &str, path: &str, expected: Option<&str>| {
        let home = Home {
            kind: HomeKind::Claude,
            path: root.into(),
            root: Path::new(root).to_owned(),
            files: Vec::new(),
        };
        assert_eq!(folder(&home, path).as_deref(), expected, "{root}/{path}");
    };
    let own = "/home/ada/.claude";
    check(own, "CLAUDE.md", None);
    let memory = "projects/-home-ada-shop/memory";
    check(own, &format!("{memory}/tabs.md"), Some("/home/ada/shop"));
    check(
        &format!("{own}/{memory}"),
        "tabs.md",
        Some("/home/ada/shop"),
    );
    check("/home/ada/shop", "CLAUDE.md", Some("/home/ada/shop"));
}
