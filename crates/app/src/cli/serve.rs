//! `daybook serve`: answer agents over HTTP.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use daybook_engine::recall::search::prepare;

use super::CommonArgs;
use crate::background;
use crate::folders::data_folder;
use crate::http::{self, Listening};
use crate::process::stop_on_interrupt;
use crate::terminal::output::{dim, json as print_json, print_line};
use crate::wiring::Daybook;

/// Answer agents over HTTP, on this machine.
#[derive(Args)]
pub(crate) struct ServeCommand {
    /// Address and port to listen on; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    listen: SocketAddr,
    /// Answer other machines, too: a proxy with TLS, or a tunnel, stands between them and this server
    #[arg(long)]
    behind_proxy: bool,
    /// Do not follow what the agents of this machine write
    #[arg(long)]
    no_follow: bool,
}

impl ServeCommand {
    /// A server at an address of this machine.
    pub(super) fn here(listen: SocketAddr, no_follow: bool) -> Self {
        Self {
            listen,
            behind_proxy: false,
            no_follow,
        }
    }

    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        self.run_with(common, |_, listening| {
            if self.behind_proxy {
                warn_of_remote(listening.socket);
            }
            print_listening(common, listening)
        })
    }

    /// Serves until it is stopped. `on_listening` is called once the server listens.
    pub(super) fn run_with(
        &self,
        common: &CommonArgs,
        on_listening: impl FnOnce(&Daybook, &Listening) -> Result<()>,
    ) -> Result<ExitCode> {
        if !self.listen.ip().is_loopback() && !self.behind_proxy {
            bail!(
                "other machines can reach {}, and plain HTTP would send the token and the memory unencrypted; \
                 listen on 127.0.0.1, or put a proxy with TLS before this server and say --behind-proxy",
                self.listen.ip()
            );
        }
        let daybook = Arc::new(Daybook::open_or_create(common)?);
        let stop = stop_on_interrupt()?;
        // Before the first question comes.
        std::thread::spawn(prepare);
        background::start(
            daybook.root.clone(),
            common.set.clone(),
            !self.no_follow,
            stop.clone(),
        );
        http::run(
            &daybook,
            self.listen,
            self.behind_proxy,
            &stop,
            |listening| on_listening(&daybook, listening),
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What `--behind-proxy` lets in, on standard error: a script that starts a server reads the other stream.
fn warn_of_remote(address: SocketAddr) {
    let reach = match (address.ip().is_loopback(), address.ip().is_unspecified()) {
        (true, _) => "programs of this machine, under any host name".to_owned(),
        (false, true) => format!(
            "every machine that reaches one of this machine's addresses, on port {}",
            address.port()
        ),
        (false, false) => format!("every machine that reaches {address}"),
    };
    crate::terminal::messages::print_notice(&format!(
        "--behind-proxy: this server answers {reach}. It serves no TLS itself: let no machine reach it but \
         through a proxy with TLS or a tunnel, since the token alone protects the memory."
    ));
}

fn print_listening(common: &CommonArgs, listening: &Listening) -> Result<()> {
    if common.json {
        return print_json(listening);
    }
    let token = data_folder::display_path(&listening.token_file);
    print_line!("Listening on {}", listening.address);
    print_line!("  token        {token}");
    print_line!("  description  {}/openapi.json", listening.address);
    print_line!("  window       {}/window", listening.address);
    print_line!("{}", dim("Ctrl-C ends it; nothing is lost."));
    Ok(())
}
