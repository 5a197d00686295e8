#![doc = include_str!("../README.md")]

mod embedder;
mod file;
mod model;
mod near;
mod normalise;
mod wordpiece;

pub use file::ModelError;
pub use model::StaticModel;
