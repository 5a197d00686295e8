pub fn auc(
    cases: &super::StatementCases,
    weights: &daybook_engine::extract::extractive::worth::WorthWeights,
    split: crate::dataset::Split,
) -> (usize, usize, f64) {
    let mut pos = vec![];
    let mut neg = vec![];
    for case in cases.statements.iter().filter(|c| c.split == split) {
        let kept: Vec<String> = case.keep.iter().map(|w| w.to_lowercase()).collect();
        for s in daybook_engine::extract::extractive::worth::judged_sentences(&case.text) {
            let is = kept.iter().any(|w| s.low.contains(w) || w.contains(&s.low));
            if is {
                pos.push(weights.weigh(&s.features))
            } else {
                neg.push(weights.weigh(&s.features))
            }
        }
    }
    let mut wins = 0.0;
    for p in &pos {
        for n in &neg {
            wins += if p > n {
                1.0
            } else if p == n {
                0.5
            } else {
                0.0
            }
        }
    }
    (
        pos.len(),
        neg.len(),
        wins / (pos.len() * neg.len()).max(1) as f64,
    )
}
