//! What went wrong and waits for a person, in one line each.

use anyhow::Result;
use daybook_domain::spend::SpendBy;

use crate::service::damage::find_damage;
use crate::service::overview::failing_inputs;
use crate::service::spending::{CapUsage, SpendReport};
use crate::service::waits::{load_waits, wait_lines};
use crate::wiring::Daybook;

/// Files and gaps that are named.
const NAMED: usize = 5;

/// All that went wrong, the worst first.
pub(crate) async fn find_troubles(daybook: &Daybook) -> Result<Vec<String>> {
    let mut lines = find_damage(daybook).await?;
    lines.extend(wait_lines(daybook, &load_waits(daybook).await?));
    let gaps = daybook.gaps().await?;
    lines.extend(gaps.iter().take(NAMED).map(|gap| {
        format!(
            "{}: events {}–{} were given up: {}",
            gap.job, gap.from, gap.to, gap.failure.message
        )
    }));
    let failing = failing_inputs(daybook).await?;
    let failing = failing.iter().take(NAMED);
    lines.extend(failing.map(|input| format!("{} could not be read: {}", input.path, input.why)));
    let spent = SpendReport::load(daybook, SpendBy::Model, None).await?;
    lines.extend(spent.caps.iter().filter_map(reached));
    Ok(lines)
}

/// What a cap that is reached stops.
fn reached(cap: &CapUsage) -> Option<String> {
    let used = cap.used?;
    let by_tokens = cap.cap.tokens.is_some_and(|most| used.tokens >= most);
    let by_money = cap.cap.money.is_some_and(|most| used.money >= most);
    (by_tokens || by_money).then(|| {
        format!(
            "the cap of each {} is reached: models are not called until it ends",
            cap.cap.period.as_str()
        )
    })
}
