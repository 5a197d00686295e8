//! The payload on standard input, waited for only so long.
//!
//! All of a hook's work stays on one thread. With a second one to watch over it, a process ends only
//! when that one has had its turn, too: a millisecond at rest, several on a busy machine.

use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Longest wait for the payload. Claude Code gives all hooks of a session that ends 1.5 s.
const BUDGET: Duration = Duration::from_secs(1);
/// Most bytes of a payload that are read; an agent's last message may be long.
const PAYLOAD: usize = 16 * 1024 * 1024;

/// What the host says, up to the end of its input.
pub(super) fn read() -> Result<String> {
    let mut payload = Vec::new();
    read_in_time(&mut payload).context("the hook's payload cannot be read")?;
    if payload.len() > PAYLOAD {
        bail!("the hook's payload is longer than {PAYLOAD} bytes");
    }
    String::from_utf8(payload).context("the hook's payload is not text")
}

#[cfg(unix)]
fn read_in_time(payload: &mut Vec<u8>) -> Result<()> {
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdin = rustix::stdio::stdin();
    let until = Instant::now() + BUDGET;
    let mut chunk = vec![0; 64 * 1024];
    while payload.len() <= PAYLOAD {
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

/// Elsewhere the host's own timeout is what ends a wait.
#[cfg(not(unix))]
fn read_in_time(payload: &mut Vec<u8>) -> Result<()> {
    use std::io::Read;

    std::io::stdin()
        .take(PAYLOAD as u64 + 1)
        .read_to_end(payload)?;
    Ok(())
}
