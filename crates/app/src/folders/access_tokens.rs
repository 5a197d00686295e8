//! The tokens that a person makes for programs that reach this memory over HTTP: each with a name, a tenant, rights and
//! perhaps an end.
//!
//! Only a token's hash is stored. A token is 32 random bytes, so that its hash can be tried against nothing, and needs no
//! slow function. A revoked token stays listed, and its name stays taken, so that an old log never means a new token.
//!
//! Not here: which right a request needs (`http::access`).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use daybook_domain::{Tenant, Timestamp};
use daybook_engine::bounded;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::data_folder::display_path;

/// The file in the data folder.
const FILE: &str = "access-tokens.json";
/// Its lock: of two commands that change it, one waits.
const LOCK: &str = "access-tokens.lock";
/// Longest file that is read, in bytes.
const FILE_BYTES: u64 = 1024 * 1024;
/// Most tokens, revoked ones included.
const MOST: usize = 1_000;
/// Longest name of a token, in bytes.
const NAME: usize = 64;
/// What every token begins with, so that a person and a scanner of secrets recognise it.
const PREFIX: &str = "daybook_";

/// What a token allows.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Right {
    /// Reading memory: lists, recall, contexts, files.
    Read,
    /// Adding to it and changing it. All of that can be taken back.
    Write,
    /// Removing something for good.
    Purge,
}

impl Right {
    /// Its name for people and programs.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// All that one caller may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rights(BTreeSet<Right>);

impl Rights {
    /// Every right, which the token of the data folder has.
    pub(crate) fn all() -> Self {
        Self(Right::VARIANTS.iter().copied().collect())
    }

    pub(crate) fn of(rights: impl IntoIterator<Item = Right>) -> Self {
        Self(rights.into_iter().collect())
    }

    pub(crate) fn has(&self, right: Right) -> bool {
        self.0.contains(&right)
    }

    /// Their names, such as `read, write`.
    pub(crate) fn listed(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|right| right.as_str()).collect();
        names.join(", ")
    }
}

/// One token, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccessToken {
    pub(crate) name: String,
    pub(crate) tenant: String,
    pub(crate) rights: Rights,
    /// Of the token, in hexadecimal digits.
    hash: String,
    /// In milliseconds since 1970, as all times here.
    pub(crate) made_at: i64,
    #[serde(default)]
    pub(crate) ends_at: Option<i64>,
    #[serde(default)]
    pub(crate) revoked_at: Option<i64>,
}

/// Whether a token opens anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenState {
    Valid,
    Expired,
    Revoked,
}

impl AccessToken {
    pub(crate) fn tenant(&self) -> Tenant {
        Tenant(self.tenant.clone())
    }

    pub(crate) fn state(&self, now: Timestamp) -> TokenState {
        match (self.revoked_at, self.ends_at) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(end)) if end <= now.0 => TokenState::Expired,
            (None, _) => TokenState::Valid,
        }
    }

    /// The hash, which a request's token is compared with.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }
}

/// The hash of a token.
pub(crate) fn hash_of(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

/// What a new token is to be.
pub(crate) struct NewToken<'a> {
    pub(crate) name: &'a str,
    pub(crate) tenant: &'a Tenant,
    pub(crate) rights: Rights,
    pub(crate) made_at: Timestamp,
    pub(crate) ends_at: Option<Timestamp>,
    /// From the operating system's source of random bytes.
    pub(crate) random: [u8; 32],
}

/// The tokens of a data folder.
#[derive(Debug, Clone)]
pub(crate) struct AccessTokens {
    root: PathBuf,
}

impl AccessTokens {
    pub(crate) fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// All tokens, in the order in which they were made.
    pub(crate) fn read(&self) -> Result<Vec<AccessToken>> {
        let file = self.file();
        let failed = || format!("cannot read {}", display_path(&file));
        let text = match bounded::read_text(&file, FILE_BYTES) {
            Ok(text) => text,
            Err(refusal) if refusal.is_absence() => return Ok(Vec::new()),
            Err(refusal) => return Err(refusal).with_context(failed),
        };
        serde_json::from_str(&text).with_context(failed)
    }

    /// Makes a token and returns it: it is stored nowhere.
    pub(crate) fn add(&self, new: &NewToken<'_>) -> Result<String> {
        check_name(new.name)?;
        let _lock = self.lock()?;
        let mut all = self.read()?;
        if all.iter().any(|token| token.name == new.name) {
            bail!(
                "there is, or was, a token \"{}\"; choose another name",
                new.name
            );
        }
        if all.len() >= MOST {
            bail!(
                "there are {MOST} tokens already; delete {} to begin anew",
                display_path(&self.file())
            );
        }
        let digits = new.random.map(|byte| format!("{byte:02x}"));
        let secret = format!("{PREFIX}{}", digits.concat());
        all.push(AccessToken {
            name: new.name.to_owned(),
            tenant: new.tenant.0.clone(),
            rights: new.rights.clone(),
            hash: hash_of(&secret),
            made_at: new.made_at.0,
            ends_at: new.ends_at.map(|end| end.0),
            revoked_at: None,
        });
        self.write(&all)?;
        Ok(secret)
    }

    /// Revokes a token. One that is revoked already stays as it is.
    pub(crate) fn revoke(&self, name: &str, now: Timestamp) -> Result<AccessToken> {
        let _lock = self.lock()?;
        let mut all = self.read()?;
        let Some(token) = all.iter_mut().find(|token| token.name == name) else {
            bail!("there is no token \"{name}\"; `daybook token list` has their names");
        };
        token.revoked_at = token.revoked_at.or(Some(now.0));
        let revoked = token.clone();
        self.write(&all)?;
        Ok(revoked)
    }

    /// Differs whenever the file is another one: each change replaces it.
    pub(crate) fn version(&self) -> Option<FileVersion> {
        let about = fs::metadata(self.file()).ok()?;
        Some(FileVersion {
            changed: about.modified().ok()?,
            bytes: about.len(),
            #[cfg(unix)]
            number: std::os::unix::fs::MetadataExt::ino(&about),
        })
    }

    fn file(&self) -> PathBuf {
        self.root.join(FILE)
    }

    fn lock(&self) -> Result<File> {
        let path = self.root.join(LOCK);
        let lock = File::create(&path).and_then(|file| file.lock().map(|()| file));
        lock.with_context(|| format!("cannot lock {}", display_path(&path)))
    }

    /// Replaces the file whole; only its owner may read it.
    fn write(&self, all: &[AccessToken]) -> Result<()> {
        let text = serde_json::to_string_pretty(all)?;
        let failed = || format!("cannot write {}", display_path(&self.file()));
        let mut file = tempfile::NamedTempFile::new_in(&self.root).with_context(failed)?;
        file.write_all(text.as_bytes()).with_context(failed)?;
        file.as_file().sync_all().with_context(failed)?;
        file.persist(self.file()).with_context(failed)?;
        Ok(())
    }
}

/// Tells one content of the file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileVersion {
    changed: SystemTime,
    bytes: u64,
    #[cfg(unix)]
    number: u64,
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > NAME || !name.chars().all(is_plain) {
        bail!("a token's name is 1 to {NAME} letters, digits, -, _ and ., such as \"phone\"");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn add(tokens: &AccessTokens, name: &str, ends_at: Option<Timestamp>) -> Result<String> {
        tokens.add(&NewToken {
            name,
            tenant: &Tenant::local(),
            rights: Rights::of([Right::Read]),
            made_at: NOW,
            ends_at,
            random: [7; 32],
        })
    }

    #[test]
    fn a_token_is_stored_as_its_hash_and_read_by_its_owner_alone() {
        let root = tempfile::tempdir().expect("a folder");
        let tokens = AccessTokens::of(root.path());
        assert_eq!(tokens.read().expect("it is read"), []);
        let secret = add(&tokens, "phone", None).expect("it is made");
        assert_eq!((secret.len(), &secret[..8]), (72, "daybook_"));
        let file = root.path().join(FILE);
        let text = fs::read_to_string(&file).expect("a file");
        assert!(
            !text.contains(&secret[8..]) && text.contains(&hash_of(&secret)),
            "{text}"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o077, 0);
        }
    }

    #[test]
    fn a_token_ends_at_its_time_or_when_it_is_revoked() {
        let root = tempfile::tempdir().expect("a folder");
        let tokens = AccessTokens::of(root.path());
        let before = tokens.version();
        add(&tokens, "phone", Some(Timestamp(2_000))).expect("it is made");
        let made = tokens.version();
        add(&tokens, "tablet", None).expect("it is made");
        let read = |now| {
            let all = tokens.read().expect("it is read");
            let states = all.iter().map(|token| token.state(Timestamp(now)));
            states.collect::<Vec<_>>()
        };
        assert_eq!(read(1_999), [TokenState::Valid, TokenState::Valid]);
        assert_eq!(read(2_000), [TokenState::Expired, TokenState::Valid]);
        let revoked = tokens
            .revoke("tablet", Timestamp(1_500))
            .expect("it is revoked");
        let again = tokens
            .revoke("tablet", Timestamp(1_600))
            .expect("it is revoked");
        assert_eq!((revoked.revoked_at, again), (Some(1_500), revoked.clone()));
        assert_eq!(read(1_999), [TokenState::Valid, TokenState::Revoked]);
        assert!(before.is_none() && made.is_some() && made != tokens.version());
    }

    #[test]
    fn a_name_is_taken_once_and_for_all() {
        let root = tempfile::tempdir().expect("a folder");
        let tokens = AccessTokens::of(root.path());
        add(&tokens, "phone", None).expect("it is made");
        tokens.revoke("phone", NOW).expect("it is revoked");
        for name in ["phone", "", "a b", "../x", &"n".repeat(65)] {
            add(&tokens, name, None).expect_err(name);
        }
        assert!(tokens.revoke("tablet", NOW).is_err());
        assert_eq!(tokens.read().expect("it is read").len(), 1);
    }
}
