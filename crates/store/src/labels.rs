//! Short names of sessions in citations.
//!
//! A label is fixed when its session is stored, so a citation that was printed once stays valid.

/// Fewest characters of a label, where the host's id has as many.
const FEWEST: usize = 4;

/// The label of a new session: the fewest leading characters of `host_id` that no other session has.
/// `neighbours` are the host ids just before and just after it in order; `taken` returns whether a label is in
/// use. Where another agent's session has the very same id, a number follows.
pub(crate) fn choose<E>(
    host_id: &str,
    neighbours: &[String],
    mut taken: impl FnMut(&str) -> Result<bool, E>,
) -> Result<String, E> {
    let host_id = &citable(host_id);
    let shared = neighbours.iter().map(|other| shared(host_id, other)).max();
    let fewest = FEWEST.max(shared.map_or(0, |shared| shared + 1));
    let length = host_id.chars().count();
    for characters in fewest..length {
        let label: String = host_id.chars().take(characters).collect();
        if !taken(&label)? {
            return Ok(label);
        }
    }
    let mut label = host_id.clone();
    let mut number = 1;
    while taken(&label)? {
        number += 1;
        label = format!("{host_id}~{number}");
    }
    Ok(label)
}

/// `host_id` with `-` for each character that would end a citation, its label or its line, or that is not shown.
fn citable(host_id: &str) -> String {
    let is_blank_letter = |c: char| matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    let stays = |c: char| match c {
        '[' | ']' => false,
        c => c.is_ascii_graphic() || (c.is_alphanumeric() && !is_blank_letter(c)),
    };
    let plain = host_id.chars().map(|c| if stays(c) { c } else { '-' });
    plain.collect::<String>().replace(":L", "-L")
}

fn shared(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host_id: &str, neighbours: &[&str], taken: &[&str], label: &str) {
        let neighbours: Vec<String> = neighbours.iter().map(|&n| n.to_owned()).collect();
        let chosen = choose(host_id, &neighbours, |l| Ok::<_, ()>(taken.contains(&l)));
        assert_eq!(chosen.as_deref(), Ok(label));
    }

    #[test]
    fn four_characters_suffice_when_no_other_session_shares_them() {
        check("7f78aa01", &[], &[], "7f78");
        check("7f78aa01", &["7f77", "7f79"], &[], "7f78");
    }

    #[test]
    fn a_label_is_as_long_as_it_takes_to_tell_two_ids_apart() {
        check("7f78aa01", &["7f78aa99"], &["7f78"], "7f78aa0");
    }

    #[test]
    fn a_short_id_is_its_own_label() {
        check("ab", &["abc"], &["abc"], "ab");
    }

    #[test]
    fn a_label_never_ends_the_citation_or_the_line_that_it_stands_in() {
        check("a\n]b\0c", &[], &[], "a--b");
        check("\u{2028}[x", &[], &["--x"], "--x~2");
        check("a\u{200b}\u{3164}\u{e0041}ä", &[], &[], "a---");
        check("a:L1-2", &[], &[], "a-L1");
    }

    #[test]
    fn the_same_id_of_another_agent_is_numbered() {
        check("7f78", &["7f78"], &["7f78", "7f78~2"], "7f78~3");
    }
}
