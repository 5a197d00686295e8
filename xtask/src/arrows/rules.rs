//! The tables of allowed arrows: dependencies of each crate, names its source must not contain, floors of modules, and
//! uses between the stages of the engine.
//!
//! A change of a line here changes the architecture: edit ARCHITECTURE.md with it.
//!
//! Not here: calls of clocks, of the environment and of processes. `clippy.toml` disallows them.

/// A package or name that is not allowed, and why.
#[derive(Debug)]
pub(super) struct Ban {
    /// A package, in tables of packages; a path or a piece of text, in tables of source.
    pub(super) item: &'static str,
    /// The reason, as the end of "may not be here: …".
    pub(super) reason: &'static str,
    /// Crates or stages of the engine that the ban does not apply to.
    pub(super) allowed_in: &'static [&'static str],
}

const fn ban(item: &'static str, reason: &'static str) -> Ban {
    Ban {
        item,
        reason,
        allowed_in: &[],
    }
}

/// The arrows of one crate.
#[derive(Debug)]
pub(super) struct CrateRule {
    /// Its folder below `crates/`.
    pub(super) name: &'static str,
    /// Crates of ours that it may depend on outside tests.
    pub(super) may_use: &'static [&'static str],
    /// Packages that it must not depend on outside tests.
    pub(super) banned_packages: &'static [Ban],
    /// Names that its source must not contain outside tests.
    pub(super) banned_names: &'static [Ban],
}

impl CrateRule {
    /// The name of its package.
    pub(super) fn package(&self) -> String {
        match self.name {
            "daybook" => "daybook".to_owned(),
            name => format!("daybook-{name}"),
        }
    }
}

const PURE: &str = "domain holds values and pure functions of them";
const CLOCK: &str = "the present time arrives as an argument, so that tests control it";
const NO_DATABASE: &str = "only store knows databases";
const NO_HTTP: &str = "only llm and the binary use HTTP";
const NO_MODEL: &str = "a store keeps data, and calls no model";
const NO_LAYOUT: &str = "a store holds no prompt and no file layout";
const PURE_TEXT: &str = "text holds pure functions of texts";
const PURE_RANKING: &str = "ranking depends on a question and outlines of texts alone";
const NO_FILES: &str = "working memory lives in a store, and touches no file";
const NO_MEMORY: &str = "this crate works on texts alone, without sessions or memories";

/// Every crate of the workspace.
pub(super) const CRATES: &[CrateRule] = &[
    CrateRule {
        name: "domain",
        may_use: &[],
        banned_packages: &[
            ban("tokio", PURE),
            ban("mio", PURE),
            ban("rusqlite", PURE),
            ban("tokio-postgres", PURE),
            ban("deadpool", PURE),
            ban("reqwest", PURE),
            ban("hyper", PURE),
            ban("axum", PURE),
            ban("gix", PURE),
            ban("tempfile", PURE),
            ban("jiff", PURE),
            ban("chrono", PURE),
            ban("time", PURE),
            ban("rand", PURE),
        ],
        banned_names: &[
            ban("std::fs", PURE),
            ban("std::io", PURE),
            ban("std::net", PURE),
            ban("std::thread", PURE),
        ],
    },
    CrateRule {
        name: "store",
        may_use: &["domain"],
        banned_packages: &[
            ban("reqwest", NO_MODEL),
            ban("axum", NO_HTTP),
            ban("gix", NO_LAYOUT),
            ban("jiff", CLOCK),
            ban("chrono", CLOCK),
        ],
        banned_names: &[
            ban("MEMORY.md", NO_LAYOUT),
            ban("memory_summary", NO_LAYOUT),
            ban("prompts/", NO_LAYOUT),
        ],
    },
    CrateRule {
        name: "llm",
        may_use: &["domain"],
        banned_packages: &[
            ban("rusqlite", NO_MEMORY),
            ban("tokio-postgres", NO_MEMORY),
            ban("gix", NO_MEMORY),
        ],
        banned_names: &[],
    },
    CrateRule {
        name: "embed",
        may_use: &["domain"],
        banned_packages: &[
            ban("rusqlite", NO_MEMORY),
            ban("tokio-postgres", NO_MEMORY),
            ban("reqwest", NO_MEMORY),
        ],
        banned_names: &[],
    },
    CrateRule {
        name: "text",
        may_use: &["domain"],
        banned_packages: &[
            ban("tokio", PURE_TEXT),
            ban("rusqlite", PURE_TEXT),
            ban("reqwest", PURE_TEXT),
            ban("tempfile", PURE_TEXT),
            ban("jiff", PURE_TEXT),
        ],
        banned_names: &[
            ban("std::fs", PURE_TEXT),
            ban("std::io", PURE_TEXT),
            ban("std::net", PURE_TEXT),
        ],
    },
    CrateRule {
        name: "ranking",
        may_use: &["domain", "text"],
        banned_packages: &[
            ban("tokio", PURE_RANKING),
            ban("async-trait", PURE_RANKING),
            ban("rusqlite", PURE_RANKING),
            ban("tokio-postgres", PURE_RANKING),
            ban("reqwest", PURE_RANKING),
            ban("tempfile", PURE_RANKING),
        ],
        banned_names: &[
            ban("std::fs", PURE_RANKING),
            ban("std::io", PURE_RANKING),
            ban("std::net", PURE_RANKING),
        ],
    },
    CrateRule {
        name: "working",
        may_use: &["domain", "text"],
        banned_packages: &[
            ban("rusqlite", NO_DATABASE),
            ban("tokio-postgres", NO_DATABASE),
            ban("deadpool", NO_DATABASE),
            ban("axum", NO_HTTP),
            ban("reqwest", NO_HTTP),
            ban("gix", NO_FILES),
            ban("jiff", CLOCK),
        ],
        banned_names: &[ban("std::fs", NO_FILES), ban("std::net", NO_HTTP)],
    },
    CrateRule {
        name: "engine",
        may_use: &["domain", "text", "embed", "ranking", "working"],
        banned_packages: &[
            ban("rusqlite", NO_DATABASE),
            ban("tokio-postgres", NO_DATABASE),
            ban("deadpool", NO_DATABASE),
            ban("axum", NO_HTTP),
            ban("hyper", NO_HTTP),
            ban("reqwest", NO_HTTP),
            ban("tower-http", NO_HTTP),
            ban("rmcp", NO_HTTP),
        ],
        banned_names: &[ban("sqlite_", NO_DATABASE)],
    },
    CrateRule {
        name: "eval",
        may_use: &["domain", "text", "working", "ranking", "engine"],
        banned_packages: &[
            ban("rusqlite", NO_DATABASE),
            ban("tokio-postgres", NO_DATABASE),
            ban("deadpool", NO_DATABASE),
            ban("reqwest", NO_HTTP),
            ban("axum", NO_HTTP),
        ],
        banned_names: &[],
    },
    CrateRule {
        name: "testkit",
        may_use: &["domain"],
        banned_packages: &[],
        banned_names: &[],
    },
    CrateRule {
        name: "daybook",
        may_use: &["domain", "store", "llm", "embed", "text", "working", "app"],
        banned_packages: &[],
        banned_names: &[],
    },
    CrateRule {
        name: "app",
        may_use: &[
            "domain", "store", "llm", "embed", "text", "working", "engine", "eval",
        ],
        banned_packages: &[],
        banned_names: &[],
    },
];

/// Packages that the library leaves to its host.
pub(super) const LIBRARY_PACKAGES: &[Ban] = &[
    library(
        "tracing-subscriber",
        "the host process chooses its subscriber",
    ),
    library("ctrlc", "signals belong to the host process"),
];

const fn library(item: &'static str, reason: &'static str) -> Ban {
    Ban {
        item,
        reason,
        allowed_in: &["app", "testkit"],
    }
}

/// Floors that are decided, and do not only follow from the arrows.
#[derive(Debug)]
pub(super) struct DecidedFloors {
    /// The module, or crate, whose children stand on them.
    pub(super) parent: &'static str,
    /// Every child, lowest floor first. A child uses only those of lower floors.
    pub(super) floors: &'static [&'static [&'static str]],
}

/// The modules whose children have decided floors.
pub(super) const DECIDED_FLOORS: &[DecidedFloors] = &[DecidedFloors {
    parent: "app",
    floors: &[
        &["compressed", "process", "toml_text"],
        &["folders"],
        &["clock", "settings"],
        &["terminal"],
        &["models", "setup"],
        &["wiring"],
        &["service", "background", "backup"],
        &["remote"],
        &["purge"],
        &["threads", "hooks"],
        &["window", "mcp", "library"],
        &["http"],
        &["cli"],
    ],
}];

/// The arrows of one stage of the engine.
#[derive(Debug)]
pub(super) struct StageRule {
    /// Its folder or file below `crates/engine/src/`.
    pub(super) name: &'static str,
    /// Other stages that it may name.
    pub(super) may_use: &'static [&'static str],
    /// Why it may name no other.
    pub(super) reason: &'static str,
}

/// The stages, in the order of the pipeline.
pub(super) const STAGES: &[StageRule] = &[
    StageRule {
        name: "places",
        may_use: &[],
        reason: "where an event happened follows from a path and a checkout alone",
    },
    StageRule {
        name: "transcripts",
        may_use: &["places"],
        reason: "a reader turns bytes into events; it knows no store and no later stage",
    },
    StageRule {
        name: "projects",
        may_use: &["places"],
        reason: "a folder's project follows from stored evidence, however that was read",
    },
    StageRule {
        name: "append",
        may_use: &["transcripts", "projects"],
        reason: "appending an event does not decide what becomes of it",
    },
    StageRule {
        name: "import",
        may_use: &["places", "transcripts", "projects", "append"],
        reason: "an import appends what transcripts hold; what becomes of it is for later stages",
    },
    StageRule {
        name: "homes",
        may_use: &["transcripts"],
        reason: "the files of a home are parsed and rendered without a store",
    },
    StageRule {
        name: "spend",
        may_use: &[],
        reason: "what a call costs does not depend on its question or its stage",
    },
    StageRule {
        name: "triggers",
        may_use: &[],
        reason: "a trigger marks work as due, and does none",
    },
    StageRule {
        name: "hook_events",
        may_use: &["places", "projects", "append", "import", "triggers"],
        reason: "a hook event causes an import and makes work due; doing that work is for later stages",
    },
    StageRule {
        name: "extract",
        may_use: &["spend"],
        reason: "an extractor drafts observations from a window; jobs file them",
    },
    StageRule {
        name: "consolidate",
        may_use: &["extract"],
        reason: "a memory is a pure function of observations, whatever its files look like",
    },
    StageRule {
        name: "files",
        may_use: &["extract", "consolidate"],
        reason: "files hold the pages of consolidation, and do not depend on who searches them",
    },
    StageRule {
        name: "recall",
        may_use: &["extract", "consolidate", "files"],
        reason: "recall searches what earlier stages stored, and drives none of them",
    },
    StageRule {
        name: "jobs",
        may_use: &[
            "places",
            "transcripts",
            "projects",
            "append",
            "import",
            "homes",
            "spend",
            "triggers",
            "hook_events",
            "extract",
            "consolidate",
            "files",
            "recall",
        ],
        reason: "jobs drive every stage",
    },
    StageRule {
        name: "profile",
        may_use: &[
            "extract",
            "consolidate",
            "files",
            "recall",
            "jobs",
            "hook_events",
        ],
        reason: "a profile names a choice for every stage",
    },
];

/// Names that only some stages of the engine may contain; `allowed_in` names stages here.
pub(super) const STAGE_NAMES: &[Ban] = &[
    writes("fs::write"),
    writes("fs::rename"),
    writes("fs::remove_file"),
    writes("fs::create_dir"),
    writes("fs::create_dir_all"),
    writes("File::create"),
    writes("File::create_new"),
    writes("OpenOptions::new"),
    reads("std::fs"),
    reads("std::net"),
];

/// `jobs` may write the worker's lock file, and `hook_events` its spool.
const fn writes(item: &'static str) -> Ban {
    Ban {
        item,
        reason: "memory files are built by files alone, and this stage writes none of its own",
        allowed_in: &["files", "jobs", "hook_events"],
    }
}

const fn reads(item: &'static str) -> Ban {
    Ban {
        item,
        reason: "extract and consolidate are functions of their arguments",
        allowed_in: &[
            "places",
            "transcripts",
            "projects",
            "import",
            "homes",
            "hook_events",
            "files",
            "recall",
            "jobs",
            "profile",
        ],
    }
}
