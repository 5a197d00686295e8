use proptest::prelude::*;

use super::*;

/// Compares the steps for a question, written `term+term:limit`.
#[track_caller]
fn check(question: &str, frequency: &[(&str, u64)], steps: &str) {
    let frequency = frequency
        .iter()
        .map(|(term, count)| ((*term).to_owned(), *count))
        .collect();
    let shown: Vec<String> = plan(&Query::parse(question), &frequency)
        .iter()
        .map(|step| format!("{}:{}", step.all_of.join("+"), step.limit))
        .collect();
    assert_eq!(shown.join(" "), steps, "plan for {question:?}");
}

#[test]
fn rare_terms_are_fetched_completely_and_first() {
    check(
        "spool budget",
        &[("spool", 40), ("budget", 7)],
        "budget:7 spool:40",
    );
}

#[test]
fn common_terms_are_fetched_together_before_alone() {
    let frequency = [("retri", 20_000), ("upload", 30_000), ("budget", 10_000)];
    check(
        "retry budget upload",
        &frequency,
        "budget+retri+upload:80 budget+retri:80 budget+upload:80 retri+upload:80 budget:80",
    );
    check("budget", &frequency, "budget:400");
}

#[test]
fn rare_terms_leave_room_for_common_ones() {
    let frequency = [("spool", 350), ("budget", 250), ("upload", 50_000)];
    check(
        "spool budget upload",
        &frequency,
        "budget:250 spool+upload:75 spool:75",
    );
}

#[test]
fn a_name_is_fetched_whole_and_by_all_its_parts() {
    let frequency = [("kite77", 3), ("kite", 500), ("77", 9)];
    check("KITE-77", &frequency, "kite77:3 77+kite:9");
}

#[test]
fn a_run_without_spaces_is_fetched_by_each_pair() {
    let frequency = [("数据", 5), ("据库", 3)];
    check("数据库", &frequency, "据库:3 据库+数据:3 数据:5");
}

#[test]
fn a_phrase_is_part_of_every_step() {
    let rare = [("retri", 90), ("budget", 80), ("upload", 50)];
    check("\"retry budget\" upload", &rare, "budget+retri:80");
    let common = [("retri", 900), ("budget", 800), ("upload", 50)];
    check(
        "\"retry budget\" upload",
        &common,
        "upload+budget+retri:50 budget+retri:350",
    );
    check("\"retry budget\"", &[("retri", 90)], "");
}

#[test]
fn what_the_corpus_does_not_know_is_not_fetched() {
    let use_alone = [("use", 300)];
    check("which database do we use?", &use_alone, "use:300");
    check("which database?", &use_alone, "");
    check("", &[], "");
    check("spool", &[], "");
}

proptest! {
    #[test]
    fn no_question_fetches_more_than_its_share(
        question in "[\"a-f数据库가나다 -]{0,60}",
        counts in prop::collection::vec(0u64..50_000, 24),
    ) {
        let query = Query::parse(&question);
        let frequency: HashMap<String, u64> = query.terms().iter().cloned().zip(counts).collect();
        let steps = plan(&query, &frequency);
        let rare = plan_rare(&query, &frequency);
        prop_assert!(steps.starts_with(&rare));
        prop_assert!(steps.iter().map(|step| step.limit).sum::<usize>() <= CANDIDATES as usize);
        for step in &steps {
            prop_assert!(step.limit > 0 && !step.all_of.is_empty());
            prop_assert!(step.all_of.iter().all(|term| frequency[term] >= step.limit.min(1) as u64));
            prop_assert!(step.all_of.is_sorted_by_key(|term| frequency[term]));
        }
    }
}
