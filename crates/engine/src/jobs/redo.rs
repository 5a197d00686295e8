//! Reading sessions anew: what an older extractor made when somebody asks for it, and what a stand-in made
//! once there is room.
//!
//! What sessions taught before holds until they are read to where they were. A newer prompt or model alone
//! begins nothing: reading anew may be billed.
//!
//! Not here: the generations themselves (`domain`, `store`).

use std::collections::BTreeSet;

use daybook_domain::eligibility::eligible;
use daybook_domain::{JobKey, StoreError};

use super::Workshop;
use crate::extract::stand_in::StoodIn;

/// Most sessions at once that are read anew because a stand-in has read them. At the next cap they wait
/// half done, and what is newly said in them waits too; the others go on.
const STOOD_IN: usize = 10;

/// Begins anew all sessions of which another extractor than the present one made something, and says how
/// many. Those that are being read anew already go on.
///
/// # Errors
/// When the store fails; repeating it goes on.
pub async fn redo_older(shop: &Workshop) -> Result<usize, StoreError> {
    let present = shop.extractor.name();
    let made = Made::by(shop, |extractor| extractor != present).await?;
    made.begin_anew(shop, usize::MAX).await
}

/// Begins anew the next sessions of which a stand-in made something while a cap had no room whose period
/// has ended since: at most [`STOOD_IN`] at once. No session is begun twice for one period, since nobody
/// stands in while it is read anew.
pub(super) async fn redo_stood_in(shop: &Workshop) -> Result<usize, StoreError> {
    if !shop.extractor.wants_known() {
        return Ok(0);
    }
    let (present, now) = (shop.extractor.name(), shop.clock.now());
    let has_room = |extractor: &str| {
        StoodIn::parse(extractor).is_some_and(|it| it.by != present && it.is_over(now))
    };
    let made = Made::by(shop, has_room).await?;
    let most = STOOD_IN.saturating_sub(made.under_way);
    made.begin_anew(shop, most).await
}

/// Jobs of sessions that memory is made from, of which certain extractors made something.
#[derive(Default)]
struct Made {
    /// Those that can begin anew.
    ready: BTreeSet<JobKey>,
    /// How many others are being read anew.
    under_way: usize,
}

impl Made {
    async fn by(shop: &Workshop, is_meant: impl Fn(&str) -> bool) -> Result<Self, StoreError> {
        let pairs = shop.store.extractors(&shop.tenant).await?.into_iter();
        let meant = pairs.filter(|(_, extractor)| is_meant(extractor));
        let sessions: BTreeSet<_> = meant.map(|(session, _)| session).collect();
        let mut made = Self::default();
        for id in sessions {
            let session = shop.store.session(&id).await?;
            if session.is_none_or(|session| eligible(&session, &shop.switches).is_err()) {
                continue;
            }
            let key = JobKey::Extract(id);
            match shop.store.job(&key).await? {
                Some(job) if job.redo_until.is_some() => made.under_way += 1,
                Some(_) => drop(made.ready.insert(key)),
                None => {}
            }
        }
        Ok(made)
    }

    async fn begin_anew(self, shop: &Workshop, most: usize) -> Result<usize, StoreError> {
        let mut begun = 0;
        for key in self.ready.into_iter().take(most) {
            shop.store.redo(&key, shop.clock.now()).await?;
            begun += 1;
        }
        Ok(begun)
    }
}
