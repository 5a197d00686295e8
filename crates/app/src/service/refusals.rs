//! Lists files in memory folders that are not used as memory, in the same words for every interface.
//!
//! Not here: the rules by which a file is refused (`daybook_engine::files::refused`).

use anyhow::Result;
use daybook_domain::page::read_all;
use daybook_engine::files::layout::folder;
use daybook_engine::files::refused::{MOST_ENTRIES, list_refused};
use serde::Serialize;
use utoipa::ToSchema;

use crate::folders::data_folder::display_path;
use crate::terminal::messages::print_error;
use crate::wiring::Daybook;

/// Most refusals that are named by a command with another purpose.
const MAX_NAMED: usize = 3;
/// Entries of each memory folder that such a command checks: checking thousands of pages takes longer than a recall.
const CHECKED_ENTRIES: usize = 200;

/// Something in a memory folder that is not read, written or committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RefusedFile {
    /// The scope of the memory folder.
    #[schema(example = "project/tidepool")]
    pub(crate) scope: String,
    /// Its path.
    #[schema(example = "/home/ada/.daybook/projects/tidepool/memory/MEMORY.md")]
    pub(crate) path: String,
    /// Why it is not used.
    #[schema(example = "it is a symbolic link")]
    pub(crate) why: String,
}

/// Lists the refused files in the memory folders of this tenant.
pub(crate) async fn refused_files(daybook: &Daybook) -> Result<Vec<RefusedFile>> {
    refused_among(daybook, MOST_ENTRIES).await
}

/// Those among the first `most` entries of each folder.
async fn refused_among(daybook: &Daybook, most: usize) -> Result<Vec<RefusedFile>> {
    let scopes = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let refused = scopes.iter().flat_map(|state| {
        let refused = list_refused(&folder(&daybook.root, &state.scope), most).into_iter();
        refused.map(move |refused| RefusedFile {
            scope: state.scope.to_string(),
            path: display_path(&refused.path),
            why: refused.why,
        })
    });
    Ok(refused.collect())
}

/// Prints a few lines about refused files to standard error.
pub(crate) async fn warn_of_refused_files(daybook: &Daybook) -> Result<()> {
    let refused = refused_among(daybook, CHECKED_ENTRIES).await?;
    for RefusedFile { path, why, .. } in refused.iter().take(MAX_NAMED) {
        print_error(&format!("{path} is not used as memory: {why}"));
    }
    if refused.len() > MAX_NAMED {
        let more = refused.len() - MAX_NAMED;
        print_error(&format!("{more} more are not; `daybook status` lists them"));
    }
    Ok(())
}
