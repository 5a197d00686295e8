//! Each forbidden arrow is found in a small workspace made for the test; the real workspace has none.

use std::fs;

use super::{check, floors};

/// The findings in a workspace of a domain, a store, an engine and a testkit without faults, after `files` are written
/// into it.
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

/// Asserts one finding, which contains all of `parts`.
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
fn app_may_use_all_of_ours_but_testkit_and_the_library_above_it() {
    let (path, text) = manifest(
        "app",
        "[dependencies]\ndaybook-domain.workspace = true\ndaybook-engine.workspace = true\n\
         daybook-store.workspace = true\ndaybook-eval.workspace = true\n",
    );
    allowed(&path, &text);
    manifest_caught(
        "app",
        "[dependencies]\ndaybook.workspace = true\n",
        &["daybook"],
    );
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
fn domain_reads_no_disk_and_no_network() {
    for (line, item) in [
        ("fn f() { std::fs::read(\"x\").ok(); }", "std::fs"),
        ("use std::{cmp, net::TcpStream};", "std::net"),
        (
            "use std::net;\nfn f() { net::TcpStream::connect(\"x\").ok(); }",
            "std::net",
        ),
    ] {
        caught(
            "crates/domain/src/a.rs",
            line,
            &["crates/domain/src/a.rs:", item],
        );
    }
}
#[test]
fn engine_names_no_database() {
    caught(
        "crates/engine/src/files/a.rs",
        "fn f() { println(\"PRAGMA sqlite_master\"); }",
        &["sqlite_"],
    );
}

#[test]
fn clippy_disallows_clocks_the_environment_and_processes() {
    let text = fs::read_to_string(crate::root().join("clippy.toml")).expect("it can be read");
    let settings: toml::Table = text.parse().expect("it is TOML");
    let paths = |key: &str| -> Vec<String> {
        let entries = settings[key].as_array().expect("a list").iter();
        let path = |entry: &toml::Value| entry["path"].as_str().expect("a path").to_owned();
        entries.map(path).collect()
    };
    let methods = paths("disallowed-methods");
    for method in [
        "jiff::Timestamp::now",
        "jiff::Zoned::now",
        "std::env::current_dir",
        "std::env::var",
        "std::env::var_os",
        "std::panic::set_hook",
        "std::process::exit",
        "std::thread::sleep",
        "std::time::Instant::now",
        "std::time::SystemTime::now",
        "tokio::signal::ctrl_c",
        "tracing::subscriber::set_global_default",
    ] {
        assert!(methods.iter().any(|path| path == method), "{method}");
    }
    let types = paths("disallowed-types");
    assert_eq!(types, ["std::process::Command", "tokio::process::Command"]);
}
#[test]
fn the_library_installs_nothing_in_its_hosts_process() {
    for package in ["tracing-subscriber", "ctrlc"] {
        for name in ["domain", "store", "engine"] {
            manifest_caught(
                name,
                &format!("[dependencies]\n{package} = \"1\"\n"),
                &[package, "host"],
            );
        }
        let (path, text) = manifest("app", &format!("[dependencies]\n{package} = \"1\"\n"));
        allowed(&path, &text);
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
}

#[test]
fn a_module_of_the_binary_uses_only_lower_floors() {
    let (path, text) = manifest("app", "");
    let found = |module: &str, code: &str, used: &str| {
        let files = [module, used].map(|name| format!("crates/app/src/{name}/a.rs"));
        findings(&[(&path, &text), (&files[1], ""), (&files[0], code)])
    };
    for (from, to) in [
        ("wiring", "service"),
        ("service", "http"),
        ("hooks", "threads"),
        ("models", "wiring"),
    ] {
        let broken = found(from, &format!("use crate::{to}::a::Thing;\n"), to);
        assert_eq!(broken.len(), 1, "{from} to {to}: {broken:#?}");
        let expected = format!("src/{from}/a.rs:1: {from} may not use {to}");
        assert!(broken[0].contains(&expected), "{broken:#?}");
    }
    let downward = "use crate::wiring::a::Daybook;\nuse super::b::Thing;\n";
    assert_eq!(found("service", downward, "wiring"), [""; 0]);
    let broken = found("attic", "fn f() {}", "wiring");
    assert!(broken[0].contains("attic has no floor"), "{broken:#?}");
}

#[test]
fn siblings_that_use_each_other_are_a_circle_at_any_depth() {
    for (a, b) in [("a.rs", "b.rs"), ("a/mod.rs", "b/deep.rs")] {
        let (a, b) = (
            format!("crates/store/src/{a}"),
            format!("crates/store/src/{b}"),
        );
        let broken = findings(&[(&a, "use super::b::X;"), (&b, "fn f() { crate::a::g() }")]);
        assert_eq!(broken.len(), 1, "{a}: {broken:#?}");
    }
    let broken = findings(&[
        ("crates/store/src/rows/a.rs", "\nuse super::b::X;"),
        (
            "crates/store/src/rows/b.rs",
            "fn f() { crate::rows::c::g(vec![super::c::Y]) }",
        ),
        (
            "crates/store/src/rows/c.rs",
            "use crate::rows::{a::{self as first, Z}, d};",
        ),
        ("crates/store/src/rows/d.rs", ""),
    ]);
    let expected = "modules of store::rows use each other in a circle:\
                    \n    a uses b at crates/store/src/rows/a.rs:2\
                    \n    b uses c at crates/store/src/rows/b.rs:1\
                    \n    c uses a at crates/store/src/rows/c.rs:1";
    assert_eq!(broken, [expected]);
}

#[test]
fn a_circle_cannot_hide_behind_a_reexport_a_macro_or_an_imported_module() {
    let item = ("crates/store/src/b.rs", "use crate::a::X;\npub fn f() {}");
    for (root, a) in [
        ("mod a; mod b; pub use b::f;", "use crate::f;"),
        ("mod a; mod b; use self::b::f as g;", "use super::g;"),
        (
            "mod a; mod b;",
            "macro_rules! m { () => { $crate::b::f() }; }",
        ),
        (
            "mod a; mod b;",
            "fn g() { println!(\"{}\", crate::b::f()) }",
        ),
        (
            "mod a; mod b; use b as other;",
            "use super::other;\nfn g() { other::f() }",
        ),
    ] {
        let broken = findings(&[
            ("crates/store/src/lib.rs", root),
            ("crates/store/src/a.rs", a),
            item,
        ]);
        assert_eq!(broken.len(), 1, "{a}: {broken:#?}");
        assert!(broken[0].contains("a uses b"), "{broken:#?}");
    }
}

#[test]
fn a_parent_and_what_is_below_it_may_use_each_other() {
    let files = [
        (
            "crates/store/src/lib.rs",
            "mod a; pub struct Root; use a::f;",
        ),
        (
            "crates/store/src/a/mod.rs",
            "mod b; use b::g; pub struct Own;",
        ),
        (
            "crates/store/src/a/b/c.rs",
            "use crate::Root; use crate::a::Own; use super::super::Own;",
        ),
    ];
    assert_eq!(findings(&files), [""; 0]);
}

#[test]
fn tests_may_use_modules_above() {
    let files = [
        ("crates/store/src/a.rs", "use crate::b::X;"),
        (
            "crates/store/src/b.rs",
            "#[cfg(test)]\nmod tests { use crate::a::Y; }",
        ),
        ("crates/store/src/b_tests.rs", "use crate::a::Y;"),
    ];
    assert_eq!(findings(&files), [""; 0]);
}

#[test]
fn every_module_has_a_floor() {
    let root = tempfile::tempdir().expect("a temporary folder can be made");
    let src = root.path().join("crates/store/src");
    fs::create_dir_all(&src).expect("writable");
    fs::write(root.path().join("crates/store/Cargo.toml"), "").expect("writable");
    for (file, text) in [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::{b::X, d};"),
        ("b.rs", "use super::c::y;"),
        ("c.rs", ""),
        ("d.rs", ""),
    ] {
        fs::write(src.join(file), text).expect("writable");
    }
    let report = floors(root.path()).expect("it can be read");
    let lines: Vec<&str> = report.summary.lines().skip(1).collect();
    assert_eq!(lines, ["store 2: a", "store 1: b", "store 0: c d"]);
}

#[test]
fn a_stage_uses_only_earlier_stages() {
    for (from, to) in [
        ("places", "transcripts"),
        ("places", "projects"),
        ("transcripts", "append"),
        ("transcripts", "import"),
        ("append", "import"),
        ("import", "hook_events"),
        ("import", "jobs"),
        ("extract", "consolidate"),
        ("extract", "jobs"),
        ("consolidate", "files"),
        ("files", "recall"),
        ("files", "jobs"),
        ("recall", "jobs"),
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
    allowed(
        "crates/engine/src/transcripts/a.rs",
        "use crate::stop::Stop;",
    );
    caught(
        "crates/engine/src/stop.rs",
        "use crate::jobs::Job;",
        &["stop may not use jobs::Job"],
    );
}

#[test]
fn only_files_and_jobs_write_to_disk_and_the_pure_stages_read_nothing() {
    let write = "fn f() { std::fs::write(\"a\", \"b\").ok(); }";
    for stage in ["transcripts", "import", "recall"] {
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
            &["functions of their arguments"],
        );
    }
    allowed("crates/engine/src/transcripts/a.rs", read);
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
