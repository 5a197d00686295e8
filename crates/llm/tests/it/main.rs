//! Models over all wires, against a provider that does what it is told to.

mod cassettes;
mod forms;
mod keys;
mod limits;
mod outcomes;
mod promises;
mod retries;
mod rig;
mod tools;
