//! Extraction by a language model.
//!
//! Not here: how a model is reached (the seam is `daybook_domain::model`).
#![allow(dead_code)]

mod cut;
#[cfg(test)]
mod scene;
mod tiers;
mod transcript;
