#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

mod embedder;
mod file;
#[cfg(feature = "folder-model")]
mod folder;
mod model;
mod neighbours;
mod normalise;
mod wordpiece;

pub use file::ModelFileError;
#[cfg(feature = "folder-model")]
pub use folder::{FolderError, FolderModel};
pub use model::StaticModel;
