//! `daybook token`: tokens for programs that reach this memory over HTTP.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use daybook_domain::time::Clock;
use daybook_domain::{Tenant, Timestamp};
use serde_json::{Value, json};
use strum::VariantArray;

use super::CommonArgs;
use crate::clock::SystemClock;
use crate::folders::access_tokens::{
    AccessToken, AccessTokens, NewToken, Right, Rights, TokenState,
};
use crate::folders::data_folder;
use crate::process::random_bytes;
use crate::settings::{is_tenant, parse_duration};
use crate::terminal::output::{dim, json as print_json, print_line, rfc3339};
use crate::wiring::tenant_of;

/// Longest time that a token may be made for.
const LONGEST: Duration = Duration::from_secs(3_650 * 24 * 60 * 60);

/// Make, list and revoke tokens for programs that reach this memory over HTTP.
#[derive(Args)]
pub(crate) struct TokenCommand {
    #[command(subcommand)]
    what: TokenSubcommand,
}

#[derive(Subcommand)]
enum TokenSubcommand {
    /// Make a token, and show it this once: only its hash is stored
    Add {
        /// Its name, such as the program's or the machine's
        name: String,
        /// What it allows; several times for several
        #[arg(long = "right", value_name = "RIGHT", value_parser = parse_right, default_values = ["read", "write"])]
        rights: Vec<Right>,
        /// How long it is valid, such as 90d; until it is revoked when left out
        #[arg(long, value_name = "TIME", value_parser = parse_lifetime)]
        expires: Option<Duration>,
        /// The tenant whose memory it opens; the one of the settings when left out
        #[arg(long = "for", value_name = "TENANT")]
        tenant: Option<String>,
    },
    /// List the tokens: names, tenants, rights, and until when they are valid
    List,
    /// Make a token worthless, at once and for good
    Revoke {
        /// Its name, as the list shows it
        name: String,
    },
}

fn parse_right(text: &str) -> Result<Right, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = Right::VARIANTS.iter().map(|right| right.as_str()).collect();
        format!("a right is one of: {}", names.join(", "))
    })
}

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = parse_duration(text).filter(|it| !it.is_zero() && *it <= LONGEST);
    lifetime.ok_or_else(|| "write a time such as 12h or 90d, at most 3650d".to_owned())
}

impl TokenCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let root = data_folder::locate(common.root.as_deref())?;
        data_folder::create(&root)?;
        let (tokens, now) = (AccessTokens::of(&root), SystemClock.now());
        match &self.what {
            TokenSubcommand::Add {
                name,
                rights,
                expires,
                tenant,
            } => {
                let tenant = match tenant {
                    Some(named) if !is_tenant(named) => {
                        bail!("a tenant's name is 1 to 64 of the letters a to z, digits, - and _")
                    }
                    Some(named) => Tenant(named.clone()),
                    None => tenant_of(&root, &common.set),
                };
                let lifetime = expires.map(|it| i64::try_from(it.as_millis()).unwrap_or(i64::MAX));
                let ends_at = lifetime.map(|it| Timestamp(now.0.saturating_add(it)));
                let rights = Rights::of(rights.iter().copied());
                let secret = tokens.add(&NewToken {
                    name,
                    tenant: &tenant,
                    rights: rights.clone(),
                    made_at: now,
                    ends_at,
                    random: random_bytes()?,
                })?;
                if common.json {
                    print_json(&json!({ "name": name, "token": secret }))?;
                } else {
                    print_line!("{secret}");
                    let end = ends_at.and_then(rfc3339).map(|at| format!(", until {at}"));
                    let (rights, end) = (rights.listed(), end.unwrap_or_default());
                    print_line!(
                        "{}",
                        dim(&format!(
                            "The token \"{name}\" allows {rights} to the memory of {}{end}. It is not shown again.",
                            tenant.0
                        ))
                    );
                }
            }
            TokenSubcommand::List => list(common, &tokens.read()?, now)?,
            TokenSubcommand::Revoke { name } => {
                let revoked = tokens.revoke(name, now)?;
                if common.json {
                    print_json(&shown(&revoked, now))?;
                } else {
                    print_line!("Revoked {name}. Servers that run refuse it from now on.");
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(common: &CommonArgs, all: &[AccessToken], now: Timestamp) -> Result<()> {
    if common.json {
        let all: Vec<Value> = all.iter().map(|token| shown(token, now)).collect();
        return print_json(&all);
    }
    if all.is_empty() {
        print_line!(
            "There are none. `daybook token add NAME` makes one; `token` in the data folder allows everything."
        );
    }
    for token in all {
        let (rights, tenant) = (token.rights.listed(), &token.tenant);
        print_line!(
            "{}  {rights}  {tenant}  {}",
            token.name,
            dim(&state(token, now))
        );
    }
    Ok(())
}

fn state(token: &AccessToken, now: Timestamp) -> String {
    let at = |at: Option<i64>| at.map(Timestamp).and_then(rfc3339).unwrap_or_default();
    match (token.state(now), token.ends_at) {
        (TokenState::Revoked, _) => format!("revoked at {}", at(token.revoked_at)),
        (TokenState::Expired, end) => format!("expired at {}", at(end)),
        (TokenState::Valid, Some(end)) => format!("until {}", at(Some(end))),
        (TokenState::Valid, None) => "until it is revoked".to_owned(),
    }
}

/// A token for programs.
fn shown(token: &AccessToken, now: Timestamp) -> Value {
    let at = |at: Option<i64>| at.map(Timestamp).and_then(rfc3339);
    json!({
        "name": token.name,
        "tenant": token.tenant,
        "rights": token.rights,
        "made_at": at(Some(token.made_at)),
        "ends_at": at(token.ends_at),
        "revoked_at": at(token.revoked_at),
        "valid": token.state(now) == TokenState::Valid,
    })
}
