//! The steps of a session, as files write them: one begins with its kind and a colon, its further lines with two blanks.

/// A step of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A message, by `user`, `agent`, or a speaker's name.
    Said(String, String),
    /// A command, with its output.
    Run(String, String),
    /// An edit of a file: its old lines and its new ones.
    Edit(String, String, String),
    /// A file that was read, with its text.
    Read(String, String),
    /// A new file, with its text.
    Write(String, String),
    /// A command that the person did not allow, and why.
    Refused(String, String),
    /// Time that passes, in milliseconds.
    Pause(i64),
}

/// Reads the steps of a session.
///
/// # Errors
/// A line that neither begins a step nor goes on with one.
pub(super) fn parse_steps(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        if let Some(further) = line.strip_prefix("  ") {
            let (_, lines) = steps
                .last_mut()
                .ok_or_else(|| format!("nothing goes on with \"{line}\""))?;
            lines.push(further);
        } else if !line.trim().is_empty() {
            let (kind, rest) = line
                .split_once(':')
                .filter(|(kind, _)| !kind.is_empty() && !kind.contains(char::is_whitespace))
                .ok_or_else(|| format!("no step begins with \"{line}\""))?;
            steps.push((kind, vec![rest.trim()]));
        }
    }
    steps
        .into_iter()
        .map(|(kind, lines)| step(kind, &lines))
        .collect()
}

fn step(kind: &str, lines: &[&str]) -> Result<Step, String> {
    let head = || lines[0].to_owned();
    let marked = |mark: &str| {
        let with_mark = lines[1..].iter().filter_map(|line| {
            let rest = line.strip_prefix(mark)?;
            Some(rest.strip_prefix(' ').unwrap_or(rest))
        });
        with_mark.collect::<Vec<_>>().join("\n")
    };
    Ok(match kind {
        "run" => Step::Run(head(), marked("=>")),
        "read" => Step::Read(head(), marked("=>")),
        "write" => Step::Write(head(), marked("+")),
        "edit" => Step::Edit(head(), marked("-"), marked("+")),
        "refused" => Step::Refused(head(), marked("reason:")),
        "pause" => Step::Pause(pause(lines[0])?),
        speaker => Step::Said(speaker.to_owned(), lines.join("\n").trim().to_owned()),
    })
}

/// `20m`, `3h` or `2d`, in milliseconds.
fn pause(text: &str) -> Result<i64, String> {
    let unknown = || format!("\"{text}\" is no pause such as 20m, 3h or 2d");
    let unit = text.char_indices().next_back().ok_or_else(unknown)?;
    let minutes = match unit.1 {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        _ => return Err(unknown()),
    };
    let number: i64 = text[..unit.0].trim().parse().map_err(|_| unknown())?;
    Ok(number * minutes * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_with_their_kind_and_go_on_with_two_blanks() {
        let text = "user: make it 30\n  and commit\nedit: a.py\n  - SIZE = 24\n  + SIZE = 30\nrun: pytest\n  => ok\n\npause: 3h\nrefused: git push\n  reason: not yet\n";
        let steps = parse_steps(text).unwrap();
        let own = str::to_owned;
        assert_eq!(
            steps,
            [
                Step::Said(own("user"), own("make it 30\nand commit")),
                Step::Edit(own("a.py"), own("SIZE = 24"), own("SIZE = 30")),
                Step::Run(own("pytest"), own("ok")),
                Step::Pause(3 * 3_600_000),
                Step::Refused(own("git push"), own("not yet")),
            ]
        );
    }

    #[test]
    fn what_is_no_step_is_named() {
        for (text, named) in [
            ("so it goes", "so it goes"),
            ("  + a", "+ a"),
            ("pause: long", "long"),
        ] {
            assert!(parse_steps(text).unwrap_err().contains(named));
        }
    }
}
