use daybook_domain::ObservationKind;

use super::*;

/// The words, the context and the folder of each entry.
fn shown(kind: HomeKind, path: &str, text: &str) -> Vec<(String, String)> {
    let entries = memory_entries(kind, path, text).into_iter();
    entries
        .map(|entry| (entry.text, entry.context.unwrap_or_default()))
        .collect()
}

#[track_caller]
fn check(kind: HomeKind, path: &str, text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> = expected
        .iter()
        .map(|(words, context)| ((*words).to_owned(), (*context).to_owned()))
        .collect();
    assert_eq!(shown(kind, path, text), expected, "{path}");
    let entries = memory_entries(kind, path, text);
    let unchanged: Vec<(HomeEntry, EntryChange)> = entries
        .into_iter()
        .map(|entry| (entry, EntryChange::Unchanged))
        .collect();
    assert_eq!(edited(text, &unchanged), text, "{path}");
}

const HANDBOOK: &str = "# Task Group: tidepool tides\nscope: the tide tables\napplies_to: cwd=/home/ada/tidepool; reuse_rule=same repo\n\n## Task 1: tables\n\n### rollout_summary_files\n- rollout_summaries/a.md (cwd=/home/ada/tidepool)\n\n### keywords\n- tides, tables\n\n## User preferences\n- Write the test\n  first [Task 1]\n- Never deploy on Fridays [Task 1]\n\n## Failures and how to do differently\n\nThe cache was stale,\nso clear it.\n";

#[test]
fn the_handbook_of_codex_is_its_items_and_paragraphs_without_pointers() {
    let path = "memories/MEMORY.md";
    let expected = [
        (
            "Write the test first [Task 1]",
            "Task Group: tidepool tides · User preferences",
        ),
        (
            "Never deploy on Fridays [Task 1]",
            "Task Group: tidepool tides · User preferences",
        ),
        (
            "The cache was stale, so clear it.",
            "Task Group: tidepool tides · Failures and how to do differently",
        ),
    ];
    let entries = memory_entries(HomeKind::Codex, path, HANDBOOK);
    let folders: Vec<Option<&str>> = entries
        .iter()
        .map(|entry| entry.folder.as_deref())
        .collect();
    assert_eq!(folders, [Some("/home/ada/tidepool"); 3]);
    let kinds: Vec<ObservationKind> = entries.iter().map(|entry| entry.kind).collect();
    let preference = ObservationKind::Preference;
    assert_eq!(kinds, [preference, preference, ObservationKind::Fix]);
    check(HomeKind::Codex, path, HANDBOOK, &expected);
}

#[test]
fn an_edit_and_a_removal_leave_every_other_byte() {
    let path = "memories/MEMORY.md";
    let mut entries = memory_entries(HomeKind::Codex, path, HANDBOOK).into_iter();
    let reworded = EntryChange::Reworded("Write the test last".to_owned());
    let changes = [
        (entries.next().expect("an item"), reworded),
        (entries.next().expect("an item"), EntryChange::Removed),
    ];
    let expected = HANDBOOK
        .replace("Write the test\n  first [Task 1]", "Write the test last")
        .replace("- Never deploy on Fridays [Task 1]\n", "");
    assert_eq!(edited(HANDBOOK, &changes), expected);
}

#[test]
fn raw_memories_belong_to_the_folder_and_the_time_of_their_thread() {
    let text = "# Raw Memories\n\nMerged stage-1 raw memories (latest first):\n\n## Thread `0198a1`\nupdated_at: 2026-03-01T12:00:00Z\ncwd: /home/ada/tidepool\nrollout_path: /home/ada/.codex/sessions/a.jsonl\nrollout_summary_file: a.md\n\n- The port is 8123\n\n## Thread `0198a2`\nupdated_at: 2026-03-02T12:00:00Z\ncwd: /home/ada/kelp\n\nKelp grows fast.\n\n";
    let path = "memories/raw_memories.md";
    let entries = memory_entries(HomeKind::Codex, path, text);
    let folders: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.folder.as_deref())
        .collect();
    assert_eq!(folders, ["/home/ada/tidepool", "/home/ada/kelp"]);
    let times: Vec<i64> = entries
        .iter()
        .filter_map(|entry| Some(entry.at?.0))
        .collect();
    assert_eq!(times, [1_772_366_400_000, 1_772_452_800_000]);
    check(
        HomeKind::Codex,
        path,
        text,
        &[("The port is 8123", ""), ("Kelp grows fast.", "")],
    );
}

#[test]
fn a_line_of_mindroom_is_an_entry_and_each_fact_of_a_flush_one_of_its_own() {
    let text = "# Memory\n\n- [id=m_20260301120000_0a1b2c3d] Ada likes tea\n- [id=m_20260302120000_0a1b2c3e] [auto_flush:s1:1772452800] The port is 8123 | Kelp grows fast\nplain words\n";
    let path = "agents/helper/workspace/memory/2026-03-01.md";
    let expected = [
        "Ada likes tea",
        "The port is 8123",
        "Kelp grows fast",
        "plain words",
    ];
    check(
        HomeKind::Mindroom,
        path,
        text,
        &expected.map(|words| (words, "")),
    );
    let entries = memory_entries(HomeKind::Mindroom, path, text);
    let removed = |nth: usize| (entries[nth].clone(), EntryChange::Removed);
    let kept = |nth: usize| (entries[nth].clone(), EntryChange::Unchanged);
    let one = edited(text, &[removed(1), kept(2)]);
    assert_eq!(one, text.replace("The port is 8123 | ", ""));
    let both = edited(text, &[removed(1), removed(2)]);
    assert_eq!(both.lines().count(), text.lines().count() - 1);
}

#[test]
fn the_owner_of_a_file_of_mindroom_follows_from_its_path() {
    let check = |path: &str, owner: HomeOwner| {
        assert_eq!(super::owner(HomeKind::Mindroom, path), owner, "{path}");
    };
    let agent = HomeOwner::Agent("helper".to_owned());
    check("agents/helper/workspace/MEMORY.md", agent.clone());
    check("memory_files/agent_helper/MEMORY.md", agent);
    let team = HomeOwner::Team("alpha+beta".to_owned());
    check("agents/alpha/memory_files/team_alpha+beta/MEMORY.md", team);
    let room = HomeOwner::Room("lobby_example.org".to_owned());
    check(
        "memory_files/room_lobby_example.org/daily/2026-03-01.md",
        room,
    );
}

#[test]
fn a_block_of_daycare_has_its_context_and_its_time() {
    let text = "## 2026-03-01 12:00\n- **Text**: Ada likes tea\nwithout milk\n- **Context**: said at breakfast\n\n## 2026-03-02 12:00\n- **Text**: The port is 8123\n- **Context**: from the logs\n\n";
    let path = "users/ada/memory/observations.md";
    check(
        HomeKind::Daycare,
        path,
        text,
        &[
            ("Ada likes tea without milk", "said at breakfast"),
            ("The port is 8123", "from the logs"),
        ],
    );
    let first = memory_entries(HomeKind::Daycare, path, text).swap_remove(0);
    let rest = edited(text, &[(first, EntryChange::Removed)]);
    assert!(text.ends_with(&rest) && rest.starts_with("## 2026-03-02"));
}

#[test]
fn an_entity_of_daycare_is_its_records_below_its_name() {
    let text = "---\nname: \"Ada\"\ndescription: \"a biologist\"\n---\n# ada\n\n## tea\nLikes it without milk.\n";
    let expected = [("Likes it without milk.", "Ada · tea")];
    check(HomeKind::Daycare, "memory/ada.md", text, &expected);
}

#[test]
fn new_memories_are_parsed_back_as_they_were_rendered() {
    for (kind, owner) in [
        (HomeKind::Codex, HomeOwner::Person),
        (HomeKind::Mindroom, HomeOwner::Agent("helper".to_owned())),
        (HomeKind::Daycare, HomeOwner::User("ada".to_owned())),
    ] {
        let memory = NewMemory {
            at: daybook_domain::Timestamp(1_772_366_400_000),
            owner: owner.clone(),
            words: "Kelp grows fast".to_owned(),
            context: None,
            id: 7,
        };
        let files = new_entries(kind, &[memory], false);
        let (path, text) = files.first_key_value().expect("a file");
        let entries = memory_entries(kind, path, text);
        let shown: Vec<(&str, Option<i64>)> = entries
            .iter()
            .map(|entry| (entry.text.as_str(), entry.at.map(|at| at.0)))
            .collect();
        assert_eq!(
            shown,
            [("Kelp grows fast", Some(1_772_366_400_000))],
            "{path}"
        );
        assert_eq!(super::owner(kind, path), owner, "{path}");
    }
}
