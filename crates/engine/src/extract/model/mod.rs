//! Extraction by a language model.
//!
//! Not here: how a model is reached (the seam is `daybook_domain::model`).
#![allow(dead_code)]

mod answer;
mod cut;
mod grounds;
mod guidance;
mod headings;
mod no_reply;
mod observations_xml;
mod rollout;
#[cfg(test)]
mod scene;
mod stage_one;
mod tiers;
mod transcript;
mod validation;

pub use guidance::Guidance;
