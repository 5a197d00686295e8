//! Exchanges memory files with a git repository that several machines push to and pull from.
//!
//! The machines have a memory each, and no store in common. The repository holds the present text of their memory
//! folders, without secrets, in a history of its own: a folder's history stays on its machine, since it may hold what was
//! taken out of the files later. A [`Mirror`] of the repository lies in the data folder. [`merge_folder`] brings
//! one folder and the mirror together: what others changed becomes a commit of the person here, what changed here is
//! returned, for the next commit of the mirror.
//!
//! Each step can be repeated: the commit of a folder names the state that it was merged with, and a push adds to that
//! state or is refused.
//!
//! Not here: transports and credentials, which are those of the person's git (`app`); when folders are exchanged
//! (`jobs`).

mod entry_merge;
mod folder_merge;
mod mirror;
mod outgoing;
mod received;
mod removals;
#[cfg(test)]
mod tests;

pub use folder_merge::{MergeReport, merge_folder};
pub use mirror::{FETCHED, FileUpdate, Mirror, RemoteFolder, RemovedEntries};
pub use outgoing::{OutgoingSize, outgoing_size};
pub use received::has_received;
pub(in crate::files) use received::make_own;

use super::layout::{ATTRIBUTES, LOG, MARKS, is_engine_file, is_engine_page};
use super::rollouts::is_rollout_file;

/// Whether a file is exchanged. Blocks of a log and of Codex's files are merged by other rules than entries are, and the
/// files of entities follow rows of this machine's store: they stay here.
pub(super) fn is_exchanged(path: &str) -> bool {
    let stays = [LOG, MARKS, ATTRIBUTES].contains(&path) || is_rollout_file(path);
    !stays && (is_engine_page(path) || !is_engine_file(path))
}
