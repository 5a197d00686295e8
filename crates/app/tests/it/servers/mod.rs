//! Memory on a PostgreSQL server, as those see it who run the command.

mod chaos;
mod faults;
mod following;
mod frozen;
mod same;
mod wholeness;

use std::process::Command;

use crate::fixture::Place;

/// What git itself says of each memory folder of a place: the newest commit of each, by folder.
fn histories(place: &Place) -> Vec<(String, String)> {
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
