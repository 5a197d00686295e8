use serde_json::json;

use super::*;

/// The names of MindRoom's block, with values of our own.
const WHOLE: &str = r#"
memory:
  backend: file
  auto_flush:
    enabled: true
    flush_interval_seconds: 240
    idle_seconds: 100
    max_dirty_age_seconds: 900
    stale_ttl_seconds: 43200
    max_cross_session_reprioritize: 4
    batch:
      max_sessions_per_cycle: 12
      max_sessions_per_agent_per_cycle: 2
    extractor:
      no_reply_token: "NOTHING"
      max_messages_per_flush: 30
      max_chars_per_flush: 9000
      max_extraction_seconds: 20
      max_retries: 2
      include_memory_context:
        daily_tail_lines: 40
        memory_snippets: 3
        snippet_max_chars: 300
    curation:
      enabled: false
      max_lines_per_pass: 10
      max_passes_per_day: 2
      append_only: true
"#;

fn plan_of(block: &str, file: &str) -> ImportPlan {
    plan(block, "block", file, Path::new("/data/daybook.toml")).expect("it is taken over")
}

fn refusal(block: &str, file: &str) -> String {
    let plan = plan(block, "block", file, Path::new("/data/daybook.toml"));
    format!("{:#}", plan.err().expect("it is refused"))
}

#[track_caller]
fn check(block: &str, file: &str, expected: &str) {
    assert_eq!(plan_of(block, file).text, expected);
}

#[test]
fn a_whole_block_is_accounted_for() {
    let plan = plan_of(WHOLE, "");
    let of = |wanted: fn(&NameOutcome) -> bool| {
        plan.lines
            .iter()
            .filter(|line| wanted(&line.outcome))
            .count()
    };
    assert_eq!(
        of(|outcome| matches!(outcome, NameOutcome::Taken { .. })),
        21
    );
    assert_eq!(plan.lines.len(), 21);
    let suggested = SuggestedProfile {
        name: "mindroom",
        kept: None,
        already: false,
    };
    assert_eq!(plan.profile, Some(suggested));
    insta::assert_snapshot!(plan.text, @r#"
    batch = 12
    batch_per_agent = 2
    curation = "off"
    curation_append_only = "on"
    curation_lines = 10
    curation_passes = 2
    extraction_timeout = "20s"
    idle = "100s"
    known_diary_lines = 40
    known_snippet_chars = 300
    known_snippets = 3
    max_dirty_age = "15m"
    memory = "on"
    no_reply_token = "NOTHING"
    poll = "4m"
    reprioritize = 4
    stale_after = "12h"
    tries = 2
    window_chars = 9000
    window_messages = 30
    profile = "mindroom"
    "#);
}

#[test]
fn what_was_taken_over_is_so_the_next_time() {
    let file = plan_of(WHOLE, "").text;
    let again = plan_of(WHOLE, &file);
    assert_eq!(again.text, file);
    let taken = |line: &PlanLine| matches!(line.outcome, NameOutcome::Taken { .. });
    assert!(!again.lines.iter().any(taken));
    assert_eq!(again.profile.map(|suggested| suggested.already), Some(true));
}

#[test]
fn the_block_of_codex_is_read_from_toml_and_from_yaml() {
    let toml = "model = \"m\"\nprofile = \"work\"\n[memories]\nmax_rollout_age_days = 20\nuse_memories = true\n\
                [mcp_servers.x]\ncommand = \"key-1234\"\n";
    let plan = plan_of(toml, "");
    assert_eq!(
        plan.text,
        "inject = \"on\"\nsweep_max_age = \"20d\"\nprofile = \"codex\"\n"
    );
    let mut unknown: Vec<&str> = plan
        .lines
        .iter()
        .filter(|line| line.outcome == NameOutcome::Unknown)
        .map(|line| line.name.as_str())
        .collect();
    unknown.sort_unstable();
    assert_eq!(unknown, ["mcp_servers", "model", "profile"]);
    let said = serde_json::to_string(&plan.lines).expect("JSON");
    assert!(!said.contains("key-1234"), "{said}");
    let yaml = plan_of("memories:\n  max_rollout_age_days: 20\n", "");
    assert_eq!(yaml.text, plan.text.replace("inject = \"on\"\n", ""));
}

#[test]
fn what_stands_in_the_file_is_kept() {
    let file = "# mine\nidle = \"5m\" # rests long\nprofile = \"codex\"\n\n[memories]\nuse_memories = false\n";
    let block = "memory:\n  auto_flush:\n    idle_seconds: 60\n    idle_second: 1\n";
    let plan = plan_of(block, file);
    assert_eq!(plan.text, file.replace("5m", "1m"));
    let kept = plan.profile.and_then(|suggested| suggested.kept);
    assert_eq!(kept.as_deref(), Some("codex"));
    let outcome: Vec<&NameOutcome> = plan.lines.iter().map(|line| &line.outcome).collect();
    let taken = NameOutcome::Taken {
        setting: "idle",
        value: json!("1m"),
    };
    assert_eq!(outcome.len(), 2);
    assert!(outcome.contains(&&taken) && outcome.contains(&&NameOutcome::Unknown));
}

#[test]
fn another_systems_name_in_the_file_makes_room_for_the_setting() {
    let file = "[memory.auto_flush]\nidle_seconds = 300\n";
    let block = "memory: {auto_flush: {idle_seconds: 60}}";
    check(block, file, "idle = \"1m\"\nprofile = \"mindroom\"\n");
    let file = "[memory.auto_flush]\nidle_seconds = 300\nenabled = true\n";
    let block = "memory: none";
    let both = plan_of(block, file).text;
    let settings =
        SettingsLayer::of_file(&both, Path::new("/data/daybook.toml")).expect("it is read");
    let memory = ALL.iter().find(|setting| setting.name == "memory");
    let memory = memory.and_then(|setting| settings.of(setting));
    assert_eq!(memory.map(|taken| taken.value.clone()), Some(json!("off")));
    assert!(both.contains("idle_seconds = 300"), "{both}");
}

fn refused_names(plan: &ImportPlan) -> Vec<(&str, &str)> {
    let mut refused: Vec<(&str, &str)> = Vec::new();
    for PlanLine { name, outcome } in &plan.lines {
        if let NameOutcome::Refused { why } = outcome {
            refused.push((name, why));
        }
    }
    refused.sort_unstable();
    refused
}

#[test]
fn what_is_refused_is_listed_with_its_reason_and_the_rest_is_taken() {
    let block = "memory:\n  backend: mem0\n  llm: {provider: openai}\n  auto_flush:\n    idle_seconds: -1\n    \
                 batch: {max_sessions_per_cycle: 5}\nmemories: {extract_model: gpt-5.4-mini}\n";
    let plan = plan_of(block, "");
    assert_eq!(plan.text, "batch = 5\n");
    let refused = refused_names(&plan);
    let expected = [
        (
            "memories.extract_model",
            "memories.extract_model = \"gpt-5.4-mini\": write \"none\", or a provider",
        ),
        (
            "memory.auto_flush.idle_seconds",
            "memory.auto_flush.idle_seconds = -1 (it sets idle): not a whole number",
        ),
        (
            "memory.backend",
            "memory.backend = \"mem0\" (it sets memory): a mem0 server keeps the memory of single agents",
        ),
        ("memory.llm", "models are named with their provider"),
    ];
    assert_eq!(refused.len(), expected.len(), "{refused:?}");
    for ((name, why), (expected_name, begins)) in refused.iter().zip(expected) {
        assert!(
            *name == expected_name && why.starts_with(begins),
            "{name}: {why}"
        );
    }
}

#[test]
fn of_another_systems_agents_their_memory_is_taken() {
    let block = "agents:\n  general: {display_name: General, memory_backend: none}\n  helper: {memory: {backend: file}}\n  \
                 old: {memory_backend: mem0, memory_search: {mode: semantic}}\n";
    let file = "# mine\n[agents.general]\nmemory_backend = \"file\"\nextract_model = \"none\"\n";
    let plan = plan_of(block, file);
    assert_eq!(
        plan.text,
        "# mine\n[agents.general]\nextract_model = \"none\"\nmemory = \"off\"\n\n[agents.helper]\nmemory = \"on\"\n"
    );
    let names: Vec<&str> = refused_names(&plan)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names,
        ["agents.old.memory_backend", "agents.old.memory_search"]
    );
    let unknown = plan
        .lines
        .iter()
        .filter(|line| line.outcome == NameOutcome::Unknown);
    assert_eq!(
        unknown.map(|line| line.name.as_str()).collect::<Vec<_>>(),
        ["agents.general.display_name"]
    );
    assert_eq!(plan_of(block, &plan.text).text, plan.text);
}

#[test]
fn what_does_not_go_with_the_rest_of_the_file_is_refused() {
    let block = "memory:\n  auto_flush:\n    retry_cooldown_seconds: 30\n";
    let error = refusal(block, "retry_most = \"5s\"");
    assert_eq!(
        error,
        "nothing was changed: it does not go with the rest of daybook.toml: retry_first = \"30s\" is \
         longer than retry_most = \"5s\", the longest wait; set one of them so that it is not"
    );
}

#[test]
fn what_is_no_block_is_said_to_be_none() {
    assert!(refusal("", "").starts_with("block sets nothing"));
    assert!(refusal("hello", "").starts_with("block sets nothing"));
    assert!(refusal("a: [", "").starts_with("block is neither TOML ("));
}
