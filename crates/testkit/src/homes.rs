//! Generated homes of Codex, MindRoom and Daycare: folders as these systems write them, with invented memories of ada.
//!
//! Each is written from the description of its system, and holds every kind of file that it has.

use std::fs;
use std::path::Path;

use serde_json::json;

/// The thread of the session that Codex has learned from.
pub const CODEX_THREAD: &str = "0198c3f0-7a10-7b60-8c11-2f0d6a4e9b01";
/// A thread that Codex has not learned from yet.
pub const CODEX_NEW_THREAD: &str = "0198c3f0-7a10-7b60-8c11-2f0d6a4e9b02";

fn write(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The rollout of a thread in which ada says `words`.
#[must_use]
pub fn codex_rollout(thread: &str, words: &str) -> String {
    let line = |second: u32, kind: &str, payload: serde_json::Value| {
        let timestamp = format!("2026-03-01T12:00:{second:02}.120Z");
        let line = json!({"timestamp": timestamp, "type": kind, "payload": payload});
        format!("{line}\n")
    };
    let message = |role: &str, part: &str, text: &str| {
        json!({
            "type": "message",
            "role": role,
            "content": [{"type": part, "text": text}],
        })
    };
    let meta = json!({
        "id": thread,
        "timestamp": "2026-03-01T12:00:00.120Z",
        "cwd": "/home/ada/tidepool",
        "originator": "codex_cli_rs",
        "cli_version": "0.99.0",
        "source": "cli",
    });
    [
        line(0, "session_meta", meta),
        line(1, "response_item", message("user", "input_text", words)),
        line(
            2,
            "response_item",
            message("assistant", "output_text", "I will do so."),
        ),
    ]
    .concat()
}

/// The path of a thread's rollout below the home.
#[must_use]
pub fn codex_rollout_path(thread: &str) -> String {
    format!("sessions/2026/03/01/rollout-2026-03-01T12-00-00-{thread}.jsonl")
}

/// Writes a home of Codex, whose one session it has learned from.
pub fn write_codex_home(home: &Path) {
    let words = "please always write the test first, and never deploy on Fridays";
    write(
        home,
        &codex_rollout_path(CODEX_THREAD),
        &codex_rollout(CODEX_THREAD, words),
    );
    let stem = "2026-03-01T12-00-00-a1B2-tide_tables";
    let rollout = codex_rollout_path(CODEX_THREAD);
    let raw = format!(
        "# Raw Memories\n\nMerged stage-1 raw memories (stable ascending thread-id order):\n\n\
         ## Thread `{CODEX_THREAD}`\nupdated_at: 2026-03-01T12:00:02Z\ncwd: /home/ada/tidepool\n\
         rollout_path: /home/ada/.codex/{rollout}\nrollout_summary_file: {stem}.md\n\n\
         # Tide tables\n- The tables are built by the nightly job of the harbour host\n\
         - Ada wants the table of Lisbon checked by hand\n\n"
    );
    write(home, "memories/raw_memories.md", &raw);
    let account = format!(
        "thread_id: {CODEX_THREAD}\nupdated_at: 2026-03-01T12:00:02Z\n\
         rollout_path: /home/ada/.codex/{rollout}\ncwd: /home/ada/tidepool\ngit_branch: main\n\n\
         Ada asked for tide tables that are built at night.\n"
    );
    write(
        home,
        &format!("memories/rollout_summaries/{stem}.md"),
        &account,
    );
    let handbook = format!(
        "# Task Group: tide tables\n\nscope: the tables of tidepool\n\
         applies_to: cwd=/home/ada/tidepool; reuse_rule=same checkout\n\n\
         ## Task 1: nightly build\n\n### rollout_summary_files\n\n\
         - rollout_summaries/{stem}.md (cwd=/home/ada/tidepool, thread_id={CODEX_THREAD})\n\n\
         ### keywords\n\n- tides, harbour, nightly\n\n## User preferences\n\n\
         - Ada wants the test written\n  before the code [Task 1]\n\
         - No deploy happens on a Friday [Task 1]\n\n## Reusable knowledge\n\n\
         - The harbour host listens on port 8123 [Task 1]\n\n\
         ## Failures and how to do differently\n\n\
         - The stale cache broke the Lisbon table; clear it first [Task 1]\n"
    );
    write(home, "memories/MEMORY.md", &handbook);
    let summary = "v1\n\n## User Profile\n\nAda is a marine biologist who writes her tools herself.\n\n\
                   ## User preferences\n\n- Short answers without praise\n\n## General Tips\n\n\
                   - Charts are drawn with the kelp palette\n\n## What's in Memory\n\n### tidepool\n\n\
                   #### 2026-03-01\n\n- tide tables: tides, harbour\n";
    write(home, "memories/memory_summary.md", summary);
    let note = "memories/extensions/ad_hoc/notes/2026-03-02T08-00-00-boat.md";
    write(home, note, "The boat is moored at pier four.\n");
    let skill =
        "---\nname: tide-table\ndescription: builds one table\n---\n\nRun the nightly job.\n";
    write(home, "memories/skills/tide-table/SKILL.md", skill);
    write(home, "config.toml", "model = \"sample\"\n");
}

/// Writes a storage folder of MindRoom with an agent, a team and the ledger of its flushes.
pub fn write_mindroom_home(home: &Path) {
    let curated = "# Memory\n\n- [id=m_20260301120000_0a1b2c3d] Ada keeps her charts in the blue folder\n\
                   - [id=m_20260301120500_0a1b2c3e] The lighthouse of Kelp Bay is dark on Mondays\n";
    write(home, "agents/helper/workspace/MEMORY.md", curated);
    let day = "- [id=m_20260302090000_1a1b2c3d] [auto_flush:room-one:1772442000] Ada prefers green tea | \
               The pump needs a new seal\nOtters were seen at the pier\n";
    write(home, "agents/helper/workspace/memory/2026-03-02.md", day);
    write(home, "agents/helper/workspace/SOUL.md", "Be kind.\n");
    let team =
        "# Memory\n\n- [id=m_20260301130000_2a1b2c3d] The two agents split the night watch\n";
    write(
        home,
        "agents/helper/memory_files/team_helper+scout/MEMORY.md",
        team,
    );
    let ledger = "{\n  \"version\": 1,\n  \"sessions\": {\n    \"helper:room-one\": {\n      \
                  \"agent_name\": \"helper\",\n      \"session_id\": \"room-one\",\n      \
                  \"worker_key\": null,\n      \"execution_identity\": null,\n      \"dirty\": false,\n      \
                  \"in_flight\": false,\n      \"first_dirty_at\": 1772441000,\n      \
                  \"last_seen_at\": 1772442000,\n      \"last_session_updated_at\": 1772442000,\n      \
                  \"last_flushed_session_updated_at\": 1772442000,\n      \"next_attempt_at\": null,\n      \
                  \"consecutive_failures\": 0,\n      \"priority_boost_at\": null,\n      \
                  \"dirty_revision\": 3\n    }\n  }\n}\n";
    write(home, "memory_flush_state.json", ledger);
    let rows = json!([{
        "session_id": "room-one",
        "session_type": "agent",
        "agent_id": "helper",
        "session_data": {},
        "runs": [{
            "run_id": "run-one",
            "created_at": 1_772_441_900,
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "please always write the report in metric units"},
                {"role": "assistant", "content": "I will."},
            ],
        }],
        "created_at": 1_772_441_000,
        "updated_at": 1_772_442_000,
    }]);
    write(home, "sessions/helper.json", &format!("{rows:#}\n"));
    write(home, "notes.txt", "not of the memory\n");
}

/// Writes Daycare's `users` folder with the memory of ada.
pub fn write_daycare_home(home: &Path) {
    let log = "## 2026-03-01 12:00\n- **Text**: Ada books morning flights alone\n\
               - **Context**: she corrected the Lisbon booking\n\n\
               ## 2026-03-02 09:30\n- **Text**: The seal feeder jams in the cold\n\
               - **Context**: the tool failed twice\nand worked after warming\n\n\n";
    write(home, "users/ada/memory/observations.md", log);
    let entity = "---\nname: \"Otter House\"\ndescription: \"where the otters live\"\n---\n# otters\n\n\
                  ## feeding\nThe otters eat at seven.\n\n## keeper\nBo holds the keys.\n";
    write(home, "users/ada/memory/otters.md", entity);
    write(
        home,
        "users/ada/memory/INDEX.md",
        "# Memory Index\n\n- otters\n",
    );
    let node = "---\ntitle: Boats\ndescription: what floats\nparents:\n  - __root__\nversion: 2\n\
                createdAt: 1772366400000\nupdatedAt: 1772452800000\n---\n\nThe dinghy leaks at the stern.\n";
    write(home, "users/ada/memory/graph/k2boats.md", node);
    write(
        home,
        "users/ada/memory/graph/k2boats.v1.md",
        "The dinghy is new.\n",
    );
    write(home, "users/ada/skills/tides/SKILL.md", "Read the table.\n");
    write(home, "users/ada/avatar.txt", "not of the memory\n");
}
