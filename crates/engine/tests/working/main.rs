//! Working memory on real stores: the seed's examples, what its own tests assert, and what nobody tested.

mod against_model;
mod blocking;
mod compaction;
mod conformance;
mod faulty;
mod fixture;
mod life;
mod seed_examples;
mod simulation;
