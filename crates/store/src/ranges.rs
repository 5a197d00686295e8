//! Ranges of positions as text: `3-9,12-12`.

/// Formats ranges as text; empty for none.
pub(crate) fn to_text(ranges: &[(u64, u64)]) -> String {
    let spelled = ranges.iter().map(|(from, to)| format!("{from}-{to}"));
    spelled.collect::<Vec<_>>().join(",")
}

/// Parses ranges from text; skips parts that are no range.
pub(crate) fn parse(text: &str) -> Vec<(u64, u64)> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    text.split(',').filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_survive_being_spelled() {
        for ranges in [vec![], vec![(3, 9)], vec![(1, 1), (12, u64::MAX)]] {
            assert_eq!(parse(&to_text(&ranges)), ranges);
        }
    }
}
