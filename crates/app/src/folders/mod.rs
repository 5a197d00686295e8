//! Folders on this machine that Daybook reads and writes: its own, those of hosts, and the sample's.

pub(crate) mod access_tokens;
pub(crate) mod data_folder;
pub(crate) mod hosts;
pub(crate) mod sample;
pub(crate) mod stored_answers;
pub(crate) mod transcript_places;
