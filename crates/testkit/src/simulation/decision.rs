//! What the scheduler decides: a list that stands on its own, so that it can be cut and played again.
//!
//! A decision names an actor and a number, never what there is at the time: whatever is taken out of a
//! list, the rest still means something.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::random::Random;

/// One step of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// An actor makes the call that it has come to; of several side by side, `draw` says which. An idle
    /// actor first begins something, and `draw` says what.
    Go {
        /// Which actor.
        actor: usize,
        /// Chooses what it does.
        draw: u32,
    },
    /// An actor vanishes before the call that it has come to.
    Crash {
        /// Which actor.
        actor: usize,
    },
    /// An actor vanishes after the store has carried its call out and before it hears of it.
    CrashUnheard {
        /// Which actor.
        actor: usize,
    },
    /// Time passes.
    Wait(Duration),
    /// The clock is set back. Time that has been waited for stays so.
    SetBack(Duration),
}

/// The decisions of a seed. How busy each actor is and how often things go wrong differs between
/// seeds, so that some show long quiet runs and others nothing but crashes.
#[must_use]
pub fn decisions(seed: u64, actors: usize, count: usize) -> Vec<Decision> {
    let mut random = Random::of(seed);
    let busy: Vec<usize> = (0..actors)
        .flat_map(|actor| vec![actor; 1 + random.index(8)])
        .collect();
    let crashes = *random.one(&[0, 1, 2, 6]);
    let waits = *random.one(&[4, 8, 16]);
    let set_back = *random.one(&[0, 0, 1]);
    let one = |random: &mut Random| {
        let actor = *random.one(&busy);
        let draw = (random.draw() >> 32) as u32;
        let roll = random.below(100);
        match roll {
            _ if roll < crashes => Decision::Crash { actor },
            _ if roll < 2 * crashes => Decision::CrashUnheard { actor },
            _ if roll < 2 * crashes + waits => Decision::Wait(pause(random)),
            _ if roll < 2 * crashes + waits + set_back => Decision::SetBack(pause(random)),
            _ => Decision::Go { actor, draw },
        }
    };
    (0..count).map(|_| one(&mut random)).collect()
}

/// From a moment to hours: shorter than a heartbeat, longer than a lease, longer than any wait.
fn pause(random: &mut Random) -> Duration {
    let most = *random.one(&[5, 40, 40, 150, 150, 700, 10_000]);
    Duration::from_secs(1 + random.below(most))
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Go { actor, draw } => write!(f, "go {actor} {draw}"),
            Self::Crash { actor } => write!(f, "crash {actor}"),
            Self::CrashUnheard { actor } => write!(f, "crash-unheard {actor}"),
            Self::Wait(time) => write!(f, "wait {}", time.as_secs()),
            Self::SetBack(time) => write!(f, "set-back {}", time.as_secs()),
        }
    }
}

impl FromStr for Decision {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("{line:?} is no decision");
        let mut words = line.split_whitespace();
        let what = words.next().ok_or_else(wrong)?;
        let numbers: Vec<u64> = words
            .map(|word| word.parse().map_err(|_| wrong()))
            .collect::<Result<_, _>>()?;
        let actor = |number: u64| usize::try_from(number).map_err(|_| wrong());
        match (what, numbers.as_slice()) {
            ("go", &[who, draw]) => Ok(Self::Go {
                actor: actor(who)?,
                draw: u32::try_from(draw).map_err(|_| wrong())?,
            }),
            ("crash", &[who]) => Ok(Self::Crash { actor: actor(who)? }),
            ("crash-unheard", &[who]) => Ok(Self::CrashUnheard { actor: actor(who)? }),
            ("wait", &[seconds]) => Ok(Self::Wait(Duration::from_secs(seconds))),
            ("set-back", &[seconds]) => Ok(Self::SetBack(Duration::from_secs(seconds))),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_read_as_they_are_written() {
        for seed in 0..20 {
            for decision in decisions(seed, 7, 100) {
                assert_eq!(decision.to_string().parse(), Ok(decision));
            }
        }
        assert!("go north".parse::<Decision>().is_err());
    }
}
