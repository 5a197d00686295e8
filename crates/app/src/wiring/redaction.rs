//! Makes the redactor of this process from the data folder: its rules, its kinds of personal data, its key.
//!
//! Not here: what is a secret (`text::redact`), the format of the rules' file (`settings::rules_file`).

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use daybook_text::redact::{FingerprintKey, RedactionConfig, Redactor};
use tempfile::NamedTempFile;

use crate::folders::data_folder::{self, display_path};
use crate::process::random_bytes;
use crate::settings::Settings;
use crate::settings::rules_file::RulesFile;

/// Name of the file with the key of fingerprints: 64 hexadecimal digits, readable by its owner alone.
pub(crate) const KEY_FILE: &str = "redaction.key";

/// Installs the redactor of the data folder at `folder`, whose key is made if it has none.
///
/// # Errors
/// When its rules or its key cannot be used. No event may be stored then.
pub(crate) fn install(folder: &Path, settings: &Settings) -> Result<()> {
    let key = match read_key(folder)? {
        Some(key) => key,
        None => create_key(folder)?,
    };
    install_with(folder, settings, Some(key))
}

/// [`install`] for a hook, which makes no file: a folder without a key has no memory yet.
pub(crate) fn install_for_hook(folder: &Path, settings: &Settings) -> Result<()> {
    install_with(folder, settings, read_key(folder)?)
}

fn install_with(folder: &Path, settings: &Settings, key: Option<FingerprintKey>) -> Result<()> {
    redactor(RulesFile::of_folder(folder)?, settings, key).install();
    Ok(())
}

/// The redactor with these rules, and what the settings say.
pub(crate) fn redactor(
    rules: RulesFile,
    settings: &Settings,
    key: Option<FingerprintKey>,
) -> Redactor {
    Redactor::new(RedactionConfig {
        own: rules.rules,
        personal: settings.personal_data.clone(),
        key,
    })
}

/// The key of the data folder, if it has one.
pub(crate) fn read_key(folder: &Path) -> Result<Option<FingerprintKey>> {
    let path = folder.join(KEY_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", display_path(&path)));
        }
    };
    match blake3::Hash::from_hex(text.trim()) {
        Ok(key) => Ok(Some(FingerprintKey(key.into()))),
        Err(_) => bail!(
            "{} is no key of 64 hexadecimal digits; put the file of a backup in its place, or remove it: \
             equal secrets will then have other fingerprints than before",
            display_path(&path)
        ),
    }
}

/// Makes a key. Of processes that make one at the same time, all get the one that came first.
fn create_key(folder: &Path) -> Result<FingerprintKey> {
    let path = folder.join(KEY_FILE);
    let failed = || format!("cannot write {}", display_path(&path));
    data_folder::create(folder)?;
    let key = blake3::Hash::from(random_bytes()?);
    let mut file = NamedTempFile::new_in(folder).with_context(failed)?;
    writeln!(file, "{}", key.to_hex()).with_context(failed)?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(FingerprintKey(key.into())),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            read_key(folder)?.with_context(failed)
        }
        Err(error) => Err(error.error).with_context(failed),
    }
}
