//! Creates special files in place of regular ones, for tests, and bounds how long a reader takes.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Longest time that a reader may take for a special file.
const IN_TIME: Duration = Duration::from_secs(20);

/// Runs `work` on a thread of its own, and fails when it takes too long.
pub(crate) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(IN_TIME).expect("it answers in time")
}

/// Creates a named pipe without a writer.
pub(crate) fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// Creates a file of `bytes` that takes no space.
pub(crate) fn make_sparse(path: &Path, bytes: u64) {
    File::create(path)
        .and_then(|file| file.set_len(bytes))
        .expect("a sparse file");
}
