//! Does any secret reach the disk, the log or an answer?
//!
//! `secrets [--seed N] [--cases N] [--family NAME]... [--json]` plants random secrets of many families in every place of
//! transcripts of every format, and of everything else that the binary takes in. It imports them into a temporary data
//! folder with the log at trace, processes all work, and searches database, memory files, git objects, spool, log and
//! answers for each secret in several forms. It prints where secrets were found, and fails if one was.

mod encode;
mod families;
mod planter;
mod run;
mod search;
mod transcripts;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use families::Family;
use planter::{PlantedSecret, Planter};
use run::Workplace;
use search::{Leaks, SecretSearch};

/// Secrets that are planted unless the command line says otherwise: every place a dozen times.
const CASES: usize = 1_200;

/// Options of the command line.
struct Options {
    seed: u64,
    cases: usize,
    families: Vec<&'static Family>,
    json: bool,
}

/// Plants and searches with the usual seed.
pub(crate) fn search() -> Result<()> {
    search_with(&[])
}

/// The same with options.
pub(crate) fn search_with(arguments: &[String]) -> Result<()> {
    let options = parse(arguments)?;
    let mut planter = Planter::new(options.seed, options.cases, &options.families);
    let mut workplace = Workplace::new()?;
    while !planter.is_done() {
        workplace.round(&mut planter)?;
        planter.next_round();
    }
    let planted = planter.planted;
    let mut search = SecretSearch::new(&planted)?;
    workplace.process()?;
    workplace.search(&mut search)?;
    let leaks = search.leaks;
    match options.json {
        true => print_json(&options, &planted, &leaks),
        false => print_tables(&options, &planted, &leaks),
    }
    let many = planted.len();
    ensure!(
        leaks.is_empty(),
        "{} of {many} secrets were found",
        leaks.len()
    );
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        seed: 1,
        cases: CASES,
        families: Vec::new(),
        json: false,
    };
    let mut arguments = arguments.iter();
    while let Some(name) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .with_context(|| format!("{name} needs a value"))
        };
        match name.as_str() {
            "--seed" => options.seed = value()?.parse()?,
            "--cases" => options.cases = value()?.parse()?,
            "--json" => options.json = true,
            "--family" => {
                let name = value()?;
                let family = families::named(name);
                options
                    .families
                    .push(family.with_context(|| format!("no family is named {name}"))?);
            }
            _ => bail!("secrets takes --seed N, --cases N, --family NAME and --json, not {name}"),
        }
    }
    Ok(options)
}

/// Planted and found secrets, and the places or families and sinks of those that were found.
#[derive(Default)]
struct Count {
    planted: usize,
    found: usize,
    others: BTreeSet<&'static str>,
    sinks: BTreeSet<String>,
}

/// Counts by `name`; the other name of a secret goes along with it.
fn count(
    planted: &[PlantedSecret],
    leaks: &Leaks,
    names: impl Fn(&PlantedSecret) -> (&'static str, &'static str),
) -> BTreeMap<&'static str, Count> {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for (nth, one) in planted.iter().enumerate() {
        let (name, other) = names(one);
        let count = counts.entry(name).or_default();
        count.planted += 1;
        if let Some(sinks) = leaks.get(&nth) {
            count.found += 1;
            count.others.insert(other);
            count.sinks.extend(sinks.iter().cloned());
        }
    }
    counts
}

fn by_place(planted: &[PlantedSecret], leaks: &Leaks) -> BTreeMap<&'static str, Count> {
    count(planted, leaks, |one| (one.place, one.secret.family))
}

fn by_family(planted: &[PlantedSecret], leaks: &Leaks) -> BTreeMap<&'static str, Count> {
    count(planted, leaks, |one| (one.secret.family, one.place))
}

fn print_tables(options: &Options, planted: &[PlantedSecret], leaks: &Leaks) {
    println!("  seed {}, {} secrets", options.seed, planted.len());
    println!("  {:32} {:>7} {:>7}", "place", "planted", "absent");
    for (place, count) in by_place(planted, leaks) {
        let sinks: Vec<&str> = count.sinks.iter().map(String::as_str).collect();
        let absent = count.planted - count.found;
        println!(
            "  {place:32} {:>7} {absent:>7}   {}",
            count.planted,
            sinks.join(", ")
        );
    }
    let missed = by_family(planted, leaks)
        .into_iter()
        .filter(|(_, count)| count.found > 0);
    for (family, count) in missed {
        let places: Vec<&str> = count.others.into_iter().collect();
        println!(
            "  {family}: {} of {} were found, of {}",
            count.found,
            count.planted,
            places.join(", ")
        );
    }
}

fn print_json(options: &Options, planted: &[PlantedSecret], leaks: &Leaks) {
    let table = |counts: BTreeMap<&str, Count>| -> serde_json::Value {
        let rows = counts.into_iter().map(|(name, count)| {
            let row = json!({
                "planted": count.planted, "absent": count.planted - count.found,
                "sinks": count.sinks, "found_with": count.others,
            });
            (name.to_owned(), row)
        });
        rows.collect::<serde_json::Map<_, _>>().into()
    };
    // The texts are random, so that a rule can be mended by them.
    let missed = leaks.iter().map(|(nth, sinks)| {
        let PlantedSecret { place, secret } = &planted[*nth];
        json!({ "place": place, "family": secret.family, "text": secret.text, "sinks": sinks })
    });
    let report = json!({
        "seed": options.seed,
        "planted": planted.len(),
        "absent": planted.len() - leaks.len(),
        "places": table(by_place(planted, leaks)),
        "families": table(by_family(planted, leaks)),
        "missed": missed.collect::<Vec<_>>(),
    });
    println!("{report:#}");
}
