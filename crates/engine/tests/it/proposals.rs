//! Consolidation with a model: what it proposes changes the files, and no failure of it does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::model::{
    FailureCost, FinishReason, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
};
use daybook_domain::seams::Store;
use daybook_domain::{JobKey, ProposalRecord, Scope, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::{
    ModelForScope, UpdateReport, WorkLimits, WorkerContext, remember, work, write_due,
};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{append, at, event, session, user_scope};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores::{self, TestStore};
