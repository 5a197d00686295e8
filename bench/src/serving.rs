//! A server that is measured.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::process::daybook;

/// A running `daybook serve`.
pub(crate) struct ServeProcess {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl ServeProcess {
    /// One on the data folder `root`, with `options` before its command.
    pub(crate) fn start(root: &Path, options: &[&str]) -> Result<Self> {
        let mut command = Command::new(daybook()?);
        command.arg("--root").arg(root);
        command.args(options);
        command.args(["serve", "--no-follow", "--listen", "127.0.0.1:0"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("daybook does not start")?;
        let output = child.stdout.take().context("it has an output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().rsplit("http://").next().unwrap_or_default();
        let token = std::fs::read_to_string(root.join("token"))?;
        Ok(Self {
            child,
            address: address.to_owned(),
            token: token.trim().to_owned(),
        })
    }

    pub(crate) fn end(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
