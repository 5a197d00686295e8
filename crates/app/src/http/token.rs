//! The token: made at the first start, kept in the data folder for its owner's eyes alone.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use crate::root::shown;

/// Name of the file in the data folder.
const FILE: &str = "token";
/// Random bytes of a token.
const BYTES: usize = 32;
/// Fewest characters of a token that somebody has chosen.
const FEWEST: usize = 32;

/// What opens the gate.
pub(super) struct Token {
    pub(super) file: PathBuf,
    pub(super) secret: String,
}

/// The data folder's token, made when there is none.
pub(super) fn ensure(root: &Path) -> Result<Token> {
    let file = root.join(FILE);
    match make(root, &file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot write {}", shown(&file)))
        }
        Ok(()) | Err(_) => read(file),
    }
}

fn read(file: PathBuf) -> Result<Token> {
    let name = shown(&file);
    if is_open_to_others(&file) {
        bail!("others on this machine may read {name}; run chmod 600 {name}, or delete it");
    }
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {name}"))?;
    let secret = text.trim().to_owned();
    if secret.len() < FEWEST || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("{name} holds no token; delete it, and the next start makes a new one");
    }
    Ok(Token { file, secret })
}

/// Writes a new token beside its place and links it there, so that nobody ever reads half of one
/// and the first of two servers wins.
fn make(root: &Path, file: &Path) -> io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let unnamed = root.join(format!("{FILE}.{}", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&unnamed)
        .and_then(|mut out| out.write_all(format!("{}\n", random()?).as_bytes()))
        .and_then(|()| fs::hard_link(&unnamed, file));
    let removed = fs::remove_file(&unnamed);
    written.and(removed)
}

fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| io::Error::other(anyhow!("no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(unix)]
fn is_open_to_others(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(file).is_ok_and(|about| about.mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}
