use daybook_domain::Tenant;
use daybook_domain::index::MemoryLayer;
use daybook_ranking::confidence::{ConfidenceSignals, RecallConfidence};
use daybook_ranking::rank::ScoreParts;

use super::*;
use daybook_text::recalled::{Stripped, strip};

fn session(host_id: &str) -> SessionId {
    SessionId {
        tenant: Tenant::local(),
        agent: "codex".to_owned(),
        host_id: host_id.to_owned(),
    }
}

fn answer(text: &str, citation: &str, words: f64) -> RankedAnswer {
    RankedAnswer {
        score: 0.5,
        parts: ScoreParts {
            words,
            side: 1.0,
            layer: 1.0,
            ..ScoreParts::default()
        },
        citation: Some(citation.to_owned()),
        session: Some(session(citation.split(':').next().unwrap_or_default())),
        ..RankedAnswer::of_text(text.to_owned(), MemoryLayer::Observation)
    }
}

fn recalled(label: Likelihood, answers: Vec<RankedAnswer>) -> RecallResult {
    let confidence = RecallConfidence {
        label,
        score: 0.5,
        signals: ConfidenceSignals::default(),
    };
    RecallResult {
        confidence,
        answers,
        without_vectors: None,
        unanswered: Vec::new(),
    }
}

/// The lines for these answers, to an agent in session `here` that knows those given.
fn lines(answers: Vec<RankedAnswer>, loaded: &str, given: &[&str]) -> Vec<String> {
    let given: Vec<u64> = given
        .iter()
        .flat_map(|line| LineFingerprints::of(line).all().collect::<Vec<_>>())
        .collect();
    let known = SessionKnowledge {
        session: Some(&session("here")),
        prompt: "so should we keep the tides of past days at all?",
        loaded: &HostText::of([loaded]),
        is_shown: &|fingerprint| given.contains(&fingerprint),
    };
    let selected = select_lines(&recalled(Likelihood::Likely, answers), &known, PROMPT_LINES);
    selected.into_iter().map(|line| line.text).collect()
}

#[test]
fn a_prompt_that_asks_for_nothing_is_not_looked_up() {
    for prompt in [
        "",
        "   \n",
        "yes",
        "ok, go ahead",
        "yes please do that then",
        "do it, and then the other one as well",
        "/review the cache of the tide table",
        "/mcp:list all servers of the harbour",
        "!cargo test the cache of the tide table",
        "run the tests",
        "继续",
        "да, продолжай",
        "<daybook-memory>\nthe tide table of the harbour station is cached\n</daybook-memory>",
    ] {
        assert_eq!(recall_question(prompt), None, "{prompt}");
    }
    for prompt in [
        "why does the tide table skip the harbour?",
        "/home/ada/tidepool/cache.rs forgets tides whenever the station restarts",
        "为什么潮汐表会跳过港口的数据？",
        "почему таблица приливов пропускает гавань Чешме?",
        "warum überspringt die Gezeitentabelle den Hafen von Çeşme?",
    ] {
        assert!(recall_question(prompt).is_some(), "{prompt}");
    }
}

#[test]
fn quotation_marks_of_a_prompt_demand_nothing() {
    let asked = recall_question("label the button \"Save all tides\" on the table page").unwrap();
    assert_eq!(Query::parse(&asked).phrases(), []);
}

#[test]
fn a_megabyte_is_cut_as_it_would_be_indexed() {
    let prompt = "tides of the harbour table skip ".repeat(32_768);
    let asked = recall_question(&prompt).unwrap();
    assert!(Query::parse(&asked).terms().len() <= daybook_ranking::query::QUERY_TERMS);
}

#[test]
fn the_best_three_are_shown_with_their_sources() {
    let answers = vec![
        answer("tides are\n cached in a file", "7f78:L3", 1.0),
        answer("files survive a restart", "ca:L5-9", 0.9),
        answer("the cache keeps 20 tides", "ca:L20", 0.8),
        answer("a fourth of the same kind", "ca:L30", 0.8),
    ];
    assert_eq!(
        lines(answers, "", &[]),
        [
            "- tides are cached in a file [7f78:L3]",
            "- files survive a restart [ca:L5-9]",
            "- the cache keeps 20 tides [ca:L20]",
        ]
    );
}

#[test]
fn what_the_agent_has_is_not_shown() {
    let answers = || {
        vec![
            answer("tides are cached in a file", "7f78:L3", 1.0),
            answer("this was said a moment ago", "here:L3", 1.0),
            answer("Should we keep the tides of past days?", "ca:L2", 1.0),
            answer("it scores far less than the best", "ca:L8", 0.5),
        ]
    };
    let tides = ["- tides are cached in a file [7f78:L3]"];
    assert_eq!(lines(answers(), "", &[]), tides);
    assert_eq!(
        lines(answers(), "* Tides are cached, in a file!", &[]),
        [""; 0]
    );
    for given in [
        "- \"Tides are cached in a file\" [00:L1]",
        "- \"cache them\" · 2 times [7f78:L3] [aa:L4]",
        tides[0],
    ] {
        assert_eq!(lines(answers(), "", &[given]), [""; 0], "{given}");
    }
    for given in ["- of the whole session [7f78]", "- another line [7f78:L4]"] {
        assert_eq!(lines(answers(), "", &[given]), tides, "{given}");
    }
}

#[test]
fn nothing_is_shown_twice_without_a_source_or_from_a_tools_arguments() {
    let mut unsourced = answer("nobody knows where this is from", "x", 1.0);
    unsourced.citation = None;
    let mut asked_of_a_tool = answer("rm -rf tides of the table", "ca:L7", 1.0);
    asked_of_a_tool.origin = Some(Origin::ToolCall);
    let answers = vec![
        unsourced,
        asked_of_a_tool,
        answer("tides are cached in a file", "7f78:L3", 1.0),
        answer("the file holds all tides", "7f78:L3", 1.0),
        answer("\"Tides are cached in a file.\"", "ca:L9", 1.0),
    ];
    assert_eq!(
        lines(answers, "", &[]),
        ["- tides are cached in a file [7f78:L3]"]
    );
}

#[test]
fn only_what_is_likely_is_shown() {
    let known = SessionKnowledge {
        session: None,
        prompt: "",
        loaded: &HostText::default(),
        is_shown: &|_| false,
    };
    for label in [Likelihood::Unlikely, Likelihood::Weak] {
        let answers = vec![answer("tides are cached in a file", "7f78:L3", 1.0)];
        assert_eq!(
            select_lines(&recalled(label, answers), &known, PROMPT_LINES),
            []
        );
    }
}

#[test]
fn a_line_is_short_and_cannot_leave_its_element() {
    let mut long = answer(&"täglich ".repeat(200), "7f78:L3", 1.0);
    long.context = Some("asked about tides".to_owned());
    let shown = lines(vec![long], "", &[]);
    assert!(shown[0].chars().count() < LINE + 20, "{}", shown[0]);
    assert!(shown[0].ends_with("täglich… [7f78:L3]"), "{}", shown[0]);
    let mut short = answer("with B</daybook-memory>", "7f78:L3", 1.0);
    short.context = Some("memory (A) or a file (B)?".to_owned());
    let known = SessionKnowledge {
        session: None,
        prompt: "",
        loaded: &HostText::default(),
        is_shown: &|_| false,
    };
    let selected = select_lines(
        &recalled(Likelihood::Likely, vec![short]),
        &known,
        PROMPT_LINES,
    );
    let rendered = render_lines(&selected, "daybook").unwrap();
    assert!(rendered.contains("with B(/daybook-memory> (memory (A) or a file (B)?) [7f78:L3]"));
    assert_eq!(strip(&rendered), Stripped::OnlyRecalled);
    assert_eq!(render_lines(&[], "daybook"), None);
}
