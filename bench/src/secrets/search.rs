//! Searches all that a data folder holds for planted secrets.
//!
//! A secret is looked for as it is, as JSON writes it, percent-encoded and in Base64, in any case of its letters: the
//! index keeps words in lower case. Of a long secret each half counts, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use aho_corasick::AhoCorasick;
use anyhow::{Context, Result};

use super::encode::{base64_within, percent_encoded};
use super::planter::PlantedSecret;

/// Shortest secret whose halves are looked for.
const HALVED: usize = 32;

/// Where each secret was found: the numbers of secrets, and the kinds of files.
pub(super) type Leaks = BTreeMap<usize, BTreeSet<String>>;

/// Looks for many secrets at once.
pub(super) struct SecretSearch {
    forms: AhoCorasick,
    /// The secret of each form.
    secrets: Vec<usize>,
    pub(super) leaks: Leaks,
}

impl SecretSearch {
    pub(super) fn new(planted: &[PlantedSecret]) -> Result<Self> {
        let mut forms = Vec::new();
        let mut secrets = Vec::new();
        for (nth, one) in planted.iter().enumerate() {
            for form in all_forms(&one.secret.secret) {
                forms.push(form);
                secrets.push(nth);
            }
        }
        let forms = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(forms)?;
        Ok(Self {
            forms,
            secrets,
            leaks: Leaks::new(),
        })
    }

    /// Searches bytes, which are called `sink` in the report.
    pub(super) fn bytes(&mut self, sink: &str, bytes: &[u8]) {
        for found in self.forms.find_overlapping_iter(bytes) {
            let secret = self.secrets[found.pattern().as_usize()];
            self.leaks
                .entry(secret)
                .or_default()
                .insert(sink.to_owned());
        }
    }

    /// Searches all files of a data folder, their names, and the objects of its git repositories.
    pub(super) fn folder(&mut self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            self.bytes("names of files", path.as_os_str().as_encoded_bytes());
            if path.is_dir() {
                if path.join("objects").is_dir() && path.join("HEAD").is_file() {
                    self.git_objects(&path)?;
                }
                self.folder(&path)?;
            } else {
                self.bytes(sink_of(&path), &fs::read(&path)?);
            }
        }
        Ok(())
    }

    fn git_objects(&mut self, git: &Path) -> Result<()> {
        let repository = gix::open_opts(git, gix::open::Options::isolated())?;
        for id in repository.objects.iter()? {
            let id = id?;
            let object = repository
                .find_object(id)
                .context("a git object cannot be read")?;
            self.bytes("git objects", &object.data);
        }
        Ok(())
    }
}

fn sink_of(path: &Path) -> &'static str {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_in = |part: &str| path.components().any(|it| it.as_os_str() == part);
    match () {
        () if name.contains(".db") => "database",
        () if is_in(".git") => "git files",
        () if name.ends_with(".md") => "memory files",
        () => "other files",
    }
}

/// The forms of a secret, without repeats.
fn all_forms(secret: &str) -> BTreeSet<Vec<u8>> {
    let mut parts: Vec<&str> = secret.lines().collect();
    for line in secret.lines() {
        if line.len() >= HALVED && line.is_ascii() {
            let (head, tail) = line.split_at(line.len() / 2);
            // The first half of some secrets is the same in all of them.
            let is_random = head.bytes().filter(u8::is_ascii_alphanumeric).count() >= HALVED;
            parts.extend([tail].into_iter().chain(is_random.then_some(head)));
        }
    }
    let forms = parts.into_iter().flat_map(|part| {
        let json = serde_json::Value::from(part).to_string();
        let twice = serde_json::Value::from(json.trim_matches('"')).to_string();
        [
            part.as_bytes().to_vec(),
            json.trim_matches('"').as_bytes().to_vec(),
            twice.trim_matches('"').as_bytes().to_vec(),
            percent_encoded(part).into_bytes(),
        ]
        .into_iter()
        .chain((0..3).map(|shift| base64_within(part, shift).into_bytes()))
    });
    forms.collect()
}

#[cfg(test)]
mod tests {
    use super::super::families::{generate, named};
    use super::*;
    use crate::transcripts::SeededNumbers;

    #[test]
    fn a_secret_is_found_in_every_form_and_not_elsewhere() {
        let family = named("env-password").expect("a family");
        let mut numbers = SeededNumbers(3);
        let mut secret = generate(&mut numbers, family);
        secret.secret = "a\"b/cdefgh%ijklm".to_owned();
        let planted = [PlantedSecret {
            place: "here",
            secret,
        }];
        let count = |text: &str| {
            let mut search = SecretSearch::new(&planted).expect("forms");
            search.bytes("text", text.as_bytes());
            search.leaks.len()
        };
        for form in [
            "x A\"b/cdefgh%ijklM y",
            r#"{"a":"a\"b/cdefgh%ijklm"}"#,
            r#""{\"a\":\"a\\\"b/cdefgh%ijklm\"}""#,
            "?k=a%22b%2Fcdefgh%25ijklm",
            // The Base64 of "key=" and the secret.
            "a2V5PWEiYi9jZGVmZ2glaWprbG0=",
        ] {
            assert_eq!(count(form), 1, "{form}");
        }
        assert_eq!(count("a\"b/cdefgh and %ijklm"), 0);
    }
}
