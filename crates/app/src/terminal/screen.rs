//! The whole terminal: drawn on in place, with single keys read, and given back as it was.
//!
//! Signals stay those of the terminal, so Ctrl-C reaches the process as always.
//!
//! Not here: what is drawn.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Enters the other screen, which leaves the lines above as they are, and hides the cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// Shows the cursor, and leaves the other screen.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// Begins at the top left. Lines are cleared as they are written, so that nothing flickers.
const HOME: &str = "\x1b[H";
const END_LINE: &str = "\x1b[K\r\n";
const CLEAR_BELOW: &str = "\x1b[J";

/// A key that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Quit,
    Up,
    Down,
    /// Any other.
    Other,
}

/// The terminal, until it is dropped.
pub(crate) struct Screen {
    before: Termios,
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn open() -> Result<Self> {
        let before = tcgetattr(stdin()).context("the terminal has no settings to keep")?;
        let mut modes = before.clone();
        modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        // A process that is suspended would leave the other screen behind.
        modes.special_codes[SpecialCodeIndex::VSUSP] = 0;
        modes.special_codes[SpecialCodeIndex::VMIN] = 0;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin(), OptionalActions::Now, &modes).context("the terminal keeps its modes")?;
        let screen = Self { before };
        write(ENTER)?;
        Ok(screen)
    }

    /// Columns and rows.
    pub(crate) fn size() -> (usize, usize) {
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map_or((80, 24), |(columns, rows)| {
            (usize::from(columns.0), usize::from(rows.0))
        })
    }

    /// Shows lines in place of the last ones. They fit the terminal.
    pub(crate) fn draw(&self, lines: &[String]) -> Result<()> {
        let text = lines.join(END_LINE);
        write(&format!("{HOME}{text}\x1b[K{CLEAR_BELOW}"))
    }

    /// Waits for keys. None when the time is over, or a signal came.
    pub(crate) fn keys(&self, longest: Duration) -> Result<Vec<Key>> {
        let mut input = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
        let longest = Timespec::try_from(longest).context("a short time")?;
        match poll(&mut input, Some(&longest)) {
            Ok(0) | Err(Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 64];
        let read = rustix::io::read(stdin(), &mut bytes)?;
        Ok(keys_of(&bytes[..read]))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = write(LEAVE);
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

/// The keys that these bytes stand for. No byte at all means that the terminal is gone.
fn keys_of(mut bytes: &[u8]) -> Vec<Key> {
    if bytes.is_empty() {
        return vec![Key::Quit];
    }
    let mut keys = Vec::new();
    while !bytes.is_empty() {
        let (key, length) = match bytes {
            [b'\x1b', b'[' | b'O', b'A', ..] => (Key::Up, 3),
            [b'\x1b', b'[' | b'O', b'B', ..] => (Key::Down, 3),
            [b'\x1b', b'[' | b'O', _, ..] => (Key::Other, 3),
            [b'q' | b'Q' | b'\x1b', ..] => (Key::Quit, 1),
            [b'k', ..] => (Key::Up, 1),
            [b'j', ..] => (Key::Down, 1),
            _ => (Key::Other, 1),
        };
        keys.push(key);
        bytes = &bytes[length..];
    }
    keys
}

fn write(text: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    Ok(output.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_bytes_also_where_several_come_at_once() {
        let keys = [
            (&b""[..], vec![Key::Quit]),
            (b"\x1b", vec![Key::Quit]),
            (b"\x1b[Bxq", vec![Key::Down, Key::Other, Key::Quit]),
            (b"\x1bOAj", vec![Key::Up, Key::Down]),
            (b"\x1b[Ck", vec![Key::Other, Key::Up]),
        ];
        for (bytes, expected) in keys {
            assert_eq!(keys_of(bytes), expected, "{bytes:?}");
        }
    }
}
