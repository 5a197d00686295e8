//! The models of an evaluation, reached and charged as those of other work.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use daybook_domain::model::Model;
use daybook_engine::spend::Attribution;

use crate::cli::CommonArgs;
use crate::settings::Settings;
use crate::wiring::Daybook;

/// The stage that calls are charged to.
const EVAL: &str = "eval";

/// The model `name`, which `option` names. Its calls are charged to the person, in the run `run`.
pub(super) fn metered(
    daybook: &Daybook,
    common: &CommonArgs,
    option: &str,
    name: &str,
    run: &str,
) -> Result<Arc<dyn Model>> {
    // Models are looked up among the providers of the settings as that of extraction is.
    let mut set = common.set.clone();
    set.push(format!("extract_model={name}"));
    let settings =
        Settings::load(&daybook.root, &set).with_context(|| format!("{option} {name}"))?;
    let Some(chosen) = &settings.models.extract else {
        bail!("{option} {name} names no model; write for example home/small-1");
    };
    if chosen.forbidden.contains(&daybook.tenant) {
        let tenant = &daybook.tenant.0;
        bail!("{option} {name}: settings forbid that provider to the tenant {tenant}");
    }
    let whom = Attribution {
        tenant: daybook.tenant.clone(),
        user: daybook.settings.person.clone(),
        stage: EVAL,
        session: None,
        scope: None,
    };
    let model = daybook.models().limited_model(chosen)?;
    Ok(Arc::new(daybook.models().meter(run).budgeted(model, whom)))
}
