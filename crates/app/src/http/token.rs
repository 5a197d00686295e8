//! Tokens that allow everything to their tenant. The first start creates the token of the server's own tenant, in a file
//! of the data folder that only its owner may read.
//!
//! Not here: tokens with rights of their own (`folders::access_tokens`).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use daybook_domain::Tenant;
use daybook_engine::bounded;

use crate::folders::data_folder::display_path;
use crate::settings::is_tenant;

/// Name of the file in the data folder.
const FILE: &str = "token";
/// The variable that holds a token for the server's own tenant.
const VARIABLE: &str = "DAYBOOK_TOKEN";
/// Longest token file that is read, in bytes.
const FILE_BYTES: u64 = 64 * 1024;
/// Random bytes of a token.
const BYTES: usize = 32;
/// Fewest characters of a token that a person has chosen.
const FEWEST: usize = 32;

/// Folder of the data folder that holds tokens of tenants, each in a file of the tenant's name.
const TENANTS: &str = "tokens";
/// Most tenants that one server answers.
const MOST: usize = 1_000;

/// A secret that gives access to the memory of one tenant.
pub(super) struct TenantToken {
    pub(super) file: PathBuf,
    pub(super) secret: String,
    pub(super) tenant: Tenant,
}

/// Reads the tokens of tenants that a person has put below `tokens/`.
pub(super) fn of_tenants(root: &Path) -> Result<Vec<TenantToken>> {
    let folder = root.join(TENANTS);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", display_path(&folder)));
        }
    };
    let mut tokens = Vec::new();
    for entry in entries {
        let file = entry
            .with_context(|| format!("cannot read {}", display_path(&folder)))?
            .path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !is_tenant(&name) {
            bail!(
                "{} is not named for a tenant; write 1 to 64 of the letters a to z, digits, - and _",
                display_path(&file)
            );
        }
        let tenant = Tenant(name.into_owned());
        tokens.push(read(file, tenant)?);
        if tokens.len() > MOST {
            bail!("{} holds more than {MOST} tokens", display_path(&folder));
        }
    }
    tokens.sort_by(|a, b| a.tenant.cmp(&b.tenant));
    Ok(tokens)
}

/// The token that fits. Every one is compared, so that the time taken does not depend on which one does.
pub(super) fn find_token(
    tokens: &[TenantToken],
    fits: impl Fn(&TenantToken) -> bool,
) -> Option<&TenantToken> {
    let tokens = tokens.iter();
    tokens.fold(
        None,
        |found, token| if fits(token) { Some(token) } else { found },
    )
}

/// Compares two tokens; the time does not depend on where two of one length differ.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let differs = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |differs, (a, b)| std::hint::black_box(differs | (a ^ b)));
    one.len() == other.len() && differs == 0
}

/// Refuses two tenants with one token: it would be ambiguous whose memory the token opens.
pub(super) fn check_distinct(tokens: &[TenantToken]) -> Result<()> {
    for (n, one) in tokens.iter().enumerate() {
        let same = tokens[n + 1..]
            .iter()
            .find(|other| other.secret == one.secret);
        if let Some(other) = same.filter(|other| other.tenant != one.tenant) {
            bail!(
                "{} and {} hold the same token, and belong to two tenants; make a new one for each",
                display_path(&one.file),
                display_path(&other.file)
            );
        }
    }
    Ok(())
}

/// Reads the token of the server's own tenant; creates it when there is none.
pub(super) fn ensure(root: &Path, tenant: &Tenant) -> Result<TenantToken> {
    let file = root.join(FILE);
    match make(root, &file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot write {}", display_path(&file)))
        }
        Ok(()) | Err(_) => read(file, tenant.clone()),
    }
}

/// The token of the server's own tenant that the environment holds, where it holds one: for a container, which gets its
/// secrets so.
pub(super) fn of_environment(tenant: &Tenant) -> Result<Option<TenantToken>> {
    let Ok(given) = std::env::var(VARIABLE) else {
        return Ok(None);
    };
    let secret = given.trim().to_owned();
    if !is_valid(&secret) {
        bail!(
            "{VARIABLE} holds no valid token; write at least {FEWEST} visible characters of ASCII"
        );
    }
    Ok(Some(TenantToken {
        file: VARIABLE.into(),
        secret,
        tenant: tenant.clone(),
    }))
}

/// Whether a text can be a token.
fn is_valid(secret: &str) -> bool {
    secret.len() >= FEWEST && secret.bytes().all(|byte| byte.is_ascii_graphic())
}

fn read(file: PathBuf, tenant: Tenant) -> Result<TenantToken> {
    let name = display_path(&file);
    if is_open_to_others(&file) {
        bail!("others on this machine may read {name}; run chmod 600 {name}, or delete it");
    }
    let text =
        bounded::read_text(&file, FILE_BYTES).with_context(|| format!("cannot read {name}"))?;
    let secret = text.trim().to_owned();
    if !is_valid(&secret) {
        bail!("{name} holds no valid token; delete it, and the next start creates a new one");
    }
    Ok(TenantToken {
        file,
        secret,
        tenant,
    })
}

/// Writes a new token to a temporary file and links it to its place, so that no reader sees half of one
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_same_in_every_byte() {
        assert!(is_same("abc", "abc"));
        for other in ["", "ab", "abd", "xbc", "abcd"] {
            assert!(!is_same("abc", other), "{other}");
        }
    }
}
