//! Memory on a PostgreSQL server, as the person at the command line sees it.

mod chaos;
mod faults;
mod following;
mod frozen;
mod same;
mod wholeness;

use std::process::Command;

use crate::fixture::TestPlace;

/// The newest commit of each memory folder of a place, read with git itself, by folder.
fn histories(place: &TestPlace) -> Vec<(String, String)> {
    let mut heads = Vec::new();
    for kind in ["projects", "users"] {
        for scope in std::fs::read_dir(place.root().join(kind))
            .into_iter()
            .flatten()
        {
            let memory = scope.expect("a folder can be read").path().join("memory");
            let git = |arguments: &[&str]| {
                let mut git = Command::new("git");
                git.arg("-C").arg(&memory).args(arguments);
                let output = git.output().expect("git is installed");
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{memory:?} {arguments:?}: {said}");
                String::from_utf8_lossy(&output.stdout).trim().to_owned()
            };
            git(&["fsck", "--strict"]);
            assert_eq!(git(&["status", "--porcelain"]), "", "{memory:?}");
            let name = memory.strip_prefix(place.root()).expect("it lies there");
            heads.push((name.display().to_string(), git(&["rev-parse", "HEAD"])));
        }
    }
    heads.sort();
    heads
}
