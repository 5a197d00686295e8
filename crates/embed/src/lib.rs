#![doc = include_str!("../README.md")]

pub mod codes;
mod file;
mod model;
mod normalise;
mod wordpiece;

pub use file::ModelError;
pub use model::StaticModel;
