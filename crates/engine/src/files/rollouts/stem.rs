//! Names of summaries: the session's time, a short hash of its id, and its slug (C87 to C89).

use std::collections::BTreeMap;

use daybook_domain::{SessionId, Timestamp};

use crate::consolidate::Rollout;
use crate::files::name::FileName;

/// Most characters of a slug.
const SLUG: usize = 60;
/// Digits of the hash, in this order.
const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Number of digits of the hash.
const HASH: usize = 4;

/// The name of each session's summary, without its ending. The hash is short, and letters of either case are one on
/// some file systems: sessions whose names would be the same have their whole id in place of the hash.
pub(super) fn names(rollouts: &[Rollout]) -> BTreeMap<SessionId, FileName> {
    let short = |rollout: &Rollout| stem(rollout, &short_hash(&rollout.session.host_id));
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for rollout in rollouts {
        *alike.entry(short(rollout).to_lowercase()).or_default() += 1;
    }
    let stems: BTreeMap<&SessionId, String> = rollouts
        .iter()
        .map(|rollout| {
            let name = short(rollout);
            let name = match alike[&name.to_lowercase()] {
                1 => name,
                _ => stem(rollout, &rollout.session.to_string()),
            };
            (&rollout.session, name)
        })
        .collect();
    let names = FileName::unique(stems.values().map(String::as_str));
    let named = stems.iter();
    named
        .map(|(session, stem)| ((*session).clone(), names[stem.as_str()].clone()))
        .collect()
}

/// `<time>-<hash>-<slug>`; without a slug, `<time>-<hash>`.
fn stem(rollout: &Rollout, hash: &str) -> String {
    let time = time_of(&rollout.session.host_id).unwrap_or(rollout.started_at);
    let time = jiff::Timestamp::from_millisecond(time.0).unwrap_or_default();
    let time = time.strftime("%Y-%m-%dT%H-%M-%S");
    match slug(rollout.slug.as_deref().unwrap_or_default()) {
        slug if slug.is_empty() => format!("{time}-{hash}"),
        slug => format!("{time}-{hash}-{slug}"),
    }
}

/// Lower-case letters and digits; everything else is `_`.
fn slug(words: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '_',
    };
    let slug: String = words.chars().take(SLUG).map(letter).collect();
    slug.trim_end_matches('_').to_owned()
}

/// The time in a UUID of version 7.
fn time_of(id: &str) -> Option<Timestamp> {
    let number = uuid(id).filter(|number| (number >> 76) & 0xf == 7)?;
    i64::try_from(number >> 80).ok().map(Timestamp)
}

/// Four digits of a UUID's last 32 bits, or of a hash of any other id.
pub(super) fn short_hash(id: &str) -> String {
    let seed = match uuid(id) {
        Some(number) => (number & u128::from(u32::MAX)) as u32,
        None => id.bytes().fold(0_u32, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        }),
    };
    let mut left = seed as usize % DIGITS.len().pow(HASH as u32);
    let mut digits = [0; HASH];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[left % DIGITS.len()];
        left /= DIGITS.len();
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

/// The number that a UUID is: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn uuid(id: &str) -> Option<u128> {
    let groups: Vec<&str> = id.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_hex = id
        .bytes()
        .all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    if lengths != [8, 4, 4, 4, 12] || !is_hex {
        return None;
    }
    u128::from_str_radix(&groups.concat(), 16).ok()
}

#[cfg(test)]
mod tests {
    use daybook_testkit::fixtures::session;

    use super::*;

    fn rollout(id: &str, slug: &str) -> Rollout {
        Rollout {
            session: session(id),
            started_at: Timestamp(1_770_000_000_000),
            updated_at: Timestamp(1_770_000_900_000),
            cwd: None,
            branch: None,
            rollout_path: None,
            slug: Some(slug.to_owned()).filter(|slug| !slug.is_empty()),
            source: None,
            raw_memory: String::new(),
            summary: String::new(),
        }
    }

    fn name_of(rollouts: &[Rollout], at: usize) -> String {
        names(rollouts)[&rollouts[at].session].to_string()
    }

    const UUID: &str = "0194f5a6-89ab-7cde-8123-456789abcdef";

    #[test]
    fn c87_a_summary_is_named_for_the_time_and_a_hash_of_its_session() {
        let named = name_of(&[rollout(UUID, "")], 0);
        assert_eq!(named, "2025-02-11T15-35-19-jqmb");
        // An id without a time: the session's own.
        let named = name_of(&[rollout("7f78aa01", "")], 0);
        assert!(named.starts_with("2026-02-02T02-40-00-"), "{named}");
        assert_eq!(named.len(), "2026-02-02T02-40-00-".len() + 4);
        let random = "e5b1ac4f-89ab-4cde-8123-456789abcdef";
        assert_eq!(
            name_of(&[rollout(random, "")], 0),
            "2026-02-02T02-40-00-jqmb"
        );
    }

    #[test]
    fn c88_a_slug_is_cut_to_60_characters_of_lower_case_letters_and_digits() {
        let words = "Unsafe Slug/With Spaces & Symbols + EXTRA_LONG_12345_67890_ABCDE_fghij_12345";
        let slug = "unsafe_slug_with_spaces___symbols___extra_long_12345_67890_a";
        let named = name_of(&[rollout(UUID, words)], 0);
        assert_eq!(named, format!("2025-02-11T15-35-19-jqmb-{slug}"));
        for empty in [
            "",
            "---",
            "größe".trim_matches(|c: char| c.is_ascii()),
            "设置缓存",
        ] {
            assert_eq!(
                name_of(&[rollout(UUID, empty)], 0),
                "2025-02-11T15-35-19-jqmb"
            );
        }
    }

    #[test]
    fn sessions_whose_short_names_are_the_same_have_a_file_each() {
        let same = "0194f5a6-89ab-7cde-9999-456789abcdef";
        let all = [
            rollout(UUID, "fix"),
            rollout(same, "fix"),
            rollout("other", "fix"),
        ];
        let named = names(&all);
        let files: std::collections::BTreeSet<String> = named
            .values()
            .map(|name| name.to_string().to_lowercase())
            .collect();
        assert_eq!(files.len(), 3);
        assert!(name_of(&all, 0).contains(UUID) && name_of(&all, 1).contains(same));
        assert!(!name_of(&all, 2).contains("other"));
    }

    /// Digits of either case are one letter on some file systems.
    #[test]
    fn short_names_that_differ_in_case_alone_do_not_share_a_file() {
        let id = |hash: usize| format!("0194f5a6-89ab-7cde-8123-4567{hash:08x}");
        let (lower, upper) = (id(10), id(36));
        assert_eq!(
            (short_hash(&lower), short_hash(&upper)),
            ("000a".into(), "000A".into())
        );
        let all = [rollout(&lower, ""), rollout(&upper, "")];
        assert!(name_of(&all, 0).contains(&lower) && name_of(&all, 1).contains(&upper));
    }
}
