//! Finds since when a line stands in a memory file, and what stood there before.

use super::entry::{EntryId, PageBlock, main_words, parse_blocks, without_marker};
use super::error::FilesError;
use super::folder::Folder;
use super::history::Commit;
use super::path::FilePath;

/// Most changes of a file that are searched.
const CHANGES: usize = 2000;

/// How a line came to stand in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineHistory {
    /// The first commit with these words; `None` if no commit has them.
    pub since: Option<Commit>,
    /// The words that the same entry had before.
    pub before: Option<String>,
}

impl Folder {
    /// The history of the line `text` (without its marker) at `path`: of the entry `id`, or of a person's own line.
    ///
    /// # Errors
    /// If the history is damaged.
    pub fn line_history(
        &self,
        path: &FilePath,
        id: Option<&EntryId>,
        text: &str,
    ) -> Result<LineHistory, FilesError> {
        let mut history = LineHistory::default();
        for commit in self.log_of(path, CHANGES)? {
            let page = self.page_at(commit.id, path)?.unwrap_or_default();
            match line_of(&page, id, text) {
                Some(words) if words == text => history.since = Some(commit),
                words => {
                    history.before = words.filter(|_| history.since.is_some());
                    if history.since.is_some() {
                        break;
                    }
                }
            }
        }
        Ok(history)
    }
}

fn line_of(page: &str, id: Option<&EntryId>, text: &str) -> Option<String> {
    let words = |line: &str| without_marker(line).trim().to_owned();
    let Some(id) = id else {
        return page.lines().map(words).find(|line| line == text);
    };
    parse_blocks(page).iter().find_map(|block| match block {
        PageBlock::Ours(marker, held)
        | PageBlock::Pinned(marker, held)
        | PageBlock::Altered(marker, held) => {
            (marker.id() == *id).then(|| main_words(held).1.trim().to_owned())
        }
        PageBlock::Heading(..) | PageBlock::Other(_) => None,
    })
}
