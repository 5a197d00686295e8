//! What every command takes, and with it whatever a command begins.

use std::path::PathBuf;

use clap::Args;

use crate::logging::{Form, Wanted};

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// The data folder [default: DAYBOOK_HOME, or ~/.daybook]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) root: Option<PathBuf>,
    /// Where memory is kept: sqlite, or postgres://… [default: the setting `store`]
    #[arg(long, global = true, value_name = "ADDRESS")]
    store: Option<String>,
    /// Whose memory is opened, where several share a data folder [default: the setting `tenant`]
    #[arg(long, global = true, value_name = "NAME")]
    tenant: Option<String>,
    /// Print JSON, and nothing else, to standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log to standard error: off, error, warn, info, debug or trace [default: DAYBOOK_LOG, or off]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log: Option<Wanted>,
    /// How lines of the log look [default: DAYBOOK_LOG_FORMAT, or text]
    #[arg(long, global = true, value_name = "FORM", value_enum)]
    pub(crate) log_format: Option<Form>,
    /// A setting for this run alone, before environment and daybook.toml; may be repeated
    #[arg(long, global = true, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// How long the command waits for a server.
    #[arg(skip)]
    pub(crate) patience: Patience,
}

/// How long one call of a server that keeps memory may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Patience {
    /// For work in the background, which rides out restarts of the server and reports that it waits.
    #[default]
    Work,
    /// For a person or an agent who waits for an answer: three seconds.
    Answer,
}

impl Common {
    /// The same, with memory kept at `address` for this run.
    pub(crate) fn with_store_at(&self, address: &str) -> Self {
        let mut common = self.clone();
        common
            .set
            .retain(|set| !set.trim_start().starts_with("store="));
        common.set.push(format!("store={address}"));
        common
    }

    /// `--store` and `--tenant` are settings like any other.
    pub(crate) fn with_store(mut self) -> Self {
        let store = self.store.take();
        self.set.extend(store.map(|store| format!("store={store}")));
        let tenant = self.tenant.take();
        self.set.extend(tenant.map(|name| format!("tenant={name}")));
        self
    }
}
