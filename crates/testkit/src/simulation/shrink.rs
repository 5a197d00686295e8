//! Finds a short list that still fails, by removing parts.

/// Removes parts of `list`, ever smaller ones, as long as `fails` returns true for the rest; calls it
/// at most `most` times. If these calls suffice, every single item that is left is needed.
pub(super) fn shrink<T: Clone>(
    list: &[T],
    most: usize,
    mut fails: impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut list = list.to_vec();
    let mut asked = 0;
    let mut part = list.len().div_ceil(2).max(1);
    loop {
        let before = list.len();
        let mut from = 0;
        while from < list.len() && asked < most {
            let to = (from + part).min(list.len());
            let rest: Vec<T> = list[..from].iter().chain(&list[to..]).cloned().collect();
            asked += 1;
            if fails(&rest) {
                list = rest;
            } else {
                from = to;
            }
        }
        let settled = part == 1 && list.len() == before;
        if settled || asked >= most {
            return list;
        }
        part = (part / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_needed_is_taken_out() {
        let list: Vec<u32> = (0..200).collect();
        let fails = |part: &[u32]| [17, 18, 160].iter().all(|needed| part.contains(needed));
        assert_eq!(shrink(&list, 10_000, fails), [17, 18, 160]);
    }
}
