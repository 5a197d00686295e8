//! The scheduler's decisions: a self-contained list, which can be shortened and played again.
//!
//! A decision names an actor and a number, never something that exists at the time; so a list stays
//! playable when some of it is removed.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::seeded_random::SeededRandom;

/// One step of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// An actor makes the call that waits at its gate; of several concurrent ones, `draw` chooses one. An idle
    /// actor first begins an activity, which `draw` chooses.
    Go {
        /// The actor's number.
        actor: usize,
        /// Chooses the activity, or the call.
        draw: u32,
    },
    /// An actor vanishes before the call that waits at its gate.
    Crash {
        /// The actor's number.
        actor: usize,
    },
    /// An actor vanishes after the store has executed its call and before the answer reaches it.
    CrashUnheard {
        /// The actor's number.
        actor: usize,
    },
    /// Time passes.
    Wait(Duration),
    /// The clock is set back. Timers that have elapsed stay elapsed.
    SetBack(Duration),
}

/// The decisions of a seed. How busy each actor is and how often actors crash differs between
/// seeds, so that some give long quiet runs and others nothing but crashes.
#[must_use]
pub fn decisions(seed: u64, actors: usize, count: usize) -> Vec<Decision> {
    let mut random = SeededRandom::of(seed);
    let busy: Vec<usize> = (0..actors)
        .flat_map(|actor| vec![actor; 1 + random.index(8)])
        .collect();
    let crashes = *random.one(&[0, 1, 2, 6]);
    let waits = *random.one(&[4, 8, 16]);
    let set_back = *random.one(&[0, 0, 1]);
    let one = |random: &mut SeededRandom| {
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

/// A pause between a moment and hours: shorter than a heartbeat, longer than a lease, or longer than any wait.
fn pause(random: &mut SeededRandom) -> Duration {
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
