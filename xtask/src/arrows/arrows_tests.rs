//! Each forbidden arrow is caught, in small workspaces made for the purpose; the real one has none.

use std::fs;

use super::check;

/// A workspace of a domain, a store, an engine and a testkit with nothing wrong, in which `files`
/// are put; what the check says of it.
#[track_caller]
fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().expect("a temporary folder can be made");
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("it is below the root")).expect("writable");
        fs::write(path, text).expect("writable");
    };
    put("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n");
    for (name, uses) in [
        ("domain", ""),
        ("store", "daybook-domain.workspace = true\n"),
        ("engine", "daybook-domain.workspace = true\n"),
        ("testkit", "daybook-domain.workspace = true\n"),
    ] {
        put(
            &format!("crates/{name}/Cargo.toml"),
            &format!("[package]\nname = \"daybook-{name}\"\n\n[dependencies]\n{uses}"),
        );
        put(&format!("crates/{name}/src/lib.rs"), "//! Nothing.\n");
    }
    for (path, text) in files {
        put(path, text);
    }
    check(root.path()).expect("it can be read").broken
}

#[track_caller]
fn allowed(path: &str, text: &str) {
    assert_eq!(findings(&[(path, text)]), [""; 0], "{path}");
}

/// The only finding says all of `parts`.
#[track_caller]
fn caught(path: &str, text: &str, parts: &[&str]) {
    let broken = findings(&[(path, text)]);
    assert_eq!(broken.len(), 1, "{path}: {broken:#?}");
    for part in parts {
        assert!(
            broken[0].contains(part),
            "{part:?} is not in {:?}",
            broken[0]
        );
    }
}

fn manifest(name: &str, dependencies: &str) -> (String, String) {
    (
        format!("crates/{name}/Cargo.toml"),
        format!("[package]\nname = \"daybook-{name}\"\n\n{dependencies}"),
    )
}

#[track_caller]
fn manifest_caught(name: &str, dependencies: &str, parts: &[&str]) {
    let (path, text) = manifest(name, dependencies);
    caught(&path, &text, parts);
}

#[test]
fn this_workspace_has_no_forbidden_arrow() {
    let report = check(&crate::root()).expect("it can be read");
    assert_eq!(report.broken, [""; 0]);
}

#[test]
fn a_workspace_with_nothing_wrong_has_no_finding() {
    assert_eq!(findings(&[]), [""; 0]);
}

#[test]
fn domain_depends_on_nothing_of_ours() {
    for other in ["store", "engine", "llm", "embed", "daybook"] {
        let package = if other == "daybook" {
            other.to_owned()
        } else {
            format!("daybook-{other}")
        };
        manifest_caught(
            "domain",
            &format!("[dependencies]\n{package} = {{ path = \"../{other}\" }}\n"),
            &["domain may not depend on", &package, "nothing of ours"],
        );
    }
}

#[test]
fn store_engine_llm_and_embed_depend_on_domain_alone() {
    for (name, other) in [
        ("store", "engine"),
        ("engine", "store"),
        ("llm", "engine"),
        ("embed", "llm"),
    ] {
        manifest_caught(
            name,
            &format!("[dependencies]\ndaybook-{other}.workspace = true\n"),
            &[
                &format!("{name} may not depend on daybook-{other}"),
                "it uses domain",
            ],
        );
    }
}

#[test]
fn testkit_is_for_tests() {
    for name in ["domain", "store", "engine", "app"] {
        manifest_caught(
            name,
            "[dependencies]\ndaybook-testkit.workspace = true\n",
            &["daybook-testkit", "dev-dependency"],
        );
    }
    let (path, text) = manifest(
        "store",
        "[dev-dependencies]\ndaybook-testkit.workspace = true\n",
    );
    allowed(&path, &text);
    manifest_caught(
        "testkit",
        "[dependencies]\ndaybook-store.workspace = true\n",
        &["testkit may not"],
    );
}

#[test]
fn app_may_use_all_of_ours_but_testkit() {
    let (path, text) = manifest(
        "app",
        "[dependencies]\ndaybook-domain.workspace = true\ndaybook-engine.workspace = true\n\
         daybook-store.workspace = true\ndaybook.workspace = true\n",
    );
    allowed(&path, &text);
}

#[test]
fn packages_that_bring_io_stay_out_of_domain_and_engine() {
    for package in ["tokio", "rusqlite", "reqwest", "axum", "jiff"] {
        manifest_caught(
            "domain",
            &format!("[dependencies]\n{package} = \"1\"\n"),
            &[package, "pure"],
        );
    }
    for package in ["rusqlite", "tokio-postgres", "axum", "reqwest"] {
        manifest_caught(
            "engine",
            &format!("[dependencies]\n{package} = \"1\"\n"),
            &[package],
        );
    }
}

#[test]
fn a_dependency_cannot_hide() {
    for hidden in [
        "[dependencies]\nharmless = { package = \"rusqlite\", version = \"1\" }\n",
        "[build-dependencies]\nrusqlite = \"1\"\n",
        "[target.'cfg(unix)'.dependencies]\nrusqlite = \"1\"\n",
        "[dependencies]\nrusqlite = { version = \"1\", optional = true }\n",
        "[dependencies.rusqlite]\nversion = \"1\"\n",
    ] {
        manifest_caught(
            "engine",
            hidden,
            &["rusqlite", "only store knows databases"],
        );
    }
    let broken = findings(&[
        (
            "Cargo.toml",
            "[workspace.dependencies]\nharmless = { package = \"rusqlite\", version = \"1\" }\n",
        ),
        (
            "crates/engine/Cargo.toml",
            "[package]\nname = \"daybook-engine\"\n[dependencies]\nharmless.workspace = true\n",
        ),
    ]);
    assert_eq!(broken.len(), 1, "{broken:#?}");
}

#[test]
fn a_new_crate_states_its_arrows() {
    caught(
        "crates/extra/Cargo.toml",
        "[package]\nname = \"daybook-extra\"\n",
        &["not in the table"],
    );
    caught(
        "crates/store/Cargo.toml",
        "[package]\nname = \"shop\"\n",
        &["called \"shop\""],
    );
}

#[test]
fn domain_reads_no_disk_no_network_and_no_clock() {
    for (line, what) in [
        ("fn f() { std::fs::read(\"x\").ok(); }", "std::fs"),
        ("use std::{cmp, net::TcpStream};", "std::net"),
        (
            "fn f() { let _ = std::time::SystemTime::now(); }",
            "SystemTime::now",
        ),
        (
            "use std::time::Instant;\nfn f() { Instant::now(); }",
            "Instant::now",
        ),
    ] {
        caught(
            "crates/domain/src/a.rs",
            line,
            &["crates/domain/src/a.rs:", what],
        );
    }
}

#[test]
fn engine_reads_no_clock_no_environment_and_starts_no_process() {
    for (line, what) in [
        ("fn f() { jiff::Timestamp::now(); }", "Timestamp::now"),
        ("use jiff::Zoned;\nfn f() { Zoned::now(); }", "Zoned::now"),
        ("fn f() { std::time::Instant::now(); }", "Instant::now"),
        (
            "use std::env;\nfn f() { env::var(\"HOME\").ok(); }",
            "std::env",
        ),
        ("fn f() { std::env::var_os(\"HOME\"); }", "std::env"),
        ("use std::process::Command;", "std::process::Command"),
        (
            "use std::process;\nfn f() { process::Command::new(\"git\"); }",
            "std::process::Command",
        ),
        ("fn f() { println(\"PRAGMA sqlite_master\"); }", "sqlite_"),
    ] {
        caught("crates/engine/src/files/a.rs", line, &[what]);
    }
}

#[test]
fn the_library_installs_nothing_in_its_hosts_process() {
    let (path, text) = manifest("daybook", "");
    let (path, text) = (path, text.replace("daybook-daybook", "daybook"));
    for (line, what) in [
        ("fn f() { std::env::current_dir().ok(); }", "std::env"),
        (
            "fn f() { tracing::subscriber::set_global_default(a); }",
            "set_global_default",
        ),
        (
            "fn f() { tracing_subscriber::fmt::init(); }",
            "tracing_subscriber",
        ),
        ("fn f() { ctrlc::set_handler(a); }", "ctrlc"),
        ("use tokio::signal;", "tokio::signal"),
        (
            "use std::panic;\nfn f() { panic::set_hook(a); }",
            "panic::set_hook",
        ),
    ] {
        for name in ["domain", "store", "engine", "daybook"] {
            let place = format!("crates/{name}/src/a.rs");
            let broken = findings(&[(&path, &text), (&place, line)]);
            assert_eq!(broken.len(), 1, "{line}: {broken:#?}");
            assert!(broken[0].contains(what), "{what:?} is not in {broken:?}");
        }
    }
}

#[test]
fn store_knows_no_prompt_and_no_file_layout() {
    caught(
        "crates/store/src/a.rs",
        "const A: &str = \"MEMORY.md\";",
        &["MEMORY.md"],
    );
    caught(
        "crates/store/src/a.rs",
        "const A: &str = include_str!(\"prompts/x.md\");",
        &["prompts/"],
    );
    caught(
        "crates/store/src/a.rs",
        "fn f() { std::env::var(\"A\").ok(); }",
        &["environment"],
    );
}

#[test]
fn the_binary_may_read_the_environment_and_starts_no_process_but_for_keys() {
    let (path, text) = manifest("app", "");
    let source = "fn main() { std::env::var(\"A\").ok(); std::process::Command::new(\"b\"); }";
    let keys = "crates/app/src/keys.rs";
    let broken = findings(&[
        (&path, &text),
        ("crates/app/src/main.rs", source),
        (keys, source),
    ]);
    assert_eq!(
        broken,
        [
            "crates/app/src/main.rs:1: std::process::Command may not be here: \
          Daybook starts no process"
        ]
    );
}

#[test]
fn a_stage_uses_only_earlier_stages() {
    for (from, to) in [
        ("ingest", "extract"),
        ("ingest", "jobs"),
        ("extract", "consolidate"),
        ("extract", "jobs"),
        ("consolidate", "files"),
        ("files", "recall"),
        ("files", "jobs"),
        ("recall", "working"),
        ("recall", "jobs"),
        ("working", "jobs"),
    ] {
        caught(
            &format!("crates/engine/src/{from}/a.rs"),
            &format!("use crate::{to}::Thing;\n"),
            &[&format!("{from} may not use {to}::Thing")],
        );
        if to != "jobs" && from != "jobs" {
            allowed(
                &format!("crates/engine/src/{to}/a.rs"),
                &format!("use crate::{from}::Thing;\n"),
            );
        }
        allowed(
            &format!("crates/engine/src/jobs/{to}.rs"),
            &format!("use crate::{{{from}::Thing, {to}}};\n"),
        );
    }
}

#[test]
fn an_arrow_between_stages_cannot_hide() {
    for line in [
        "use crate::{extract::Draft, files::layout as f};",
        "fn f() {\n    crate::files::layout::folder();\n}",
        "use super::super::files::layout;",
        "pub(crate) use crate::files;",
        "use crate::\n    files::layout;",
    ] {
        caught(
            "crates/engine/src/consolidate/a.rs",
            line,
            &["consolidate may not use files"],
        );
    }
    caught(
        "crates/engine/src/consolidate/mod.rs",
        "use super::files::layout;",
        &["may not use files"],
    );
}

#[test]
fn tokens_are_for_everybody_and_use_nobody() {
    allowed(
        "crates/engine/src/ingest/a.rs",
        "use crate::recall::tokens::index_text;",
    );
    caught(
        "crates/engine/src/ingest/a.rs",
        "use crate::recall::rank::best;",
        &["may not use recall::rank"],
    );
    caught(
        "crates/engine/src/recall/tokens.rs",
        "use crate::files::layout;",
        &["uses none"],
    );
    caught(
        "crates/engine/src/recall/tokens.rs",
        "use super::rank::best;",
        &["uses none"],
    );
    allowed(
        "crates/engine/src/recall/tokens/stem.rs",
        "use super::fold; use crate::recall::tokens::a;",
    );
}

#[test]
fn a_new_stage_states_its_arrows() {
    caught(
        "crates/engine/src/dreams/mod.rs",
        "",
        &["dreams is not in the table of stages"],
    );
}

#[test]
fn a_file_beside_lib_rs_is_for_every_stage_and_uses_none() {
    allowed(
        "crates/engine/src/stop.rs",
        "use daybook_domain::Timestamp;",
    );
    allowed("crates/engine/src/ingest/a.rs", "use crate::stop::Stop;");
    caught(
        "crates/engine/src/stop.rs",
        "use crate::jobs::Job;",
        &["stop may not use jobs::Job"],
    );
}

#[test]
fn only_files_and_jobs_write_to_disk_and_the_pure_stages_read_nothing() {
    let write = "fn f() { std::fs::write(\"a\", \"b\").ok(); }";
    for stage in ["ingest", "recall", "working"] {
        caught(
            &format!("crates/engine/src/{stage}/a.rs"),
            write,
            &["built by files alone"],
        );
    }
    for stage in ["files", "jobs"] {
        allowed(&format!("crates/engine/src/{stage}/a.rs"), write);
    }
    let read = "fn f() { std::fs::read(\"a\").ok(); }";
    for stage in ["extract", "consolidate"] {
        caught(
            &format!("crates/engine/src/{stage}/a.rs"),
            read,
            &["functions of what they are handed"],
        );
    }
    allowed("crates/engine/src/ingest/a.rs", read);
}

#[test]
fn comments_and_literals_are_not_code() {
    allowed(
        "crates/domain/src/a.rs",
        "//! Unlike std::fs, and SystemTime::now.\n\
         /* std::net /* nested */ Instant::now */\n\
         /// [`crate::x`] and `std::env::var`.\n\
         pub const A: &str = \"std::fs // not a comment\";\n\
         pub const B: &str = r#\"std::net \" SystemTime::now\"#;\n\
         pub const C: (char, char) = ('\"', '\\'');\n\
         pub fn f<'a>(a: &'a str) -> &'a str { a } // Instant::now\n",
    );
    caught(
        "crates/domain/src/a.rs",
        "const A: &str = \"http://x\"; fn f() { std::fs::read(A).ok(); }",
        &["a.rs:1:", "std::fs"],
    );
}

#[test]
fn what_only_tests_compile_is_free() {
    let clock = "fn f() { std::time::SystemTime::now(); std::fs::read(\"x\").ok(); }";
    allowed("crates/domain/src/a_tests.rs", clock);
    allowed(
        "crates/domain/src/a.rs",
        &format!("#[cfg(test)]\nmod tests {{\n    {clock}\n}}\n"),
    );
    allowed(
        "crates/domain/src/a.rs",
        &format!("#[cfg(test)]\n#[allow(dead_code)]\n{clock}\n"),
    );
    assert_eq!(
        findings(&[
            ("crates/domain/src/lib.rs", "#[cfg(test)]\nmod checks;\n"),
            ("crates/domain/src/checks.rs", clock),
            ("crates/domain/src/checks/deep.rs", clock),
        ]),
        [""; 0]
    );
    caught(
        "crates/domain/src/a.rs",
        "#[cfg(test)]\nmod tests {\n    const A: &str = \"}\";\n}\nfn f() { std::fs::read(\"x\").ok(); }\n",
        &["a.rs:5:"],
    );
}
