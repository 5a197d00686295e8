use super::*;
use crate::transcripts::detect::TranscriptFormat;
use crate::transcripts::reader_test_support::{self as checks, events, told};

const META: &str = r#"{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"r1","timestamp":"2026-03-01T10:00:00Z","cwd":"/home/ada/engine","source":"cli","git":{"branch":"main","repository_url":"git@github.com:ada/engine.git"}}}"#;

fn enveloped(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-03-01T10:01:00Z","type":"{kind}","payload":{payload}}}"#)
}

fn item(payload: &str) -> String {
    enveloped("response_item", payload)
}

fn message(role: &str, texts: &[&str]) -> String {
    let pieces: Vec<String> = texts
        .iter()
        .map(|text| {
            format!(
                r#"{{"type":"input_text","text":{}}}"#,
                serde_json::to_string(text).unwrap()
            )
        })
        .collect();
    item(&format!(
        r#"{{"type":"message","role":"{role}","content":[{}]}}"#,
        pieces.join(",")
    ))
}

fn call(name: &str, arguments: &str) -> String {
    let arguments = serde_json::to_string(arguments).unwrap();
    item(&format!(
        r#"{{"type":"function_call","name":"{name}","arguments":{arguments},"call_id":"c1"}}"#
    ))
}

fn output(output: &str) -> String {
    item(&format!(
        r#"{{"type":"function_call_output","call_id":"c1","output":{output}}}"#
    ))
}

fn output_text(text: &str) -> String {
    output(&serde_json::to_string(text).unwrap())
}

fn check(lines: &[String], expected: &str) {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    checks::check(&TranscriptFormat::Codex, &lines, expected);
}

fn check_user(text: &str, expected: &str) {
    check(&[message("user", &[text])], expected);
}

#[test]
fn a_command_in_another_folder_names_it() {
    let meta = enveloped("session_meta", r#"{"id":"7f78","cwd":"/home/ada/reef"}"#);
    check(
        &[
            meta,
            call(
                "shell",
                r#"{"command":["git","push"],"workdir":"/home/ada/reef"}"#,
            ),
            call(
                "shell",
                r#"{"command":["bash","-lc","git push"],"workdir":"/home/ada/my kelp"}"#,
            ),
        ],
        "tool_call | git push
         tool_call | cd '/home/ada/my kelp' && git push",
    );
}

#[test]
fn roles_say_who_spoke() {
    check(
        &[
            message("developer", &["be brief"]),
            message("user", &["why is it slow?"]),
            message("assistant", &["It reads twice."]),
            message("system", &["over"]),
        ],
        "harness | be brief
         human | why is it slow?
         assistant | It reads twice.
         harness | over",
    );
}

#[test]
fn the_first_meta_says_whose_events_follow() {
    let other = META.replace("r1", "r0");
    assert_eq!(
        told(&TranscriptFormat::Codex, &[META, &other]),
        ["session r1 root in /home/ada/engine on main of github.com/ada/engine"]
    );
}

#[test]
fn an_event_knows_its_time_line_and_place() {
    let event = &events(
        &TranscriptFormat::Codex,
        &[META, &message("user", &["hello"])],
    )[0];
    assert_eq!((event.at, event.line), (Timestamp(1_772_359_260_000), 2));
    let place = event.place.as_ref().unwrap();
    assert_eq!(
        (&*place.root, place.branch.as_deref()),
        ("/home/ada/engine", Some("main"))
    );
}

#[test]
fn a_turn_in_a_subfolder_stays_in_its_place_and_elsewhere_it_moves() {
    let place = |cwd: &str| {
        let moved = enveloped("turn_context", &format!(r#"{{"cwd":"{cwd}"}}"#));
        let events = events(
            &TranscriptFormat::Codex,
            &[META, &moved, &message("user", &["hello"])],
        );
        let place = events[0].place.clone().unwrap();
        (place.root, place.branch)
    };
    assert_eq!(
        place("/home/ada/engine/src"),
        ("/home/ada/engine".to_owned(), Some("main".to_owned()))
    );
    assert_eq!(place("/home/ada/site"), ("/home/ada/site".to_owned(), None));
}

#[test]
fn an_unreadable_time_is_the_previous_one() {
    let line = message("user", &["hello"]).replace("2026-03-01T10:01:00Z", "[trimmed]");
    assert_eq!(
        events(&TranscriptFormat::Codex, &[META, &line])[0].at,
        Timestamp(1_772_359_200_000)
    );
}

#[test]
fn memory_that_is_off_in_the_host_is_off_here() {
    for mode in ["off", "disabled", "polluted"] {
        let meta = META.replace(
            r#""source""#,
            &format!(r#""memory_mode":"{mode}","source""#),
        );
        assert!(
            told(&TranscriptFormat::Codex, &[&meta])[0].ends_with("memory off"),
            "{mode}"
        );
    }
    let on = META.replace(r#""source""#, r#""memory_mode":"enabled","source""#);
    assert!(!told(&TranscriptFormat::Codex, &[&on])[0].ends_with("memory off"));
}

#[test]
fn a_sub_agents_session_names_its_parent_and_speaks_for_no_person() {
    let spawned = META.replace(
        r#""source":"cli""#,
        r#""source":{"subagent":{"thread_spawn":{"parent_thread_id":"r0","depth":1}}}"#,
    );
    assert!(
        told(&TranscriptFormat::Codex, &[&spawned])[0]
            .starts_with("session r1 sub_agent parent r0")
    );
    check(
        &[spawned, message("user", &["look for callers"])],
        "side assistant | look for callers",
    );
    let review = META.replace(r#""source":"cli""#, r#""source":{"subagent":"review"}"#);
    assert!(told(&TranscriptFormat::Codex, &[&review])[0].starts_with("session r1 sub_agent in"));
    let memory = META.replace(
        r#""source":"cli""#,
        r#""source":{"subagent":"memory_consolidation"}"#,
    );
    assert!(
        told(&TranscriptFormat::Codex, &[&memory])[0].starts_with("session r1 memory_agent in")
    );
}

#[test]
fn what_the_host_writes_in_a_persons_place_is_the_hosts() {
    check_user(
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        "harness | <cwd>/w</cwd>",
    );
    check_user(
        "<user_instructions>be kind</user_instructions>",
        "harness | be kind",
    );
    check_user(
        "<permissions instructions>ask</permissions instructions>",
        "harness | ask",
    );
    check_user(
        "<subagent_notification>ended</subagent_notification>",
        "harness | ended",
    );
    check_user(
        "<turn_aborted>by the user</turn_aborted>",
        "harness | by the user",
    );
    check_user(
        "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nuse make\n</INSTRUCTIONS>",
        "harness | # AGENTS.md instructions for /work⏎⏎<INSTRUCTIONS>⏎use make⏎</INSTRUCTIONS>",
    );
}

#[test]
fn a_persons_words_beside_the_hosts_are_human() {
    check(
        &[message(
            "user",
            &["<environment_context>x</environment_context>", "fix it"],
        )],
        "harness | x
         human | fix it",
    );
    check_user(
        "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nmake it an enum",
        "harness | # Context from my IDE setup:⏎⏎## Active file: a.rs
         human | make it an enum",
    );
}

#[test]
fn images_are_kept_as_what_tells_them_apart() {
    let pieces = r#"{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="},{"type":"input_text","text":"</image>"},{"type":"input_text","text":"like this"}"#;
    check(
        &[item(&format!(
            r#"{{"type":"message","role":"user","content":[{pieces}]}}"#
        ))],
        "human | [image: image/png, 5 bytes, 324ea05bea4d7f75]⏎like this",
    );
}

#[test]
fn the_summary_of_a_compacted_conversation_is_synthetic() {
    let summary = "Another language model started to solve this problem and said: x";
    check_user(summary, &format!("synthetic | {summary}"));
}

#[test]
fn notices_and_thoughts_say_nothing() {
    check(
        &[
            enveloped("event_msg", r#"{"type":"user_message","message":"twice"}"#),
            enveloped(
                "event_msg",
                r#"{"type":"turn_aborted","reason":"interrupted"}"#,
            ),
            enveloped(
                "compacted",
                r#"{"message":"","replacement_history":[{"type":"message","role":"user","content":"twice"}]}"#,
            ),
            enveloped("world_state", r#"{"state":{}}"#),
            item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#),
            item(r#"{"type":"compaction","encrypted_content":"x"}"#),
            item(r#"{"type":"ghost_snapshot","ghost_commit":{}}"#),
            item(r#"{"type":"something_new","text":"x"}"#),
        ],
        "",
    );
}

/// There a developer's message is dropped, too; here it is the host's, from which no preference is taken.
#[test]
fn c49_thoughts_and_pictures_are_dropped_and_work_is_kept() {
    check(
        &[
            message("developer", &["be brief"]),
            item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#),
            item(r#"{"type":"compaction","encrypted_content":"x"}"#),
            item(
                r#"{"type":"image_generation_call","id":"i1","status":"completed","result":"aGk="}"#,
            ),
            call("shell", r#"{"command":["ls"]}"#),
            output_text("a.rs"),
            item(
                r#"{"type":"local_shell_call","call_id":"c2","action":{"type":"exec","command":["ls","-l"]}}"#,
            ),
            item(r#"{"type":"custom_tool_call","call_id":"c3","name":"note","input":"x"}"#),
            item(r#"{"type":"web_search_call","action":{"type":"search","query":"wal"}}"#),
        ],
        "harness | be brief
         tool_call | ls
         tool_result | a.rs
         tool_call | ls -l
         tool_call | x
         tool_call | search wal",
    );
}

/// There what is only the host's is dropped; here it stays as the host's.
#[test]
fn c50_what_the_host_adds_is_taken_out_of_a_persons_words() {
    check_user(
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nuse make\n</INSTRUCTIONS>",
        "harness | # AGENTS.md instructions for /w⏎⏎<INSTRUCTIONS>⏎use make⏎</INSTRUCTIONS>",
    );
    check_user(
        "<skill>\n<name>x</name>\n</skill>",
        "harness | <name>x</name>",
    );
    check(
        &[message(
            "user",
            &["<environment_context>x</environment_context>", "fix it"],
        )],
        "harness | x
         human | fix it",
    );
    check_user(
        "<subagent_notification>ended</subagent_notification>",
        "harness | ended",
    );
}

#[test]
fn c51_who_only_speaks_of_the_hosts_words_is_a_person() {
    for said in [
        "does AGENTS.md say how to build?",
        "<environment_context> is what it sends first",
        "an open <skill> and no end",
    ] {
        check_user(said, &format!("human | {said}"));
    }
}

#[test]
fn an_agents_message_to_another_is_aside() {
    check(
        &[item(
            r#"{"type":"agent_message","author":"a","recipient":"b","content":[{"type":"input_text","text":"done"},{"type":"encrypted_content","encrypted_content":"x"}]}"#,
        )],
        "side assistant | done",
    );
}

#[test]
fn calls_are_shown_as_what_they_do() {
    check(
        &[call("shell", r#"{"command":["bash","-lc","cargo test"]}"#)],
        "tool_call | cargo test",
    );
    check(
        &[item(
            r#"{"type":"local_shell_call","call_id":"c1","action":{"type":"exec","command":["ls","-l"]}}"#,
        )],
        "tool_call | ls -l",
    );
    check(
        &[item(
            r#"{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.rs\n+x\n*** End Patch"}"#,
        )],
        "tool_call | a.rs⏎*** Begin Patch⏎*** Add File: a.rs⏎+x⏎*** End Patch",
    );
    check(
        &[item(
            r#"{"type":"web_search_call","action":{"type":"search","query":"wal mode"}}"#,
        )],
        "tool_call | search wal mode",
    );
    check(
        &[item(
            r#"{"type":"tool_search_call","call_id":"c1","arguments":{"query":"git"}}"#,
        )],
        r#"tool_call | {"query":"git"}"#,
    );
}

#[test]
fn tools_of_servers_have_one_form_of_name_and_text_from_outside_is_marked() {
    for (line, tool, external) in [
        (
            r#"{"type":"function_call","call_id":"c1","namespace":"mcp__wiki__","name":"read","arguments":"{}"}"#,
            "mcp__wiki__read",
            false,
        ),
        (
            r#"{"type":"function_call","call_id":"c1","name":"wiki__read","arguments":"{}"}"#,
            "mcp__wiki__read",
            false,
        ),
        (
            r#"{"type":"function_call","call_id":"c1","name":"mcp__wiki__read","arguments":"{}"}"#,
            "mcp__wiki__read",
            false,
        ),
        (
            r#"{"type":"function_call","call_id":"c1","namespace":"memories","name":"read","arguments":"{}"}"#,
            "read",
            false,
        ),
        (
            r#"{"type":"web_search_call","status":"completed"}"#,
            "web_search",
            true,
        ),
        (
            r#"{"type":"web_search_call","status":"in_progress","action":{"type":"search","query":"wal"}}"#,
            "web_search",
            false,
        ),
    ] {
        let read = events(&TranscriptFormat::Codex, &[&item(line)]);
        assert_eq!(read[0].tool.as_deref(), Some(tool), "{line}");
        assert_eq!(read[0].reports_external, external, "{line}");
    }
    let output = item(
        r#"{"type":"function_call_output","call_id":"c1","contains_external_context":true,"output":"a page"}"#,
    );
    assert!(events(&TranscriptFormat::Codex, &[&output])[0].reports_external);
}

#[test]
fn outputs_of_all_shapes_are_read() {
    check(&[output_text("a.txt")], "tool_result | a.txt");
    check(
        &[output(
            r#"[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]"#,
        )],
        "tool_result | a⏎b",
    );
    check(
        &[output(r#"{"type":"input_text","text":"a"}"#)],
        "tool_result | a",
    );
    check(
        &[output(r#"{"content":"a","success":false}"#)],
        "tool_result | failed | a",
    );
    check(
        &[output(r#"{"content":"a","success":true}"#)],
        "tool_result | succeeded | a",
    );
    check(
        &[output_text(
            r#"{"output":"a","metadata":{"exit_code":0,"duration_seconds":0.1}}"#,
        )],
        "tool_result | succeeded | a",
    );
    check(
        &[output_text(r#"{"output":"a","metadata":{"exit_code":2}}"#)],
        "tool_result | failed | Exit code: 2⏎a",
    );
    check(
        &[output_text("Exit code: 1\nOutput:\nno")],
        "tool_result | failed | Exit code: 1⏎Output:⏎no",
    );
    check(
        &[output_text(
            "Wall time: 1s\nProcess exited with code 0\nOutput:\nok",
        )],
        "tool_result | succeeded | Wall time: 1s⏎Process exited with code 0⏎Output:⏎ok",
    );
    check(
        &[output_text("Output:\nExit code: 1")],
        "tool_result | Output:⏎Exit code: 1",
    );
    check(
        &[output_text("apply_patch verification failed: x")],
        "tool_result | failed | apply_patch verification failed: x",
    );
}

#[test]
fn a_call_that_a_person_refused_did_not_fail() {
    check(
        &[output_text("exec command rejected by user")],
        "tool_result | refused | exec command rejected by user",
    );
    check(
        &[output_text("patch rejected by user")],
        "tool_result | refused | patch rejected by user",
    );
}

#[test]
fn a_result_knows_its_tool() {
    let lines = [call("shell", r#"{"command":"ls"}"#), output_text("a")];
    let events = events(&TranscriptFormat::Codex, &[&lines[0], &lines[1]]);
    assert_eq!(events[1].tool.as_deref(), Some("shell"));
    assert_ne!(events[0].id, events[1].id);
}

#[test]
fn c67_answers_to_questions_are_human_and_secrets_are_not_kept() {
    let asked = r#"{"questions":[{"id":"q1","question":"Which store?"},{"id":"q2","question":"Password?","isSecret":true}]}"#;
    let answered = r#"{"answers":{"q1":{"answers":["SQLite","user_note: for now"]},"q2":{"answers":["hunter2"]}}}"#;
    let lines = [call("request_user_input", asked), output_text(answered)];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let said: Vec<String> = events(&TranscriptFormat::Codex, &lines[..])
        .iter()
        .map(checks::shown)
        .collect();
    assert_eq!(
        said[1..],
        [
            "tool_result | succeeded | User has answered your questions",
            "human | Q: Which store?⏎A: SQLite, for now"
        ]
    );
}

#[test]
fn a_rollback_retracts_the_events_of_its_turns() {
    let lines = [
        META.to_owned(),
        message("user", &["one"]),
        message("assistant", &["1"]),
        message("user", &["two"]),
        call("shell", r#"{"command":"rm x"}"#),
        output_text("gone"),
        enveloped(
            "event_msg",
            r#"{"type":"thread_rolled_back","num_turns":1}"#,
        ),
        message("user", &["three"]),
        enveloped(
            "event_msg",
            r#"{"type":"thread_rolled_back","num_turns":99}"#,
        ),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&TranscriptFormat::Codex, &lines);
    let ids = |events: &[RawEvent]| events.iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(events[5].origin, Origin::Retraction);
    assert_eq!(
        (&*events[5].text, &events[5].retracts),
        ("", &ids(&events[2..5]))
    );
    let rest = [ids(&events[..2]), ids(&events[6..7])].concat();
    assert_eq!(events[7].retracts, rest);
}

#[test]
fn an_answer_is_part_of_the_turn_in_which_it_was_asked_for() {
    let asked = r#"{"questions":[{"id":"q1","question":"Which store?"}]}"#;
    let answered = r#"{"answers":{"q1":{"answers":["SQLite"]}}}"#;
    let lines = [
        message("user", &["one"]),
        call("request_user_input", asked),
        output_text(answered),
        enveloped(
            "event_msg",
            r#"{"type":"thread_rolled_back","num_turns":1}"#,
        ),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let retraction = events(&TranscriptFormat::Codex, &lines).pop().unwrap();
    assert_eq!(retraction.retracts.len(), 4);
}

#[test]
fn a_rollback_of_nothing_says_nothing() {
    check(
        &[enveloped(
            "event_msg",
            r#"{"type":"thread_rolled_back","num_turns":1}"#,
        )],
        "",
    );
}

#[test]
fn what_is_said_again_is_said_again() {
    let yes = message("user", &["yes"]);
    let done = message("assistant", &["done"]);
    let events = events(
        &TranscriptFormat::Codex,
        &[META, &yes, &done, &done, &yes, &done],
    );
    let mut ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5);
}

#[test]
fn a_fork_repeats_its_parents_events_and_then_goes_its_own_way() {
    let parent = [
        META.to_owned(),
        message("user", &["one"]),
        message("user", &["two"]),
    ];
    let fork_meta = META
        .replace(r#""id":"r1""#, r#""id":"r2","forked_from_id":"r1""#)
        .replace("10:00:00", "12:00:00");
    let copied = message("user", &["one"]).replace("10:01:00", "12:00:00");
    let own = message("user", &["two"]).replace("10:01:00", "12:05:00");
    let ids = |lines: &[&str]| {
        events(&TranscriptFormat::Codex, lines)
            .iter()
            .map(|event| event.id)
            .collect::<Vec<_>>()
    };
    let parent: Vec<&str> = parent.iter().map(String::as_str).collect();
    let (parent, fork) = (ids(&parent), ids(&[&fork_meta, META, &copied, &own]));
    assert_eq!(parent[0], fork[0]);
    assert_ne!(parent[1], fork[1]);
    assert!(
        told(&TranscriptFormat::Codex, &[&fork_meta])[0]
            .starts_with("session r2 root forked from r1")
    );
}

#[test]
fn rollouts_from_before_envelopes_are_read() {
    let lines = [
        r#"{"id":"r1","timestamp":"2025-06-01T10:00:00.000Z","instructions":null,"git":{"branch":"main"}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"hello"}]}"#,
        r#"{"type":"function_call","id":"fc1","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}"#,
        r#"{"record_type":"state"}"#,
    ];
    checks::check(
        &TranscriptFormat::Codex,
        &lines,
        "human | hello\n tool_call | ls",
    );
    assert_eq!(told(&TranscriptFormat::Codex, &lines), ["session r1 root"]);
}

#[test]
fn a_rollout_without_meta_is_named_after_its_file() {
    assert_eq!(
        told(&TranscriptFormat::Codex, &[&message("user", &["hello"])]),
        ["session unnamed root"]
    );
}

#[test]
fn what_daybook_added_is_never_learned_from() {
    let ours = "<daybook-memory>tabs</daybook-memory>";
    check_user(ours, &format!("recalled | {ours}"));
    check_user(&format!("{ours} use spaces"), "human | use spaces");
}

#[test]
fn a_bad_line_is_reported_without_quoting_it() {
    let (_, bad) = checks::read(
        &TranscriptFormat::Codex,
        &[META, r#"{"type":"response_item","payload":{"secret"#],
    );
    assert_eq!(bad, [(2, BadLine("the JSON ends too soon".to_owned()))]);
}
