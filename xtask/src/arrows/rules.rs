//! The tables: what each crate may use, what it must never name, and which stage of the engine may
//! look at which other.
//!
//! Changing a line here changes the architecture: ARCHITECTURE.md is edited with it.

/// Something that must not be named, and why.
#[derive(Debug)]
pub(super) struct Banned {
    /// A package, for dependencies; a path or a piece of text, for source.
    pub(super) what: &'static str,
    /// Why not, as the end of "may not be here: …".
    pub(super) because: &'static str,
    /// Crates, files of theirs such as `app/src/keys.rs`, or stages of the engine, that are let off.
    pub(super) but_not_in: &'static [&'static str],
}

const fn banned(what: &'static str, because: &'static str) -> Banned {
    Banned {
        what,
        because,
        but_not_in: &[],
    }
}

/// What one crate may use.
#[derive(Debug)]
pub(super) struct CrateRule {
    /// Its folder below `crates/`.
    pub(super) name: &'static str,
    /// Crates of ours that it may depend on outside tests.
    pub(super) may_use: &'static [&'static str],
    /// Packages that it must not depend on outside tests.
    pub(super) banned_packages: &'static [Banned],
    /// What its source must not name outside tests.
    pub(super) banned_text: &'static [Banned],
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
const CLOCK: &str = "the present time arrives as an argument, so that tests own it";
const ENVIRONMENT: &str = "only the binary reads the environment";
const LISTENERS: &str = "whoever uses the library chooses who listens";
const SIGNALS: &str = "signals and panics of a process belong to its host";
const NO_DATABASE: &str = "only store knows databases";
const NO_HTTP: &str = "only llm and the binary speak HTTP";
const NO_MODEL: &str = "a store remembers; it asks no model";
const NO_LAYOUT: &str = "a store knows no prompt and no file layout";
const NO_MEMORY: &str = "this crate serves text to anybody and knows no memory";

/// Every crate of the workspace.
pub(super) const CRATES: &[CrateRule] = &[
    CrateRule {
        name: "domain",
        may_use: &[],
        banned_packages: &[
            banned("tokio", PURE),
            banned("async-std", PURE),
            banned("smol", PURE),
            banned("mio", PURE),
            banned("rusqlite", PURE),
            banned("sqlx", PURE),
            banned("tokio-postgres", PURE),
            banned("deadpool-postgres", PURE),
            banned("reqwest", PURE),
            banned("ureq", PURE),
            banned("hyper", PURE),
            banned("axum", PURE),
            banned("gix", PURE),
            banned("tempfile", PURE),
            banned("jiff", PURE),
            banned("chrono", PURE),
            banned("time", PURE),
            banned("rand", PURE),
        ],
        banned_text: &[
            banned("std::fs", PURE),
            banned("std::io", PURE),
            banned("std::net", PURE),
            banned("std::thread", PURE),
            banned("SystemTime::now", CLOCK),
            banned("Instant::now", CLOCK),
        ],
    },
    CrateRule {
        name: "store",
        may_use: &["domain"],
        banned_packages: &[
            banned("reqwest", NO_MODEL),
            banned("ureq", NO_MODEL),
            banned("axum", NO_HTTP),
            banned("gix", NO_LAYOUT),
            banned("jiff", CLOCK),
            banned("chrono", CLOCK),
        ],
        banned_text: &[
            banned("SystemTime::now", CLOCK),
            banned("Timestamp::now", CLOCK),
            banned("MEMORY.md", NO_LAYOUT),
            banned("memory_summary", NO_LAYOUT),
            banned("prompts/", NO_LAYOUT),
        ],
    },
    CrateRule {
        name: "llm",
        may_use: &["domain"],
        banned_packages: &[
            banned("rusqlite", NO_MEMORY),
            banned("tokio-postgres", NO_MEMORY),
            banned("gix", NO_MEMORY),
        ],
        banned_text: &[banned("SystemTime::now", CLOCK)],
    },
    CrateRule {
        name: "embed",
        may_use: &["domain"],
        banned_packages: &[
            banned("rusqlite", NO_MEMORY),
            banned("tokio-postgres", NO_MEMORY),
            banned("reqwest", NO_MEMORY),
            banned("ureq", NO_MEMORY),
        ],
        banned_text: &[banned("SystemTime::now", CLOCK)],
    },
    CrateRule {
        name: "engine",
        may_use: &["domain"],
        banned_packages: &[
            banned("rusqlite", NO_DATABASE),
            banned("sqlx", NO_DATABASE),
            banned("tokio-postgres", NO_DATABASE),
            banned("deadpool-postgres", NO_DATABASE),
            banned("axum", NO_HTTP),
            banned("hyper", NO_HTTP),
            banned("reqwest", NO_HTTP),
            banned("ureq", NO_HTTP),
            banned("tower-http", NO_HTTP),
            banned("rmcp", NO_HTTP),
        ],
        banned_text: &[
            banned("SystemTime::now", CLOCK),
            banned("Instant::now", CLOCK),
            banned("Timestamp::now", CLOCK),
            banned("Zoned::now", CLOCK),
            banned("rusqlite", NO_DATABASE),
            banned("sqlite_", NO_DATABASE),
        ],
    },
    CrateRule {
        name: "eval",
        may_use: &["domain", "engine"],
        banned_packages: &[
            banned("rusqlite", NO_DATABASE),
            banned("tokio-postgres", NO_DATABASE),
            banned("deadpool-postgres", NO_DATABASE),
            banned("reqwest", NO_HTTP),
            banned("axum", NO_HTTP),
        ],
        banned_text: &[
            banned("SystemTime::now", CLOCK),
            banned("Timestamp::now", CLOCK),
            banned("Zoned::now", CLOCK),
        ],
    },
    CrateRule {
        name: "testkit",
        may_use: &["domain"],
        banned_packages: &[],
        banned_text: &[],
    },
    CrateRule {
        name: "daybook",
        may_use: &["domain", "store", "llm", "embed", "engine"],
        banned_packages: &[],
        banned_text: &[],
    },
    CrateRule {
        name: "app",
        may_use: &[
            "domain", "store", "llm", "embed", "engine", "eval", "daybook",
        ],
        banned_packages: &[],
        banned_text: &[],
    },
];

/// What the library leaves to its host.
const fn library(what: &'static str, because: &'static str) -> Banned {
    Banned {
        what,
        because,
        but_not_in: &["app", "testkit"],
    }
}

/// What no source of ours names outside tests.
pub(super) const EVERYWHERE: &[Banned] = &[
    library("std::env", ENVIRONMENT),
    library("set_global_default", LISTENERS),
    library("tracing_subscriber", LISTENERS),
    library("ctrlc", SIGNALS),
    library("signal_hook", SIGNALS),
    library("tokio::signal", SIGNALS),
    library("panic::set_hook", SIGNALS),
    Banned {
        what: "std::process::Command",
        because: "Daybook starts no process",
        // But for the program that settings name to print a key.
        but_not_in: &["testkit", "app/src/keys.rs"],
    },
];

/// What one stage of the engine may look at.
#[derive(Debug)]
pub(super) struct StageRule {
    /// Its folder or file below `crates/engine/src/`.
    pub(super) name: &'static str,
    /// Other stages that it may name.
    pub(super) may_use: &'static [&'static str],
    /// Why no other.
    pub(super) because: &'static str,
}

/// The stages, in the order of the road.
pub(super) const STAGES: &[StageRule] = &[
    StageRule {
        name: "ingest",
        may_use: &[],
        because: "what takes transcripts in does not know what becomes of them",
    },
    StageRule {
        name: "spend",
        may_use: &[],
        because: "what a call costs does not depend on what is asked, nor for which stage",
    },
    StageRule {
        name: "triggers",
        may_use: &[],
        because: "a trigger says when work is due; it does none",
    },
    StageRule {
        name: "notices",
        may_use: &["ingest", "triggers"],
        because: "a notice says that there is something to read; what it teaches is for later stages",
    },
    StageRule {
        name: "extract",
        may_use: &["ingest", "spend"],
        because: "an extractor reads a window and says what is worth keeping; filing is not its own",
    },
    StageRule {
        name: "consolidate",
        may_use: &["ingest", "extract"],
        because: "a memory is a pure function of what was observed, whatever its files look like",
    },
    StageRule {
        name: "files",
        may_use: &["ingest", "extract", "consolidate"],
        because: "files hold what consolidation says; who searches them is none of their business",
    },
    StageRule {
        name: "recall",
        may_use: &["ingest", "extract", "consolidate", "files"],
        because: "recall answers from what earlier stages left, and drives none of them",
    },
    StageRule {
        name: "working",
        may_use: &["ingest", "extract", "consolidate", "files", "recall"],
        because: "working memory reads the log and answers through recall; work is driven by jobs",
    },
    StageRule {
        name: "jobs",
        may_use: &[
            "ingest",
            "extract",
            "consolidate",
            "files",
            "recall",
            "working",
            "profile",
            "notices",
            "spend",
        ],
        because: "jobs drive every stage",
    },
    StageRule {
        name: "profile",
        may_use: &[
            "ingest",
            "extract",
            "consolidate",
            "files",
            "recall",
            "working",
            "jobs",
            "notices",
        ],
        because: "a profile names a choice for every stage",
    },
];

/// Modules that every stage may use, and that use no stage themselves.
pub(super) const LEAVES: &[(&str, &str)] = &[(
    "recall::tokens",
    "what is stored and what is asked must be cut into words by one and the same rule",
)];

/// What only some stages of the engine may do; `but_not_in` names stages here.
pub(super) const STAGE_TEXT: &[Banned] = &[
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

/// Jobs are let off for the file that shows a worker to be alive, notices for their spool.
const fn writes(what: &'static str) -> Banned {
    Banned {
        what,
        because: "memory files are built by files alone, and this stage writes none of its own",
        but_not_in: &["files", "jobs", "notices"],
    }
}

const fn reads(what: &'static str) -> Banned {
    Banned {
        what,
        because: "extract and consolidate are functions of what they are handed",
        but_not_in: &[
            "ingest", "notices", "files", "recall", "working", "jobs", "profile",
        ],
    }
}
