//! The address of the repository that memory files are exchanged with.
//!
//! git runs a program for addresses of the form `name::rest`, and takes what begins with a dash for an option. Neither is
//! an address here. An address with a password in it is refused, because it is written down and printed.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::service::RequestError;

/// Schemes of addresses; for others git would look for a program of that name.
const SCHEMES: [&str; 6] = ["file", "git", "http", "https", "ssh", "git+ssh"];

/// An address that git takes for nothing but a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteAddress(String);

impl RemoteAddress {
    /// Checks an address that was named before.
    ///
    /// # Errors
    /// [`RequestError::Invalid`] with the rule that it breaks.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if let Some(why) = fault_in(text) {
            bail!(RequestError::Invalid(format!(
                "{text:?} cannot be the address of a repository: {why}"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    /// Checks an address from a command line; a path becomes absolute, so that it holds in every folder.
    ///
    /// # Errors
    /// As [`RemoteAddress::parse`].
    pub(crate) fn of_argument(text: &str) -> Result<Self> {
        let checked = Self::parse(text)?;
        let path = Path::new(text);
        if !text.contains("://") && path.exists() {
            let absolute = std::path::absolute(path).context("the folder here is gone")?;
            return Self::parse(&absolute.to_string_lossy());
        }
        Ok(checked)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn fault_in(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.starts_with('-') {
        return Some("git would take it for an option");
    }
    if text.chars().any(char::is_control) {
        return Some("it holds a control character");
    }
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    let after_name = text.trim_start_matches(is_of_name);
    if after_name.starts_with("::") {
        return Some("git would run a program for it");
    }
    let (scheme, rest) = text.split_once("://")?;
    if !SCHEMES.contains(&scheme) {
        return Some("its scheme is none of file, git, http, https and ssh");
    }
    let host = rest.split('/').next().unwrap_or_default();
    let user = host.rsplit_once('@').map(|(user, _)| user);
    user.filter(|user| user.contains(':')).map(
        |_| "it holds a password; leave that to git's credential helper, which git asks by itself",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, fault: Option<&str>) {
        let found = RemoteAddress::parse(text).map_err(|error| error.to_string());
        match (found, fault) {
            (Ok(address), None) => assert_eq!(address.as_str(), text),
            (Err(found), Some(fault)) => assert!(found.contains(fault), "{text}: {found}"),
            (found, fault) => panic!("{text}: {found:?}, not {fault:?}"),
        }
    }

    #[test]
    fn an_address_is_a_repository_and_nothing_else() {
        for text in [
            "git@host.example:ada/memory.git",
            "ssh://git@host.example:2222/ada/memory.git",
            "https://host.example/ada/memory",
            "/srv/git/memory.git",
            "C:\\repositories\\memory",
            "file:///srv/git/memory.git",
        ] {
            check(text, None);
        }
        check("", Some("it is empty"));
        check("--upload-pack=touch /tmp/x", Some("an option"));
        check("ext::sh -c true", Some("run a program"));
        check("fd::3", Some("run a program"));
        check("hg://host.example/memory", Some("scheme"));
        check("https://ada:pass@host.example/memory", Some("a password"));
        check("https://host.example/a\nb", Some("control character"));
    }
}
