//! How long does a vector take, and how long does opening the model?
//!
//! `cargo bench -p daybook-embed`. The text is invented; the model is the built-in one.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench measures time"
)]
#![allow(missing_docs, clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use daybook_domain::vector::{Direction, quantise};
use daybook_embed::StaticModel;

const FORTY_TOKENS: &str = "Last weekend we took the kids to the lake, and my sister brought her \
    new puppy along. It was colder than we had expected, but everybody went swimming anyway, \
    and then we made soup.";
const ROUNDS: u32 = 2_000;

fn main() {
    let start = Instant::now();
    let model = StaticModel::built_in();
    println!("{:24} {:?}", "open, first use", start.elapsed());

    report("embed, 40 tokens", || model.embed(FORTY_TOKENS));
    report("word", || model.word("swimming"));
    let query = quantise(&model.embed("Where did we swim?"));
    let code = quantise(&model.embed(FORTY_TOKENS));
    report("cosine of two codes", || {
        Direction::of(&query).cosine(&Direction::of(&code))
    });
}

/// Prints the shortest of five means: other work on the machine only ever adds.
fn report<T>(name: &str, run: impl Fn() -> T) {
    let mean = || -> Duration {
        let start = Instant::now();
        (0..ROUNDS).for_each(|_| drop(black_box(run())));
        start.elapsed() / ROUNDS
    };
    let shortest = (0..5).map(|_| mean()).min().unwrap_or_default();
    println!("{name:24} {shortest:?}");
}
