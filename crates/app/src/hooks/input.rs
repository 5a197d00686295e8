//! Reads the payload from standard input, within a time limit.
//!
//! A hook uses one thread only. A process with a second one, as a timer, exits only after that one was scheduled, too: a
//! millisecond later on an idle machine, several on a busy one.

use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Longest wait for the payload. Claude Code gives all hooks at the end of a session 1.5 s.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Most bytes of a payload that are read; an agent's last message may be long.
const MAX_PAYLOAD_BYTES: usize = 16 * 1024 * 1024;

/// Reads what the host sends, up to the end of its input.
pub(super) fn read() -> Result<String> {
    let mut payload = Vec::new();
    read_in_time(&mut payload).context("the hook's payload cannot be read")?;
    if payload.len() > MAX_PAYLOAD_BYTES {
        bail!("the hook's payload is longer than {MAX_PAYLOAD_BYTES} bytes");
    }
    String::from_utf8(payload).context("the hook's payload is not text")
}

#[cfg(unix)]
fn read_in_time(payload: &mut Vec<u8>) -> Result<()> {
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdin = rustix::stdio::stdin();
    let until = Instant::now() + MAX_WAIT;
    let mut chunk = vec![0; 64 * 1024];
    while payload.len() <= MAX_PAYLOAD_BYTES {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now()))?;
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left));
        match ready {
            Ok(0) => bail!("its host did not end it in time"),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        match rustix::io::read(stdin, &mut chunk) {
            Ok(0) => return Ok(()),
            Ok(n) => payload.extend_from_slice(&chunk[..n]),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Without a time limit: on these systems the host's own timeout ends the wait.
#[cfg(not(unix))]
fn read_in_time(payload: &mut Vec<u8>) -> Result<()> {
    use std::io::Read;

    std::io::stdin()
        .take(MAX_PAYLOAD_BYTES as u64 + 1)
        .read_to_end(payload)?;
    Ok(())
}
