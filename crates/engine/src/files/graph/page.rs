//! The form of `graph.md`: a section for each entity with its observations as a list, and a list of relations behind them.
//!
//! Any text is kept to the letter. What would end a line, or be taken for the form, is written with a backslash.

use super::{GraphEntity, GraphRelation, KnowledgeGraph};

const TITLE: &str = "# Knowledge graph";
const RELATIONS: &str = "# Relations";
const ENTITY: &str = "## ";
const TYPE: &str = "Type:";
const ARROW: &str = " → ";
/// What an empty text is written as.
const EMPTY: &str = "\\e";

/// The page of a graph.
#[must_use]
pub fn render_page(graph: &KnowledgeGraph) -> String {
    let mut page = format!("{TITLE}\n");
    push_lines(&mut page, &graph.head);
    for entity in &graph.entities {
        let (name, kind) = (escaped(&entity.name), escaped(&entity.entity_type));
        page.push_str(&format!("\n{ENTITY}{name}\n{TYPE} {kind}\n"));
        for observation in &entity.observations {
            page.push_str(&format!("- {}\n", escaped(observation)));
        }
        push_lines(&mut page, &entity.notes);
    }
    if graph.relations.is_empty() && graph.tail.is_empty() {
        return page;
    }
    page.push_str(&format!("\n{RELATIONS}\n\n"));
    for relation in &graph.relations {
        let parts = [&relation.from, &relation.relation_type, &relation.to];
        let parts = parts.map(|part| escaped(part).replace('→', "\\u{2192}"));
        page.push_str(&format!("- {}\n", parts.join(ARROW)));
    }
    push_lines(&mut page, &graph.tail);
    page
}

fn push_lines(page: &mut String, lines: &[String]) {
    if !lines.is_empty() {
        page.push_str(&format!("\n{}\n", lines.join("\n")));
    }
}

/// The graph of a page. Lines that are none of it are a person's, and are kept.
#[must_use]
pub fn parse_page(page: &str) -> KnowledgeGraph {
    let mut graph = KnowledgeGraph::default();
    let mut is_behind = false;
    for line in page.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() || (line == TITLE && graph.entities.is_empty() && !is_behind) {
            continue;
        }
        if line == RELATIONS && !is_behind {
            is_behind = true;
        } else if is_behind {
            match parse_relation(line) {
                Some(relation) => graph.relations.push(relation),
                None => graph.tail.push(line.to_owned()),
            }
        } else if let Some(name) = line.strip_prefix(ENTITY) {
            let entity = GraphEntity::new(unescaped(name), String::new(), Vec::new());
            graph.entities.push(entity);
        } else if let Some(entity) = graph.entities.last_mut() {
            parse_of_entity(entity, line);
        } else {
            graph.head.push(line.to_owned());
        }
    }
    graph
}

fn parse_of_entity(entity: &mut GraphEntity, line: &str) {
    let is_first = entity.observations.is_empty() && entity.notes.is_empty();
    if let (true, Some(kind)) = (is_first, line.strip_prefix(TYPE)) {
        entity.entity_type = unescaped(kind.strip_prefix(' ').unwrap_or(kind));
    } else if let Some(observation) = line.strip_prefix("- ") {
        entity.observations.push(unescaped(observation));
    } else {
        entity.notes.push(line.to_owned());
    }
}

fn parse_relation(line: &str) -> Option<GraphRelation> {
    let parts: Vec<&str> = line.strip_prefix("- ")?.split(ARROW).collect();
    let [from, relation_type, to] = <[&str; 3]>::try_from(parts).ok()?.map(unescaped);
    Some(GraphRelation {
        from,
        to,
        relation_type,
    })
}

fn escaped(text: &str) -> String {
    if text.is_empty() {
        return EMPTY.to_owned();
    }
    let last = text.chars().count() - 1;
    let mut escaped = String::new();
    for (place, letter) in text.chars().enumerate() {
        let is_lost = letter.is_whitespace() && (place == 0 || place == last);
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            _ if letter.is_control() || is_lost => {
                escaped.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// The text of what [`escaped`] wrote. A backslash of a person's that begins nothing stays.
fn unescaped(written: &str) -> String {
    let (mut text, mut rest) = (String::new(), written);
    while let Some(place) = rest.find('\\') {
        text.push_str(&rest[..place]);
        rest = &rest[place..];
        let (letter, length) = match rest.as_bytes().get(1) {
            Some(b'\\') => (Some('\\'), 2),
            Some(b'n') => (Some('\n'), 2),
            Some(b'e') if written == EMPTY => (None, 2),
            Some(b'u') => numbered(rest).map_or((Some('\\'), 1), |(it, end)| (Some(it), end)),
            _ => (Some('\\'), 1),
        };
        text.extend(letter);
        rest = &rest[length..];
    }
    text.push_str(rest);
    text
}

/// The letter of `\u{…}`, and where it ends.
fn numbered(written: &str) -> Option<(char, usize)> {
    let digits = written.strip_prefix("\\u{")?;
    let end = digits.find('}')?;
    let letter = char::from_u32(u32::from_str_radix(&digits[..end], 16).ok()?)?;
    Some((letter, "\\u{".len() + end + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_is_what_a_person_would_write_and_keeps_what_they_add() {
        let page = "\
# Knowledge graph

Kept by ada's agents.

## ada
Type: person
- prefers tea
- said:\\n\"no sugar\"

Ask her about the harbour.

## harbour
Type: place

# Relations

- ada → keeps → harbour
- ada → a → b → c
";
        let graph = parse_page(page);
        assert_eq!(
            render_page(&graph),
            page.replace("- ada → a → b → c", "\n- ada → a → b → c")
        );
        assert_eq!(graph.entities[0].observations[1], "said:\n\"no sugar\"");
        assert_eq!(graph.entities[0].notes, ["Ask her about the harbour."]);
        assert_eq!(graph.relations.len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_is_kept_to_the_letter(
            texts in prop::collection::vec("(?s).{0,12}|[ \\\\\n\r\t→#e-]{0,6}", 3..9),
        ) {
            let mut graph = KnowledgeGraph::default();
            for text in &texts {
                let (name, others) = (text.clone(), texts.clone());
                graph.entities.push(GraphEntity::new(name, texts[0].clone(), others));
            }
            graph.relations = texts.windows(3).map(|three| GraphRelation {
                from: three[0].clone(),
                to: three[1].clone(),
                relation_type: three[2].clone(),
            }).collect();
            prop_assert_eq!(parse_page(&render_page(&graph)), graph);
        }
    }
}
