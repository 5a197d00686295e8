//! The models that settings name, and the values that are refused.

use std::time::Duration;

use daybook_domain::{ObservationKind, Tenant};
use daybook_llm::{TokenVocabulary, Wire};

use super::chosen_model::ChosenModel;
use super::providers::KeyLocation;
use super::tests::{check_refused, read};
use super::vectors::VectorChoice;

const HOME: &str = "[providers.home]\nbase_url = \"http://127.0.0.1:8080/v1\"\n";

#[test]
fn while_no_model_is_named_none_is_asked() {
    let settings = read(&[], &[], HOME).expect("they make sense");
    assert_eq!(settings.models.extract, None);
}

#[test]
fn the_model_of_consolidations_is_named_by_its_own_name_or_codexs() {
    for name in [
        "consolidation_model = \"home/small\"\n",
        "[memories]\nconsolidation_model = \"home/small\"\n",
        "[memories]\nphase_2_model = \"home/small\"\n",
    ] {
        let settings = read(&[], &[], &format!("{name}{HOME}")).expect("they make sense");
        let chosen = settings.models.consolidate.expect("one is named");
        assert_eq!(chosen.name(), "home/small", "{name}");
        assert_eq!(settings.models.extract, None);
    }
}

#[test]
fn a_model_is_named_with_its_provider() {
    let file = "extract_model = \"home/qwen/qwen3:8b\"\nkeep = [\"names of ports\"]\n\
                never_keep = [\"health\"]\nnever_keep_kinds = [\"note\"]\n\
                [providers.home]\nwire = \"ollama\"\nbase_url = \"http://127.0.0.1:11434\"\n\
                key = { command = [\"pass\", \"show\", \"home\"] }\nconcurrency = 2\ntimeout = \"10m\"\n\
                context_tokens = 8192\n\
                models = { \"qwen/qwen3:8b\" = { context_tokens = 40960, vocabulary = \"cl100k\" } }\n";
    let settings = read(&[], &[], file).expect("they make sense");
    let guidance = &settings.models.guidance;
    assert_eq!(guidance.keep, ["names of ports"]);
    assert_eq!(guidance.never, ["health"]);
    assert_eq!(guidance.never_kinds, [ObservationKind::Note]);
    let chosen = settings.models.extract.expect("one is named");
    let provider = &chosen.provider;
    assert_eq!(
        (chosen.model.as_str(), provider.wire),
        ("qwen/qwen3:8b", Wire::Ollama)
    );
    assert_eq!(
        (chosen.context_tokens(), chosen.vocabulary()),
        (40_960, Some(TokenVocabulary::Cl100k))
    );
    assert_eq!(
        (provider.concurrency.get(), provider.timeout),
        (2, Duration::from_secs(600))
    );
    let command = ["pass", "show", "home"].map(str::to_owned);
    assert_eq!(provider.key, KeyLocation::Command(command.into()));

    let flags = ["extract_model=home/other"];
    let chosen = read(&flags, &[], file)
        .expect("they make sense")
        .models
        .extract;
    assert_eq!(chosen.map(|chosen| chosen.context_tokens()), Some(8_192));
    let flags = ["extract_model=none"];
    assert_eq!(
        read(&flags, &[], file)
            .expect("they make sense")
            .models
            .extract,
        None
    );
}

#[test]
fn team9s_names_of_its_configuration_are_understood() {
    let seed = "autoCompactEnabled = false\nautoCompactThreshold = 40\n\
                [llm]\ncompactModel = \"home/small-1\"\ncompactTemperature = 0.7\ncompactMaxTokens = 900\n";
    let settings = read(&[], &[], &format!("{seed}{HOME}")).expect("they make sense");
    let models = settings.models;
    assert_eq!(
        models.compact.map(|it| it.model).as_deref(),
        Some("small-1")
    );
    let compacting = &models.compacting;
    assert_eq!((compacting.auto, compacting.threshold), (false, 40));
    let llm = &compacting.llm;
    assert_eq!(
        (llm.compact_temperature, llm.compact_max_tokens),
        (0.7, 900)
    );

    let default = read(&["auto_compact_tokens=none"], &[], HOME).expect("they make sense");
    let compacting = &default.models.compacting;
    assert_eq!(
        (compacting.llm.clone(), compacting.tokens),
        (Default::default(), None)
    );
    assert_eq!((compacting.auto, compacting.threshold), (true, 20));
}

/// There is no default model: without a name, none is called.
#[test]
fn c63_the_model_that_is_named_last_is_asked_as_it_is_named() {
    let file = format!("extract_model = \"home/a\"\n{HOME}");
    let asked = |flags: &[&str], environment: &[(&str, &str)]| {
        let settings = read(flags, environment, &file).expect("they make sense");
        settings.models.extract.map(|chosen| chosen.model)
    };
    let variable = [("DAYBOOK_EXTRACT_MODEL", "home/b")];
    assert_eq!(asked(&[], &[]).as_deref(), Some("a"));
    assert_eq!(asked(&[], &variable).as_deref(), Some("b"));
    assert_eq!(
        asked(&["extract_model=home/c"], &variable).as_deref(),
        Some("c")
    );
    assert_eq!(asked(&["extract_model=none"], &variable), None);
}

#[test]
fn a_provider_may_be_forbidden_to_all_or_to_one_tenant() {
    let named = format!("extract_model = \"home/qwen3\"\n{HOME}");
    let refused = read(&["forbid_providers=home"], &[], &named).expect_err("it is forbidden");
    assert!(
        refused.to_string().contains("forbid_providers names home"),
        "{refused}"
    );
    let settings = read(&["forbid_providers=acme/home,openai"], &[], &named);
    let chosen = settings.expect("they make sense").models.extract;
    assert_eq!(
        chosen.expect("one is named").forbidden,
        [Tenant("acme".to_owned())]
    );
}

#[test]
fn a_model_of_nobody_is_refused() {
    let refused = |file: &str| read(&[], &[], file).expect_err("it is refused").to_string();
    let nobody = refused("extract_model = \"home/qwen3\"\n");
    assert!(
        nobody.contains("there is none yet: add [providers.<name>]"),
        "{nobody}"
    );
    let other = refused(&format!("extract_model = \"hme/qwen3\"\n{HOME}"));
    assert!(other.contains("there are home"), "{other}");
}

#[test]
fn what_is_wrong_with_a_provider_is_named_and_a_key_is_not_repeated() {
    let check = |line: &str, expected: &str| {
        let file = format!("{HOME}{line}\n");
        check_refused(&file, &format!("providers = {{…}}: home: {expected}"));
    };
    check("wire = \"grpc\"", "wire: write openai, anthropic, ollama");
    check(
        "concurrency = 0",
        "concurrency: write a whole number from 1 to 1000",
    );
    check(
        "timeout = \"2d\"",
        "timeout: write a duration from 1s to 1h",
    );
    check("plain_http = 1", "plain_http: write true or false");
    let where_it_is = "key: write where it is, never the key itself: { env = \"NAME\" }, \
                       { file = \"path\" } or { command = [\"program\", \"argument\"] }";
    for key in [
        "\"sk-ada-1815\"",
        "{ command = [] }",
        "{ env = \"A\", file = \"b\" }",
        "{ value = \"sk-ada-1815\" }",
    ] {
        check(&format!("key = {key}"), where_it_is);
    }
    let flag = "providers={ home = { base_url = \"http://[::1]/\", key = \"sk-ada-1815\" } }";
    let refused = read(&[flag], &[], "").expect_err("it is refused");
    assert!(
        !format!("{refused:#}").contains("sk-ada-1815"),
        "{refused:#}"
    );
}

#[test]
fn vectors_are_those_of_a_word_a_folder_or_a_provider() {
    let vectors = |named: &str| {
        let file = format!("vectors = \"{named}\"\n{HOME}");
        let settings = read(&[], &[], &file);
        settings.map(|settings| settings.models.vectors)
    };
    assert_eq!(vectors("built-in").expect("sound"), VectorChoice::BuiltIn);
    assert_eq!(vectors("off").expect("sound"), VectorChoice::Off);
    let VectorChoice::Provider(chosen) = vectors("home/nomic/embed").expect("sound") else {
        panic!("a provider is named");
    };
    assert_eq!(
        (&*chosen.provider.name, &*chosen.model),
        ("home", "nomic/embed")
    );
    let folder = vectors("folder:models/minilm");
    match cfg!(feature = "folder-model") {
        true => assert_eq!(
            folder.expect("sound"),
            VectorChoice::Folder("models/minilm".into())
        ),
        false => {
            let error = folder.expect_err("this build reads none").to_string();
            assert!(error.contains("--features folder-model"), "{error}");
        }
    }
}

#[test]
fn vectors_of_nothing_that_can_be_asked_are_refused() {
    let check = |file: &str, expected: &str| {
        let refused = read(&[], &[], file).expect_err("it is refused");
        let refused = format!("{refused:#}");
        assert!(refused.contains(expected), "{file}: {refused}");
    };
    check("vectors = \"minilm\"", "write \"built-in\", \"off\"");
    check("vectors = \"folder: \"", "write \"built-in\", \"off\"");
    check("vectors = \"away/small\"", "write provider/model");
    let named = format!("vectors = \"home/small\"\n{HOME}");
    let anthropic = format!("{named}wire = \"anthropic\"\n");
    check(&anthropic, "the wire anthropic has no vectors");
    let forbidden = format!("forbid_providers = [\"home\"]\n{named}");
    check(&forbidden, "forbid_providers names home");
}

#[test]
fn an_agents_own_model_reads_its_sessions_alone() {
    let file = format!(
        "extract_model = \"home/a\"\n[agents.codex]\nextract_model = \"home/b\"\n[agents.quiet]\nextract_model = \"none\"\n{HOME}"
    );
    let models = read(&[], &[], &file).expect("they make sense").models;
    let name = |model: &Option<ChosenModel>| model.as_ref().map(|it| it.model.clone());
    assert_eq!(name(&models.extract).as_deref(), Some("a"));
    let own: Vec<_> = models
        .extract_for
        .iter()
        .map(|(agent, it)| (agent.as_str(), name(it)))
        .collect();
    assert_eq!(own, [("codex", Some("b".to_owned())), ("quiet", None)]);
    let error = read(
        &[],
        &[],
        "agents = { codex = { extract_model = \"else/b\" } }",
    );
    let error = format!("{:#}", error.expect_err("there is no such provider"));
    assert!(
        error.starts_with("agents.codex.extract_model = \"else/b\": write provider/model"),
        "{error}"
    );
}

#[test]
fn what_is_left_of_rate_limits_holds_for_providers_that_say_nothing_of_it() {
    let file = "memories.min_rate_limit_remaining_percent = 25\nextract_model = \"home/a\"\ncompact_model = \"other/a\"\n\
                [providers.home]\nbase_url = \"http://127.0.0.1:1\"\n\
                [providers.other]\nbase_url = \"http://127.0.0.1:1\"\nmin_remaining_percent = 0\n";
    let models = read(&[], &[], file).expect("they make sense").models;
    let share = |model: Option<ChosenModel>| model.map(|it| it.provider.min_remaining_percent);
    assert_eq!(
        (share(models.extract), share(models.compact)),
        (Some(25), Some(0))
    );
}

#[test]
fn a_token_of_another_systems_reaches_the_extractor() {
    let token = |file: &str| read(&[], &[], file).map(|settings| settings.models.no_reply);
    assert_eq!(token("").expect("it makes sense"), "NO_REPLY");
    let file = "memory.auto_flush.extractor.no_reply_token = \"NOTHING\"";
    assert_eq!(token(file).expect("it makes sense"), "NOTHING");
    for wrong in ["\"\"", "\"...\"", "\"a\\nb\"", "3"] {
        assert!(
            token(&format!("no_reply_token = {wrong}")).is_err(),
            "{wrong}"
        );
    }
}
