//! Arguments of every command.

use std::path::PathBuf;

use clap::Args;

use super::logging::{LogFilter, LogFormat};
use super::server_timeout::ServerTimeout;

/// Arguments of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct CommonArgs {
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
    pub(crate) log: Option<LogFilter>,
    /// How lines of the log look [default: DAYBOOK_LOG_FORMAT, or text]
    #[arg(long, global = true, value_name = "FORM", value_enum)]
    pub(crate) log_format: Option<LogFormat>,
    /// A setting for this run alone, before environment and daybook.toml; may be repeated
    #[arg(long, global = true, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    #[arg(skip)]
    pub(crate) server_timeout: ServerTimeout,
}

/// Parses a limit of a list.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a list has at least 1 entry; leave it out for the usual number".to_owned()),
        Ok(limit) => Ok(limit),
        Err(_) => Err("write a number, such as 20".to_owned()),
    }
}

impl CommonArgs {
    /// These arguments, with `address` as the store of this run.
    pub(crate) fn with_store_at(&self, address: &str) -> Self {
        let mut common = self.clone();
        common
            .set
            .retain(|set| !set.trim_start().starts_with("store="));
        common.set.push(format!("store={address}"));
        common
    }

    /// Turns `--store` and `--tenant` into settings like any other.
    pub(crate) fn with_flags_as_settings(mut self) -> Self {
        let store = self.store.take();
        self.set.extend(store.map(|store| format!("store={store}")));
        let tenant = self.tenant.take();
        self.set.extend(tenant.map(|name| format!("tenant={name}")));
        self
    }
}
