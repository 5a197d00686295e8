//! What memory folders hold that is not read, told alike by every command that meets it.
//!
//! Not here: what is refused, and why (`daybook_engine::files::refused`).

use anyhow::Result;
use daybook_engine::files::layout::folder;
use daybook_engine::files::refused::refused_in;
use serde::Serialize;
use utoipa::ToSchema;

use crate::logging::complain;
use crate::root::shown;
use crate::wiring::Daybook;

/// Most refusals that a command names which is about something else.
const NAMED: usize = 3;

/// Something in a memory folder that is not read, written or committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RefusalShown {
    /// Whose memory.
    #[schema(example = "project/tidepool")]
    pub(crate) scope: String,
    /// Where it stands.
    #[schema(example = "/home/ada/.daybook/projects/tidepool/memory/MEMORY.md")]
    pub(crate) path: String,
    /// What is wrong with it.
    #[schema(example = "it is a symbolic link")]
    pub(crate) why: String,
}

/// What is refused in the memory folders of this tenant.
pub(crate) async fn refused(daybook: &Daybook) -> Result<Vec<RefusalShown>> {
    let scopes = daybook.store.scopes(&daybook.tenant).await?;
    let refused = scopes.iter().flat_map(|state| {
        let refused = refused_in(&folder(&daybook.root, &state.scope)).into_iter();
        refused.map(move |refused| RefusalShown {
            scope: state.scope.to_string(),
            path: shown(&refused.path),
            why: refused.why,
        })
    });
    Ok(refused.collect())
}

/// Says on standard error what is refused, in a few lines.
pub(crate) async fn complain_of(daybook: &Daybook) -> Result<()> {
    let refused = refused(daybook).await?;
    for RefusalShown { path, why, .. } in refused.iter().take(NAMED) {
        complain(&format!("{path} is not used as memory: {why}"));
    }
    if refused.len() > NAMED {
        let more = refused.len() - NAMED;
        complain(&format!("{more} more are not; `daybook status` lists them"));
    }
    Ok(())
}
