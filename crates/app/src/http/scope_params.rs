//! The fields in which a request names whose memory it is for, and who asks.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::service::caller::named_caller;
use crate::service::scope_choice::ScopeChoice;

/// Whose memory a request is for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ScopeParams {
    /// Whose memory; when left out, all that the caller reads, or the person's.
    #[param(max_length = 512, example = "project/tidepool")]
    pub(super) scope: Option<String>,
    /// The agent that asks: it reads its own memory, and that of its teams.
    #[param(max_length = 512, example = "harbour-bot")]
    pub(super) agent: Option<String>,
    /// The person that it talks with, where that is not the person of the data folder.
    #[param(max_length = 512, example = "ada")]
    pub(super) user: Option<String>,
    /// The room that it is in. In a room or a team no memory of one person is read.
    #[param(max_length = 512, example = "!pier:example.org")]
    pub(super) room_id: Option<String>,
    /// The team that it speaks for, by its name or its members.
    #[param(max_length = 512, example = "alpha+beta")]
    pub(super) team: Option<String>,
    /// The key of the project that it works in, where it names itself.
    #[param(max_length = 512, example = "tidepool")]
    pub(super) project: Option<String>,
}

impl ScopeParams {
    /// The choice of a scope that these fields make.
    pub(super) fn choice(&self) -> ScopeChoice {
        ScopeChoice {
            scope: self.scope.clone(),
            project: None,
            caller: Some(named_caller!(self)),
        }
    }
}
