//! Turns at a provider: its bound on requests at once holds over all processes of a data folder.
//!
//! Each request of a question needs one of as many locks as the provider allows requests at once. The
//! system lets go of a lock however its process ends.
//!
//! Not here: other machines; each has its own bound.

use std::fs::File;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::model::{Model, ModelFailure, ModelReply, ModelRequest};

/// The first wait for a turn; each further one is longer, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(5);
/// Answers take seconds: whoever looks this often wastes none.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// A model whose questions wait for their turn.
pub(crate) struct InTurn {
    model: Arc<dyn Model>,
    locks: Vec<PathBuf>,
}

impl InTurn {
    /// Of `provider`, which lets `most` be asked at once by whoever works in the data folder `root`.
    pub(crate) fn new(
        model: Arc<dyn Model>,
        root: &Path,
        provider: &str,
        most: NonZeroU32,
    ) -> Self {
        let folder = root.join("run").join("asking");
        let lock = |n| folder.join(format!("{provider}.{n}"));
        Self {
            model,
            locks: (0..most.get()).map(lock).collect(),
        }
    }

    /// Waits for a turn, which lasts until it is dropped. Where no lock can be made, the bound within this
    /// process has to do.
    async fn turn(&self) -> Option<File> {
        let folder = self.locks.first()?.parent()?;
        std::fs::create_dir_all(folder).ok()?;
        let mut wait = FIRST_WAIT;
        loop {
            let mut could_be_had = false;
            for path in &self.locks {
                let file = File::options()
                    .create(true)
                    .truncate(false)
                    .write(true)
                    .open(path)
                    .ok()?;
                match file.try_lock() {
                    Ok(()) => return Some(file),
                    Err(std::fs::TryLockError::WouldBlock) => could_be_had = true,
                    Err(std::fs::TryLockError::Error(_)) => {}
                }
            }
            if !could_be_had {
                return None;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

#[async_trait]
impl Model for InTurn {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_tokens(&self) -> u32 {
        self.model.context_tokens()
    }

    fn count_tokens(&self, text: &str) -> u32 {
        self.model.count_tokens(text)
    }

    fn most_requests(&self) -> u32 {
        self.model.most_requests()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let _turn = self.turn().await;
        self.model.ask(request).await
    }
}
