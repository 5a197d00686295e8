//! The window on memory: pages on which a person sees what was learned, where it came from, what agents read and what it
//! cost, and mends it.
//!
//! Each page is a function from the memory to markup, through the functions of [`crate::service`] that every interface
//! shares. All text of transcripts and memories is data: it is escaped, and becomes neither a link nor an image.
//!
//! Not here: HTTP, logins, forms that change something ([`crate::http`]).

pub(crate) mod actions;
pub(crate) mod agents;
pub(crate) mod ask;
mod chart;
pub(crate) mod entry;
pub(crate) mod files;
pub(crate) mod frame;
pub(crate) mod latency;
pub(crate) mod links;
mod month_chart;
pub(crate) mod projects;
pub(crate) mod secrets;
pub(crate) mod sessions;
pub(crate) mod spend;
mod text;
pub(crate) mod threads;
pub(crate) mod today;
pub(crate) mod why;
pub(crate) mod work;

/// The sheet of styles of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");
/// What keeps a page current while it is open. Every page can be read without it.
pub(crate) const SCRIPT: &str = include_str!("live.js");
