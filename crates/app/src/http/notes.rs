//! Keeps notes, for the routes that take one.

use axum::Json;

use super::bounds::absolute_folder;
use super::executor::RequestExecutor;
use super::fault::HttpFault;
use super::shapes::{RememberAnswer, RememberRequest};
use crate::service::caller::NamedCaller;
use crate::service::notes::{NoteScope, save_note_without_files};

/// Keeps a note.
pub(super) async fn saved_note(
    executor: &RequestExecutor,
    request: RememberRequest,
) -> Result<Json<RememberAnswer>, HttpFault> {
    let folder = absolute_folder(request.folder)?;
    let scope = request.scope.map_or(NoteScope::Current, NoteScope::Named);
    let caller = NamedCaller {
        agent: request.agent,
        user: request.user,
        room_id: request.room_id,
        team: request.team,
        project: None,
    };
    let note = executor
        .run(move |daybook| async move {
            save_note_without_files(&daybook, &request.text, &scope, folder.as_deref(), &caller)
                .await
        })
        .await?;
    Ok(Json(note.into()))
}
