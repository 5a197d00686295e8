//! Limits concurrent requests to a provider over all processes of a data folder.
//!
//! The limit is a set of lock files, one for each concurrent request that the provider allows. A request holds one of
//! them. The operating system releases a lock however its process ends.
//!
//! Not here: other machines; each has its own limit.

use std::fs::File;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::model::{Model, ModelFailure, ModelReply, ModelRequest};

/// The first wait for a free lock; each further one is twice as long, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(5);
/// Short beside answers of models, which take seconds.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// A model whose requests wait until the provider's limit allows one more.
pub(super) struct ConcurrencyLimited {
    model: Arc<dyn Model>,
    locks: Vec<PathBuf>,
}

impl ConcurrencyLimited {
    /// Allows `most` concurrent requests to `provider` from all processes of the data folder `root`.
    pub(super) fn new(
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

    /// Waits for a free lock, which is held until it is dropped. `None` where no lock file can be made: the limit within
    /// this process applies alone then.
    ///
    /// Polls: no operating system wakes a process when one of several file locks is released.
    async fn acquire_lock(&self) -> Option<File> {
        let folder = self.locks.first()?.parent()?;
        std::fs::create_dir_all(folder).ok()?;
        let mut wait = FIRST_WAIT;
        loop {
            let mut is_any_held = false;
            for path in &self.locks {
                let file = File::options()
                    .create(true)
                    .truncate(false)
                    .write(true)
                    .open(path)
                    .ok()?;
                match file.try_lock() {
                    Ok(()) => return Some(file),
                    Err(std::fs::TryLockError::WouldBlock) => is_any_held = true,
                    Err(std::fs::TryLockError::Error(_)) => {}
                }
            }
            if !is_any_held {
                return None;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

#[async_trait]
impl Model for ConcurrencyLimited {
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
        let _lock = self.acquire_lock().await;
        self.model.ask(request).await
    }
}
