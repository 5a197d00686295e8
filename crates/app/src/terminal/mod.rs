//! Input and output of a command: common arguments, printing, progress, logs and suggested commands.

pub(crate) mod common_args;
pub(crate) mod logging;
pub(crate) mod output;
pub(crate) mod progress;
#[cfg(unix)]
pub(crate) mod screen;
pub(crate) mod shell;
pub(crate) mod suggest;
pub(crate) mod wrap;
