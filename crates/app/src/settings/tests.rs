//! The effect of values, and the values that are refused.

use std::path::Path;
use std::time::Duration;

use daybook_engine::profile::Ledger;
use proptest::prelude::*;
use serde_json::json;

use super::kind::{NameUnit, ValueKind};
use super::names::NameMeaning;
use super::rules_file::RulesFile;
use super::*;

/// Compares a published document with the committed one; `UPDATE_DOCS=1` writes it.
#[track_caller]
pub(crate) fn compare_with_committed(path: &str, text: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, text).expect("the document is written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == text,
        "{path} is not what is published; review the change after \
         UPDATE_DOCS=1 cargo test -p daybook-app committed"
    );
}

pub(super) fn read(flags: &[&str], environment: &[(&str, &str)], file: &str) -> Result<Settings> {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let environment: Vec<(String, String)> = environment
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Settings::read(&SettingsInputs {
        flags: &flags,
        environment: &environment,
        file,
        path: Path::new("/data/daybook.toml"),
        login: "ada",
    })
}

/// Checks a setting's value and source.
#[track_caller]
fn check(flags: &[&str], environment: &[(&str, &str)], file: &str, name: &str, expected: &str) {
    let settings = read(flags, environment, file).expect("they make sense");
    let found = settings
        .explained
        .iter()
        .find(|setting| setting.name == name);
    let found = found.expect("it is a setting");
    let said = format!("{} {:?} {}", found.value, found.source, found.from);
    assert_eq!(said.trim(), expected);
}

#[track_caller]
fn check_file(file: &str, name: &str, expected: &str) {
    check(&[], &[], file, name, expected);
}

#[track_caller]
pub(super) fn check_refused(file: &str, expected: &str) {
    let error = read(&[], &[], file).expect_err("it is refused");
    assert_eq!(
        format!("{error:#}"),
        format!("/data/daybook.toml: {expected}")
    );
}

#[test]
fn with_nothing_set_the_default_profile_holds() {
    let settings = read(&[], &[], "").expect("they make sense");
    assert_eq!(settings.profile, Profile::daybook());
    assert_eq!(
        (settings.person.as_str(), settings.context_tokens),
        ("ada", 1_500)
    );
    assert!(!settings.switches.all_off && settings.switches.off.is_empty());
    check_file("", "idle", "\"2m\" Default");
}

#[test]
fn every_profile_reaches_the_engine_unchanged() {
    for profile in Profile::all() {
        let file = format!("profile = \"{}\"", profile.name);
        let settings = read(&[], &[], &file).expect("they make sense");
        assert_eq!(settings.profile, profile);
    }
}

#[test]
fn a_flag_goes_before_the_environment_before_the_file_before_the_profile() {
    let file = "profile = \"codex\"\nidle = \"3h\"";
    let environment = [("DAYBOOK_IDLE", "2h")];
    check(&["idle=1h"], &environment, file, "idle", "\"1h\" Flag idle");
    check(
        &[],
        &environment,
        file,
        "idle",
        "\"2h\" Environment DAYBOOK_IDLE",
    );
    check(&[], &[], file, "idle", "\"3h\" File idle");
    check(
        &[],
        &[],
        "profile = \"codex\"",
        "idle",
        "\"12h\" Profile codex",
    );
    check(&["profile=mindroom"], &[], file, "idle", "\"3h\" File idle");
    check(
        &["profile=mindroom"],
        &[],
        file,
        "poll",
        "\"3m\" Profile mindroom",
    );
}

#[test]
fn an_empty_variable_is_not_set_and_other_peoples_are_left_alone() {
    let environment = [
        ("DAYBOOK_IDLE", ""),
        ("DAYBOOK_HOME", "/x"),
        ("DAYBOOK_TEST", "1"),
    ];
    check(&[], &environment, "", "idle", "\"2m\" Default");
}

#[test]
fn names_of_other_systems_are_understood_in_their_units_everywhere() {
    let file = "[memory.auto_flush]\nidle_seconds = 90\nbatch.max_sessions_per_cycle = 7";
    check_file(file, "idle", "\"90s\" File memory.auto_flush.idle_seconds");
    check_file(
        file,
        "batch",
        "7 File memory.auto_flush.batch.max_sessions_per_cycle",
    );
    let file =
        "memory.auto_flush.extractor = { max_messages_per_flush = 30, max_chars_per_flush = 9000 }";
    check_file(
        file,
        "window_messages",
        "30 File memory.auto_flush.extractor.max_messages_per_flush",
    );
    check_file(
        file,
        "window_chars",
        "9000 File memory.auto_flush.extractor.max_chars_per_flush",
    );
    let file = "[memories]\nmax_rollout_age_days = 21\nmin_rollout_idle_hours = 6";
    check_file(
        file,
        "sweep_max_age",
        "\"21d\" File memories.max_rollout_age_days",
    );
    check_file(
        file,
        "sweep_min_idle",
        "\"6h\" File memories.min_rollout_idle_hours",
    );
    let variable = ("DAYBOOK_MEMORIES_MAX_ROLLOUTS_PER_STARTUP", "64");
    let from = "64 Environment DAYBOOK_MEMORIES_MAX_ROLLOUTS_PER_STARTUP";
    check(&[], &[variable], "sweep_claims = 3", "sweep_claims", from);
    let flag = "memory.auto_flush.stale_ttl_seconds=7200";
    let from = "\"2h\" Flag memory.auto_flush.stale_ttl_seconds";
    check(&[flag], &[], "", "stale_after", from);
}

#[test]
fn what_a_setting_says_reaches_the_engine() {
    let file = "turn_limit = \"none\"\nsweep = false\nledger = \"json\"\ntries = 9\nurgent = \"normal\"\n\
                batch_per_agent = 2\nmemory_off = [\"project/tidepool\", \"user/ada\"]\ntimezone = \"UTC\"";
    let settings = read(&[], &[], file).expect("they make sense");
    let Profile {
        triggers,
        sweep,
        work,
        ledger,
        ..
    } = settings.profile;
    assert_eq!(
        (triggers.patience.turns, sweep, ledger),
        (u32::MAX, None, Ledger::Json)
    );
    assert_eq!((work.retry.tries, work.claims.per_agent), (9, 2));
    let off = |kind, name| settings.switches.is_off(kind, name);
    assert!(off(ScopeKind::Project, "tidepool") && off(ScopeKind::User, "ada"));
    assert!(!off(ScopeKind::Project, "ada"));
}

#[test]
fn numbers_that_a_profile_has_not_are_not_said_to_be_its_own() {
    let file = "profile = \"mindroom\"";
    check_file(file, "sweep", "\"off\" Profile mindroom");
    check_file(file, "sweep_scan", "5000 Default");
    check_file("profile = \"codex\"", "sweep_scan", "5000 Profile codex");
    check_file(file, "context_tokens", "1500 Default");
}

#[test]
fn a_sweep_that_is_switched_on_has_numbers() {
    let settings = read(
        &["sweep=on"],
        &[],
        "profile = \"mindroom\"\nsweep_claims = 3",
    );
    let sweep = settings.expect("they make sense").profile.sweep;
    let sweep = sweep.expect("it is on");
    assert_eq!((sweep.claims, sweep.scan), (3, 5_000));
}

#[test]
fn memory_is_off_as_soon_as_one_of_mindrooms_switches_is() {
    check_file(
        "[memory]\nbackend = \"file\"",
        "memory",
        "\"on\" File memory.backend",
    );
    let file = "[memory]\nbackend = \"file\"\n[memory.auto_flush]\nenabled = false";
    check_file(file, "memory", "\"off\" File memory.auto_flush.enabled");
    check_file("memory = \"none\"", "memory", "\"off\" File memory.backend");
    check_file("memory = false", "memory", "\"off\" File memory");
    let settings = read(&["memory=off"], &[], "").expect("they make sense");
    assert!(settings.switches.all_off);
}

#[test]
fn a_name_without_an_effect_is_refused_with_what_to_write_instead() {
    for (file, expected) in [
        (
            "[memory.embedder]\nprovider = \"openai\"",
            "memory.embedder: Daybook keeps memory in files of its own; write vectors =",
        ),
        (
            "[memory.llm]\nprovider = \"ollama\"",
            "memory.llm: models are named with their provider: write extract_model =",
        ),
        (
            "[memory.file]\npath = \"m\"",
            "memory.file.path: the data folder holds everything; name it with DAYBOOK_HOME",
        ),
        (
            "memory.search.include = [\"a\"]",
            "memory.search.include: recall searches all memory files that apply",
        ),
        (
            "memories.version = \"v2\"",
            "memories.version: there is one pipeline",
        ),
        (
            "memories.dedicated_tools = true",
            "memories.dedicated_tools: agents have memory tools where `daybook mcp`",
        ),
        (
            "memories.extract_model = \"gpt-5.4-mini\"",
            "memories.extract_model = \"gpt-5.4-mini\": write \"none\", or a provider of",
        ),
        (
            "agents.a.memory_backend = \"qdrant\"",
            "agents = {…}: a: memory: write \"on\", \"off\" or \"mem0\" (or MindRoom's",
        ),
        (
            "agents.a.memory_search.mode = \"keyword\"",
            "agents = {…}: a: memory_search: recall searches all memory files",
        ),
    ] {
        let error = format!("{:#}", read(&[], &[], file).expect_err("it is refused"));
        assert!(
            error.starts_with(&format!("/data/daybook.toml: {expected}")),
            "{error}"
        );
    }
    // A value may be a key, so it is not repeated.
    let error = read(&["memory.llm.api_key=sk-1234"], &[], "").expect_err("it is refused");
    assert!(!format!("{error:#}").contains("sk-1234"));
    let variable = [("DAYBOOK_MEMORIES_VERSION", "v2")];
    assert!(read(&[], &variable, "").is_err());
}

#[test]
fn an_agents_memory_is_switched_without_any_others() {
    let switches = |file: &str| read(&[], &[], file).expect("it makes sense").switches;
    for off in [
        "[agents.codex]\nmemory = \"off\"",
        "[agents.codex]\nmemory = false",
        "[agents.codex]\nmemory_backend = \"none\"",
        "[agents.codex.memory]\nbackend = \"none\"",
    ] {
        let settings = read(&[], &[], off).expect("it makes sense");
        assert!(
            !settings.has_memory_for("codex") && settings.has_memory_for("claude-code"),
            "{off}"
        );
        assert!(
            settings.switches.is_off(ScopeKind::Agent, "codex") && !settings.switches.all_off,
            "{off}"
        );
    }
    let one = switches("[memory]\nbackend = \"none\"\n[agents.codex]\nmemory_backend = \"file\"");
    assert!(one.all_off && one.on_agents.contains("codex") && one.off.is_empty());
    for wrong in [
        "agents = 3",
        "[agents.a]\nmemory = \"maybe\"",
        "[agents.a]\nmemories = \"on\"",
        "[agents.a]\nmemory = \"on\"\nmemory_backend = \"none\"",
        "[agents.a.memory]\nfile = 1",
    ] {
        assert!(read(&[], &[], wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_search_mode_of_mindroom_is_a_choice_of_vectors() {
    let file = "memory.search.mode = \"keyword\"";
    check_file(file, "vectors", "\"off\" File memory.search.mode");
    let file = "memory.search.mode = \"semantic\"";
    check_file(file, "vectors", "\"built-in\" File memory.search.mode");
    check_refused(
        "memory.search.mode = \"fuzzy\"",
        "memory.search.mode = \"fuzzy\" (it sets vectors): neither \"keyword\" nor \"semantic\"",
    );
}

#[test]
fn what_a_model_is_shown_of_memory_and_how_long_it_may_take_reach_the_engine() {
    let file = "[memory.auto_flush.extractor]\nmax_extraction_seconds = 20\n\
                include_memory_context = { daily_tail_lines = 40, memory_snippets = 0, snippet_max_chars = 300 }";
    let work = read(&[], &[], file).expect("they make sense").profile.work;
    let known = work.known;
    assert_eq!(
        (known.diary_lines, known.snippets, known.snippet_chars),
        (40, 0, 300)
    );
    assert_eq!(work.extraction, Duration::from_secs(20));
    check_file(
        "profile = \"mindroom\"",
        "extraction_timeout",
        "\"30s\" Profile mindroom",
    );
}

#[test]
fn a_name_that_nobody_knows_is_refused() {
    check_refused(
        "idel = 1",
        "idel = 1: there is no such setting; did you mean idle? `daybook config` lists them",
    );
    check_refused(
        "[memory.auto_flush]\nidle = 1",
        "memory.auto_flush.idle = 1: there is no such setting; `daybook config` lists them",
    );
    let error = read(&["idel=1"], &[], "").expect_err("it is refused");
    let expected =
        "--set idel=1: there is no such setting; did you mean idle? `daybook config` lists them";
    assert_eq!(format!("{error:#}"), expected);
    let error = read(&["idle"], &[], "").expect_err("it is refused");
    assert_eq!(format!("{error:#}"), "--set idle: write --set name=value");
}

#[test]
fn values_that_make_no_sense_are_refused_with_what_would() {
    let duration = "not a duration; write for example \"90s\", \"10m\", \"2h\" or \"30d\"";
    check_refused("idle = \"soon\"", &format!("idle = \"soon\": {duration}"));
    check_refused("idle = 120", &format!("idle = 120: {duration}"));
    check_refused(
        "batch = \"many\"",
        "batch = \"many\": not a whole number from 1 to 1000",
    );
    check_refused(
        "turn_limit = 2.5",
        "turn_limit = 2.5: not a whole number from 1 to 10000, or \"none\"",
    );
    check_refused(
        "durability = \"strong\"",
        "durability = \"strong\": not \"process\" or \"power\"",
    );
    check_refused(
        "profile = \"gemini\"",
        "profile = \"gemini\": not \"daybook\", \"daycare\", \"codex\" or \"mindroom\"",
    );
    check_refused(
        "sweep = \"yes\"",
        "sweep = \"yes\": neither \"on\" nor \"off\"",
    );
    check_refused(
        "timezone = \"Mars/North\"",
        "timezone = \"Mars/North\": write an IANA name such as \"Europe/Berlin\", or \"local\"",
    );
    check_refused(
        "person = \" \"",
        "person = \" \": write a name of 1 to 200 bytes",
    );
    check_refused(
        "memory_off = [\"tidepool\"]",
        "memory_off = [\"tidepool\"]: write scopes such as \"project/tidepool\", \"agent/codex\" or \
         \"user/ada\"",
    );
    check_refused(
        "[memory.auto_flush]\nidle_seconds = \"2m\"",
        "memory.auto_flush.idle_seconds = \"2m\" (it sets idle): not a whole number of seconds",
    );
}

#[test]
fn values_out_of_range_are_refused_and_not_bent() {
    check_refused(
        "idle = \"31d\"",
        "idle = \"31d\": out of range; allowed is a duration from 0s to 30d",
    );
    check_refused(
        "[memories]\nmax_rollout_age_days = 120",
        "memories.max_rollout_age_days = 120 (it sets sweep_max_age): out of range; allowed is a \
         duration from 0s to 90d",
    );
    check_refused(
        "batch = 0",
        "batch = 0: out of range; allowed is a whole number from 1 to 1000",
    );
    let environment = [("DAYBOOK_MEMORY_AUTO_FLUSH_STALE_TTL_SECONDS", "59")];
    let error = read(&[], &environment, "").expect_err("it is refused");
    assert_eq!(
        format!("{error:#}"),
        "DAYBOOK_MEMORY_AUTO_FLUSH_STALE_TTL_SECONDS=59 (it sets stale_after): out of range; allowed \
         is a duration from 1m to 365d"
    );
}

#[test]
fn mem0_for_everything_is_refused_with_what_to_write() {
    check_refused(
        "[memory]\nbackend = \"mem0\"",
        "memory.backend = \"mem0\" (it sets memory): a mem0 server keeps the memory of single agents: name it in \
         `mem0`, and write memory = \"mem0\" for each of them below `agents`; write \"file\" here, or \"none\" to \
         switch memory off",
    );
}

#[test]
fn m56_settings_choose_the_store_of_an_agent_and_a_team() {
    let file = "teams = [\"ada+bo\", \"bo+cy\", \"cy+dee\"]\nmem0 = { url = \"http://127.0.0.1:8888\" }\n\
                [agents.ada]\nmemory_backend = \"mem0\"\n[agents.bo.memory]\nbackend = \"file\"\n\
                [agents.dee]\nmemory = \"off\"";
    let settings = read(&[], &[], file).expect("it makes sense");
    let is_there = |name: &str| {
        let scope = Scope::parse(&settings.tenant, name).expect("a scope");
        settings.is_in_mem0(&scope)
    };
    for (name, expected) in [
        ("agent/ada", true),
        ("agent/bo", false),
        ("agent/cy", false),
        ("agent/dee", false),
        ("team/ada+bo", true),
        ("team/bo+cy", false),
        ("team/cy+dee", false),
        ("user/ada", false),
        ("project/ada", false),
    ] {
        assert_eq!(is_there(name), expected, "{name}");
    }
    assert!(settings.has_memory_for("ada") && !settings.has_memory_for("dee"));
    assert!(!settings.switches.is_off(ScopeKind::Agent, "ada"));
    let error = read(&[], &[], "agents.ada.memory = \"mem0\"").expect_err("no server is named");
    assert_eq!(
        error.to_string(),
        "agents.ada: its memory is in mem0, and no server is named; write mem0 = { url = \"http://127.0.0.1:8888\" }"
    );
    for wrong in [
        "mem0 = { key = { env = \"KEY\" } }",
        "mem0 = { url = \"\" }",
        "mem0 = { url = \"http://127.0.0.1:8888\", timeout = \"1h\" }",
        "mem0 = { url = \"http://127.0.0.1:8888\", key = \"m0-123\" }",
        "mem0 = { url = \"http://127.0.0.1:8888\", hosts = 1 }",
    ] {
        let error = format!("{:#}", read(&[], &[], wrong).expect_err(wrong));
        assert!(!error.contains("m0-123"), "{error}");
    }
}

#[test]
fn one_source_may_not_contradict_itself() {
    let file = "idle = \"2m\"\n[memory.auto_flush]\nidle_seconds = 90";
    check_refused(
        file,
        "idle is set twice: idle = \"2m\", and memory.auto_flush.idle_seconds = 90; keep one",
    );
    let agreeing = "idle = \"90s\"\n[memory.auto_flush]\nidle_seconds = 90";
    check_file(agreeing, "idle", "\"90s\" File idle");
    let error = read(&["idle=1m", "idle=2m"], &[], "").expect_err("it is refused");
    let expected = "idle is set twice: --set idle=1m, and --set idle=2m; keep one";
    assert_eq!(format!("{error:#}"), expected);
    let environment = [("DAYBOOK_MEMORY", "on"), ("DAYBOOK_MEMORY_BACKEND", "none")];
    let error = read(&[], &environment, "").expect_err("it is refused");
    let expected =
        "memory is set twice: DAYBOOK_MEMORY=on, and DAYBOOK_MEMORY_BACKEND=none; keep one";
    assert_eq!(format!("{error:#}"), expected);
}

#[test]
fn a_first_wait_may_not_be_longer_than_the_longest() {
    let error = read(&[], &[], "retry_most = \"10s\"").expect_err("it is refused");
    let expected = "retry_first = \"30s\" is longer than retry_most = \"10s\", the longest wait; set \
                    one of them so that it is not";
    assert_eq!(format!("{error:#}"), expected);
}

/// Bounds are no ornament: of each number, the bounds are allowed and what lies beyond is not.
#[test]
fn every_bound_holds() {
    for setting in &ALL {
        let (name, fine, beyond) = match setting.kind {
            ValueKind::Duration { least, most, .. } => {
                let over = most + Duration::from_millis(1);
                let under = least.checked_sub(Duration::from_millis(1));
                let beyond = [Some(over), under].into_iter().flatten().map(spelled);
                let fine = [least, most].map(spelled).map(Value::from);
                (setting.name, fine, beyond.map(Value::from).collect())
            }
            ValueKind::Count { least, most, .. } => {
                let beyond = [Some(most + 1), least.checked_sub(1)];
                let beyond: Vec<Value> = beyond.into_iter().flatten().map(Value::from).collect();
                (setting.name, [least, most].map(Value::from), beyond)
            }
            ValueKind::Decimal { least, most, .. } => {
                let beyond = [most + 0.01, least - 0.01].map(Value::from).to_vec();
                (setting.name, [least, most].map(Value::from), beyond)
            }
            ValueKind::Switch { .. }
            | ValueKind::Word { .. }
            | ValueKind::Text { .. }
            | ValueKind::List { .. }
            | ValueKind::Tables { .. } => continue,
        };
        let put = |value: &Value| {
            let mut scratch = SettingChoices::of(Profile::default(), "");
            setting.kind.put(value, NameUnit::Own, &mut scratch)
        };
        assert!(fine.iter().all(|value| put(value).is_ok()), "{name}");
        assert!(beyond.iter().all(|value| put(value).is_err()), "{name}");
    }
}

/// What a profile chooses can be written down, and is read as the same.
#[test]
fn every_choice_of_a_profile_can_be_written_into_the_file() {
    for profile in Profile::all() {
        let choices = SettingChoices::of(profile.clone(), "ada");
        let mut file = String::new();
        for setting in ALL.iter().filter(|setting| setting.group.is_profiled()) {
            let value = setting.kind.value(&choices);
            file.push_str(&format!("{} = {value}\n", setting.name));
        }
        let mut read = read(&[], &[], &file).expect("they make sense").profile;
        read.name = profile.name;
        assert_eq!(read, profile);
    }
}

#[test]
fn prices_and_caps_are_read_from_tables() {
    let file = "[prices]\n\"ada/*\" = { input = 3, cached = 0.3, output = \"15.25\" }\n\
                \"ada/old\" = { input = 1, output = 2.5 }\n\
                [caps]\nday = { tokens = 2_000_000, money = 5 }\nuser_month = { money = 0.5 }\n";
    let settings = read(&[], &[], file).expect("they make sense");
    let price = |model| {
        let price = settings.prices.price(model);
        price.map(|price| [price.input, price.cached, price.output].map(|money| money.0))
    };
    assert_eq!(price("ada/new"), Some([3_000_000, 300_000, 15_250_000]));
    assert_eq!(price("ada/old"), Some([1_000_000, 1_000_000, 2_500_000]));
    assert_eq!(price("bob/new"), None);
    let caps: Vec<String> = settings.caps.iter().map(|cap| format!("{cap:?}")).collect();
    assert_eq!(
        caps,
        [
            "Cap { period: Day, of: Tenant, tokens: Some(2000000), money: Some(Money(5000000)) }",
            "Cap { period: Month, of: User, tokens: None, money: Some(Money(500000)) }",
        ]
    );
    // A line of them for one command, or for a variable.
    let flag = "caps={ run = { tokens = 9 } }";
    let variable = ("DAYBOOK_PRICES", "{\"ada/old\" = {input = 0, output = 0}}");
    let settings = read(&[flag], &[variable], file).expect("they make sense");
    assert_eq!((settings.caps.len(), settings.caps[0].tokens), (1, Some(9)));
    assert_eq!(settings.prices.price("ada/new"), None);
    assert!(settings.prices.price("ada/old").is_some());
}

#[test]
fn calls_pollute_under_this_systems_name_or_codexs() {
    for name in [
        "disable_on_external_context",
        "memories.disable_on_external_context",
        "memories.no_memories_if_mcp_or_web_search",
    ] {
        let file = format!("{name} = true\nharmless_mcp_servers = [\"notes\"]");
        let rule = read(&[], &[], &file)
            .expect("it makes sense")
            .switches
            .pollution;
        assert!(
            rule.is_on && rule.harmless_servers.contains("notes"),
            "{name}"
        );
    }
    assert!(
        !read(&[], &[], "")
            .expect("it makes sense")
            .switches
            .pollution
            .is_on
    );
}

#[test]
fn the_examples_of_the_manual_make_sense() {
    let manual = include_str!("../../../../docs/operating.md");
    let examples = manual.split("```toml\n").skip(1);
    let examples = examples.map(|rest| rest.split_once("```").expect("its end").0);
    let (rules, settings): (Vec<_>, Vec<_>) =
        examples.partition(|example| example.starts_with("# redaction.toml"));
    for rules in rules {
        assert_eq!(
            RulesFile::parse(rules).expect("it makes sense").rules.len(),
            1
        );
    }
    let examples = settings.into_iter().map(|example| {
        let settings = read(&[], &[], example).expect("it makes sense");
        (settings.caps.len(), settings.prices.iter().count())
    });
    assert_eq!(examples.collect::<Vec<_>>(), [(0, 0), (0, 0), (3, 2)]);
}

#[test]
fn prices_and_caps_that_make_no_sense_are_refused_with_what_would() {
    for (file, expected) in [
        ("prices = 3", "write { \"provider/model\" = {"),
        ("[prices]\nada = 3", "ada: not a table"),
        (
            "[prices]\nada = { input = 3 }",
            "ada: no price for output; write {",
        ),
        (
            "[prices]\nada = { input = -3, output = 1 }",
            "ada: input: an amount of money is a number",
        ),
        (
            "[prices]\nada = { input = 3, output = 1, thought = 2 }",
            "ada: no thought here, only input",
        ),
        (
            "[caps]\nweek = { tokens = 3 }",
            "week: there is no such cap; there are run, day, month, user_run",
        ),
        (
            "[caps]\nday = { tokens = 1.5 }",
            "day: tokens: not a whole number",
        ),
        (
            "[caps]\nday = { money = \"much\" }",
            "day: money: an amount of money",
        ),
    ] {
        let error = read(&[], &[], file).expect_err("it is refused");
        let said = format!("{error:#}");
        assert!(said.contains(expected), "{file}: {said}");
    }
}

#[test]
fn every_refused_name_is_no_setting() {
    let settings: Vec<&str> = names::all()
        .filter(|(_, meaning)| matches!(meaning, NameMeaning::Setting(..)))
        .map(|(name, _)| name)
        .collect();
    for (name, meaning) in names::all() {
        if matches!(meaning, NameMeaning::Refused(_)) {
            assert!(!settings.contains(&name), "{name}");
        }
    }
}

proptest! {
    /// Reading any file ends in settings or in an error that names the file.
    #[test]
    fn any_file_is_read_or_refused(name in "[a-z_.]{1,20}", value in "[a-z0-9\" .\\[\\]]{0,12}") {
        if let Err(error) = read(&[], &[], &format!("{name} = {value}")) {
            let said = format!("{error:#}");
            prop_assert!(said.contains("daybook.toml"));
        }
    }
}

#[test]
fn settings_are_explained_in_the_form_in_which_they_are_written() {
    let settings = read(&[], &[], "profile = \"codex\"").expect("they make sense");
    let value = |name: &str| {
        let found = settings
            .explained
            .iter()
            .find(|setting| setting.name == name);
        found.map(|setting| setting.value.clone())
    };
    assert_eq!(
        value("sweep_surfaces"),
        Some(json!(["cli", "vscode", "atlas", "chatgpt"]))
    );
    assert_eq!(value("turn_limit"), Some(json!("none")));
    assert_eq!(value("retry_first"), Some(json!("1h")));
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    for (given, shown) in [
        (
            "postgres://ada:pw@db/daybook",
            "postgres://ada:…@db/daybook",
        ),
        (
            "postgres://ada:p@w@db:5432/d?sslmode=require",
            "postgres://ada:…@db:5432/d?sslmode=require",
        ),
        ("postgres://ada@db/daybook", "postgres://ada@db/daybook"),
        (
            "postgres:///daybook?host=/run",
            "postgres:///daybook?host=/run",
        ),
        ("a plain text: with @ and /", "a plain text: with @ and /"),
    ] {
        assert_eq!(masked(given), shown);
    }
    let flag = "store=postgres://ada:pw@db/daybook";
    check(
        &[flag],
        &[],
        "",
        "store",
        "\"postgres://ada:…@db/daybook\" Flag store",
    );
    let settings = read(&[flag], &[], "").unwrap();
    assert!(!format!("{settings:?}").contains("pw"));
    let wrong = read(&["store=mysql://ada:pw@db/daybook"], &[], "").unwrap_err();
    assert!(!format!("{wrong:#}").contains("pw"), "{wrong:#}");
}

#[test]
fn fuzz_settings_file() {
    let seeds = [
        "# mine\nprofile = \"codex\"\nidle = \"5m\"\nextract_model = \"home/qwen3\"\n[providers.home]\nwire = \"ollama\"\nbase_url = \"http://127.0.0.1:11434\"\nkey = { env = \"KEY\" }\n[caps]\nday = { tokens = 2_000_000 }\n",
        "memory:\n  backend: file\n  auto_flush:\n    enabled: true\n    idle_seconds: 100\n    batch:\n      max_sessions_per_cycle: 12\n",
        "[memories]\nmax_rollouts_per_startup = 4\nmin_rollout_idle_hours = 6\n",
    ];
    let path = Path::new("/data/daybook.toml");
    bolero::check!().for_each(|script: &[u8]| {
        daybook_testkit::mutation::parse_mutated_text(&seeds, script, |text| {
            let _ = read(&[], &[], text);
            let _ = import::plan(text, "block", "", path);
            let _ = parse_duration(text);
        });
    });
}
