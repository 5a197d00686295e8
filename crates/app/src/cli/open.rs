//! `daybook open`: shows the memory in a browser.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::CommonArgs;
use super::serve::ServeCommand;
use crate::http;
use crate::process::open_in_browser;
use crate::terminal::output::{dim, json as print_json, print_line};
use crate::wiring::Daybook;

/// Longest wait for a server that may listen already.
const WAIT: Duration = Duration::from_millis(500);
/// Most of its answer that is read.
const ANSWER: u64 = 4 * 1024;

/// Show the memory in a browser: what was learned, where it came from, what agents read, and what it cost.
///
/// Uses the server that `daybook serve` has started, or starts one and ends it with Ctrl-C. The address that is opened
/// works once, within a minute.
#[derive(Args)]
pub(crate) struct OpenCommand {
    /// Address and port of the server
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    listen: SocketAddr,
    /// Print the address, and open no browser
    #[arg(long)]
    no_browser: bool,
    /// Do not follow what the agents of this machine write
    #[arg(long)]
    no_follow: bool,
}

impl OpenCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        if is_served(self.listen) {
            let daybook = Daybook::open_existing(common)?;
            self.show(common, &daybook, &format!("http://{}", self.listen), false)?;
            return Ok(ExitCode::SUCCESS);
        }
        let serve = ServeCommand::here(self.listen, self.no_follow);
        serve.run_with(common, |daybook, listening| {
            self.show(common, daybook, &listening.address, true)
        })
    }

    fn show(
        &self,
        common: &CommonArgs,
        daybook: &Daybook,
        server: &str,
        is_ours: bool,
    ) -> Result<()> {
        let address = http::entry_address(daybook, server)?;
        let is_open = !self.no_browser && open_in_browser(&address);
        if common.json {
            return print_json(&json!({ "address": address, "opened": is_open }));
        }
        match is_open {
            true => print_line!("The window is open in your browser: {server}/window"),
            false => print_line!("Open this address in a browser, within a minute:\n  {address}"),
        }
        if is_ours {
            print_line!("{}", dim("Ctrl-C ends it; nothing is lost."));
        }
        Ok(())
    }
}

/// Whether a Daybook server listens there.
fn is_served(address: SocketAddr) -> bool {
    let asked = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, WAIT)?;
        stream.set_read_timeout(Some(WAIT))?;
        stream.set_write_timeout(Some(WAIT))?;
        let request =
            format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.take(ANSWER).read_to_string(&mut answer)?;
        Ok(answer)
    };
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    asked().is_ok_and(|answer| answer.contains(&version))
}
