//! Input and output of a command: common arguments, printing, progress, logs and suggested commands.

#[cfg(feature = "interfaces")]
pub(crate) mod common_args;
pub(crate) mod error_class;
#[cfg(feature = "interfaces")]
pub(crate) mod logging;
pub(crate) mod messages;
pub(crate) mod output;
#[cfg(feature = "interfaces")]
pub(crate) mod progress;
#[cfg(all(unix, feature = "interfaces"))]
pub(crate) mod screen;
pub(crate) mod server_timeout;
pub(crate) mod shell;
pub(crate) mod silent;
pub(crate) mod suggest;
#[cfg(feature = "interfaces")]
pub(crate) mod wrap;
