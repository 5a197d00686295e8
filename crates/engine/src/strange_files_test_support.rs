//! What may stand where a regular file is expected, for tests, and a bound on how long a reader takes.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Longest that a reader may take for something strange.
const IN_TIME: Duration = Duration::from_secs(20);

/// Runs `work` on a thread of its own, and fails when it takes too long.
pub(crate) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(IN_TIME).expect("it answers in time")
}

/// Makes a named pipe without a writer.
pub(crate) fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// Makes a file of `bytes` that takes no space.
pub(crate) fn make_sparse(path: &Path, bytes: u64) {
    File::create(path)
        .and_then(|file| file.set_len(bytes))
        .expect("a sparse file");
}
