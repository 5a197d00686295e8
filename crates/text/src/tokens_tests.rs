use daybook_testkit::fixtures::unruly_text;
use proptest::prelude::*;

use super::*;

/// Compares the tokens of a text with `tokens`, which has spaces between them.
#[track_caller]
fn check(text: &str, tokens: &str) {
    assert_eq!(index_text(text), tokens, "tokens of {text:?}");
}

#[track_caller]
fn check_all(table: &[(&str, &str)]) {
    for (text, tokens) in table {
        check(text, tokens);
    }
}

#[test]
fn english_words_are_found_by_their_stem() {
    check_all(&[
        (
            "Branches merged, branching again.",
            "branch merg branch again",
        ),
        (
            "don't can’t I'm we'll Ann's ANN’S",
            "dont cant i we ann ann",
        ),
        ("O'Brien", "obrien o brien"),
        ("e-mail", "email e mail"),
        ("the end. Next line:", "the end next line"),
        ("", ""),
        ("... --- !?", ""),
    ]);
}

#[test]
fn names_are_found_whole_and_by_their_parts() {
    check_all(&[
        ("getRewindPoints", "getrewindpoint get rewind point"),
        ("get_rewind_points", "getrewindpoint get rewind point"),
        ("getrewindpoints", "getrewindpoint"),
        ("prune_old", "pruneold prune old"),
        ("HTTPServer", "httpserver http server"),
        ("APIs and PRs", "api and prs"),
        ("ENT-129", "ent129 ent 129"),
        ("ENT129", "ent129 ent 129"),
        ("go.mod", "gomod go mod"),
        ("std::vec::Vec", "stdvecvec std vec vec"),
        ("me@mail.example", "memailexampl me mailexampl mail exampl"),
        ("(prune_old)", "pruneold prune old"),
        ("__init__", "init"),
        (
            "cmd/cli/explain.go",
            "cmdcliexplaingo cmd cli explaingo explain go",
        ),
        (r"src\main.rs", "srcmainr src mainr main rs"),
    ]);
}

#[test]
fn joined_numbers_are_not_one_number() {
    check_all(&[
        ("1.5", "1p5 1 5"),
        ("15", "15"),
        ("v1.2.3", "v1p2p3 v1 v 1 2 3"),
        ("2026-01-27", "2026p01p27 2026 01 27"),
        ("2026/01/27", "2026p01p27 2026 01 27"),
    ]);
}

#[test]
fn fingerprints_stay_in_one_piece() {
    check_all(&[
        ("3f2a9c1b", "3f2a9c1b"),
        ("7f78", "7f78 7 f 78"),
        ("5b6962dd-3f9a0c", "5b6962dd3f9a0c 5b6962dd 3f9a0c"),
    ]);
}

#[test]
fn latin_letters_are_found_without_their_accents() {
    check_all(&[
        ("Café cafe\u{301} CAFÉ", "cafe cafe cafe"),
        ("Straße Łódź Ærø", "strass lodz aero"),
        ("İstanbul ısı", "istanbul isi"),
        ("ﬁle ＦＵＬＬ\u{3000}ｗｉｄｔｈ", "file full width"),
    ]);
}

#[test]
fn alphabets_with_spaces_give_words() {
    check_all(&[
        ("Привет, мир! Ёлка", "привет мир елка"),
        ("за\u{301}мок", "замок"),
        ("Ελλάδα ΟΔΟΣ οδός", "ελλαδα οδοσ οδοσ"),
        ("السَّلَامُ أحمد کتاب", "السلام احمد كتاب"),
        ("می\u{200c}خواهم", "ميخواهم"),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी में", "हिन्दी में"),
        ("தமிழ் மொழி", "தமிழ் மொழி"),
        ("٣ ४ ๕", "3 4 5"),
    ]);
}

#[test]
fn scripts_without_spaces_give_pairs() {
    check_all(&[
        ("数据库", "数 数据 据 据库 库"),
        ("第3章", "第 3 章"),
        ("猫が好き", "猫 が 好 き"),
        ("データ", "デー ータ"),
        ("ﾃﾞｰﾀ", "デー ータ"),
        ("ภาษา", "ภา าษ ษา"),
        ("ที่นี่", "ที่นี่"),
        ("ພາສາ", "ພາ າສ ສາ"),
        ("iPhone版", "iphon i phone 版"),
    ]);
}

#[test]
fn korean_words_are_found_with_another_particle() {
    check_all(&[
        ("데이터를", "데이터를 데이 이터 터를"),
        ("사람", "사람"),
        ("나", "나"),
    ]);
}

#[test]
fn encoded_data_gives_no_tokens() {
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let hex = "3f786850e387550fdab836ed7e6dc881de23001b".repeat(3);
    check(&format!("logo {base64} end"), "logo end");
    check(
        &format!("data:image/png;base64,{base64}"),
        "dataimagepng data imag png base64 base 64",
    );
    check(&format!("digest {hex}"), "digest");
    check(&"-".repeat(200), "");
}

#[test]
fn long_names_of_words_are_no_blobs() {
    let path = "services/notification-center/internal/delivery/shouldRetryAfterTimeoutWhenQueueIsEmpty_test.go";
    let tokens = index_text(path);
    for part in ["notif", "deliveri", "retri", "timeout", "test"] {
        assert!(
            tokens.split(' ').any(|token| token == part),
            "{part} in {tokens}"
        );
    }
}

#[test]
fn a_long_word_is_cut_at_a_character() {
    check(&"a".repeat(70), &"a".repeat(64));
    check(&"я".repeat(70), &"я".repeat(32));
}

#[test]
fn head_and_tail_of_a_long_text_are_indexed() {
    let text = format!(
        "alpha {} omega {} sigma",
        "x ".repeat(4000),
        "y ".repeat(4000)
    );
    let tokens = index_text(&text);
    assert!(tokens.starts_with("alpha x ") && tokens.ends_with(" y sigma"));
    assert!(!tokens.contains("omega"));
    assert!(tokens.len() <= INDEX_TEXT_LIMIT);
}

#[test]
fn parts_of_a_name_are_neighbours() {
    let mut seen = Vec::new();
    for_each_token("see getAgent first", |token| {
        seen.push((token.text.to_owned(), token.position, token.group));
    });
    let expected = [
        ("see", 0, 0),
        ("getag", 1, 1),
        ("get", 1, 1),
        ("agent", 2, 1),
        ("first", 3, 2),
    ];
    let expected: Vec<_> = expected
        .map(|(text, at, group)| (text.to_owned(), at, group))
        .into();
    assert_eq!(seen, expected);
}

#[test]
fn a_visitor_may_tokenise_too() {
    let mut inner = Vec::new();
    for_each_token("one two", |token| inner.push(index_text(token.surface)));
    assert_eq!(inner, ["one", "two"]);
}

fn collect(tokenizer: &mut TextTokenizer, text: &str) -> Vec<(String, TokenKind, u32, u32)> {
    let mut seen = Vec::new();
    tokenizer.for_each(text, |token| {
        seen.push((
            token.text.to_owned(),
            token.kind,
            token.group,
            token.position,
        ));
    });
    seen
}

proptest! {
    #[test]
    fn a_used_tokenizer_sees_what_a_new_one_sees(texts in prop::collection::vec(unruly_text(), 1..4)) {
        let mut used = TextTokenizer::new();
        for text in &texts {
            prop_assert_eq!(collect(&mut used, text), collect(&mut TextTokenizer::new(), text));
        }
    }

    #[test]
    fn a_token_is_short_and_of_letters_digits_and_their_marks(text in unruly_text()) {
        for_each_token(&text, |token| {
            assert!((1..=TOKEN_BYTES).contains(&token.text.len()), "{:?}", token);
            let is_kept = |c: char| {
                c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
            };
            assert!(token.text.chars().all(is_kept), "{:?}", token);
            assert_eq!(token.text, token.text.to_lowercase().replace('ς', "σ"));
        });
    }

    #[test]
    fn a_stem_comes_from_the_word_itself(word in "[a-z]{1,30}", before in "[a-z]{1,16}") {
        let mut fresh = stems::Stems::new();
        let alone = fresh.stem(&word).to_owned();
        let mut used = stems::Stems::new();
        used.stem(&before);
        used.stem(&word);
        prop_assert_eq!(used.stem(&word), alone);
    }
}

#[test]
fn an_outline_marks_what_is_open() {
    let marked = |text| outlined_text(text);
    assert_eq!(marked("Is it 500?"), "\u{b}is it 500\u{b}");
    assert_eq!(
        marked("Kim: It is 500. Is that right? I think so."),
        "kim\tit is 500\u{b}is that right\u{b}i think so"
    );
    assert_eq!(marked("??? ?"), "");
    assert_eq!(marked("Is it? ... ?"), "\u{b}is it\u{b}");
    let tokens = |text: &str| text.replace(['\u{b}', '\t', '\n'], " ").trim().to_owned();
    let text = "Which port? 8080. Why not 80? It is taken.";
    assert_eq!(tokens(&outlined_text(text)), index_text(text));
}
