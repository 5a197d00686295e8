//! Reads a memory's files for the consolidation agent: a copy in memory, of the newest commit.
//!
//! It is read from the history, so that no link and no change of the folder meanwhile matters. Hidden files are not in it,
//! nor is anything beyond the bounds. The agent's own lines are taken out: the agent is shown them as its own.
//!
//! Not here: what the agent may do with the copy (`consolidate::agent`).

use std::collections::BTreeSet;

use daybook_domain::EventId;

use super::entry::{EntryId, PageBlock, parse_blocks};
use super::error::FilesError;
use super::folder::Folder;
use super::history::CommitHash;
use super::layout::{CURATED, SUMMARY, is_skill_page};
use super::workspace_diff::WorkspaceDiff;
use crate::consolidate::agent::{CopiedFiles, HANDBOOK};

/// Longest file that is copied, in bytes: 256 KiB.
const FILE_BYTES: usize = 256 * 1024;
/// Most bytes of all copied files: 4 MiB. Those that come first by path are copied.
const COPY_BYTES: usize = 4 * 1024 * 1024;
/// Most bytes of a difference that the agent reads: 64 KiB.
const DIFF_BYTES: usize = 64 * 1024;

/// A copy of a folder's files.
#[derive(Debug, Default)]
pub struct FolderCopy {
    /// The commit.
    pub head: Option<CommitHash>,
    /// The files without the agent's own lines.
    pub files: CopiedFiles,
    /// Which of the agent's entries the pages have, unchanged.
    pub own: BTreeSet<EntryId>,
    /// A digest of a person's lines on the two pages; 0 without any.
    pub persons: u64,
}

impl FolderCopy {
    /// Copies the files of `folder`, in which the agent has these entries.
    ///
    /// # Errors
    /// If the history is damaged.
    pub fn read(folder: &Folder, entries: &BTreeSet<EntryId>) -> Result<Self, FilesError> {
        let Some(head) = folder.head()? else {
            return Ok(Self::default());
        };
        let mut copy = Self {
            head: Some(head),
            ..Self::default()
        };
        let (mut bytes, mut persons) = (0, String::new());
        for path in folder.files_at(head)?.keys() {
            let Some(text) = folder.page_at(head, path)? else {
                continue;
            };
            bytes += text.len();
            let path = path.as_str();
            if bytes > COPY_BYTES || text.len() > FILE_BYTES {
                continue;
            }
            let is_page = [CURATED, SUMMARY].contains(&path);
            let text = match is_page || is_skill_page(path) {
                true => copy.without_own(&text, entries, is_page.then_some(&mut persons)),
                false => text,
            };
            if is_page || !text.trim().is_empty() {
                copy.files.texts.insert(path.to_owned(), text);
            }
        }
        if !persons.is_empty() {
            let digest = EventId::of(&[persons.as_bytes()]).0;
            copy.persons = (digest & u128::from(u64::MAX)) as u64;
        }
        Ok(copy)
    }

    /// A page without the agent's entries, and the words of a person on it.
    fn without_own(
        &mut self,
        text: &str,
        entries: &BTreeSet<EntryId>,
        mut persons: Option<&mut String>,
    ) -> String {
        let mut out = String::new();
        let mut is_only_heading = true;
        for block in parse_blocks(text) {
            let lines = match block {
                PageBlock::Ours(marker, _) | PageBlock::Pinned(marker, _)
                    if entries.contains(&marker.id()) =>
                {
                    self.own.insert(marker.id());
                    continue;
                }
                PageBlock::Ours(_, lines) | PageBlock::Pinned(_, lines) => lines.concat(),
                PageBlock::Altered(_, lines) => {
                    let lines = lines.concat();
                    persons.iter_mut().for_each(|all| all.push_str(&lines));
                    lines
                }
                PageBlock::Heading(1, line) => {
                    out.push_str(line);
                    continue;
                }
                PageBlock::Heading(_, line) => line.to_owned(),
                PageBlock::Other(line) => {
                    if !line.trim().is_empty() {
                        persons.iter_mut().for_each(|all| all.push_str(line));
                    }
                    line.to_owned()
                }
            };
            is_only_heading &= lines.trim().is_empty();
            out.push_str(&lines);
        }
        // The page of a skill that has none but the agent's lines is the agent's.
        match is_only_heading {
            true => String::new(),
            false => with_handbook_renamed(&out),
        }
    }
}

/// The agent's section is shown apart: a person's lines in it are below a heading of their own.
fn with_handbook_renamed(text: &str) -> String {
    let heading = format!("## {HANDBOOK}");
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        if line.trim() != heading {
            out.push((*line).to_owned());
            continue;
        }
        let below = lines[n + 1..].iter();
        let mut below = below.take_while(|line| !line.starts_with("## "));
        if below.any(|line| !line.trim().is_empty()) {
            out.push(format!("{heading}, lines of a person"));
        }
    }
    out.join("\n")
}

/// What changed in `folder` since `baseline`, as a text of bounded length; `None` if that commit is not known.
///
/// # Errors
/// If the folder cannot be listed.
pub fn changes_since(folder: &Folder, baseline: &str) -> Result<Option<String>, FilesError> {
    let Ok(baseline) = baseline.parse::<CommitHash>() else {
        return Ok(None);
    };
    let diff = match WorkspaceDiff::since(folder, Some(baseline)) {
        Err(FilesError::NoSuchCommit { .. }) => return Ok(None),
        diff => diff?,
    };
    let text = diff.render();
    if text.len() <= DIFF_BYTES {
        return Ok(Some(text));
    }
    let mut end = DIFF_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    Ok(Some(format!("{text}\n[cut at {DIFF_BYTES} bytes]\n")))
}
