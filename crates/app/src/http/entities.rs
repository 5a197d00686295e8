//! The routes about entities: what is kept about people, projects, places and things, in the memory of the person.
//!
//! Not here: rules. A route checks only the bounds of HTTP.

use anyhow::Result;
use axum::Json;
use axum::extract::Path;
use daybook_engine::extract::entity_tools::MAX_LISTED_ENTITIES;
use daybook_engine::files::entities::manage;
use daybook_engine::files::entities::{Card, create, upsert};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::described_routes::described_routes;
use super::executor::RequestExecutor;
use super::fault::{ErrorBody, HttpFault, JsonBody};
use crate::process::run_on_new_thread;
use crate::service::entities::{ShownCard, ShownEntity, list_cards, read_entity, write_entities};

described_routes!(list, read, write, delete, record);

/// The entities.
#[derive(Serialize, ToSchema)]
struct EntityList {
    /// The entities, in the order of `INDEX.md`.
    entities: Vec<ShownCard>,
}

/// List entities with their names and descriptions
#[utoipa::path(
    get,
    path = "/v1/entities",
    operation_id = "listEntities",
    responses(
        (status = OK, description = "The entities", body = EntityList),
        (status = "default", description = "They could not be listed", body = ErrorBody),
    ),
)]
async fn list(executor: RequestExecutor) -> Result<Json<EntityList>, HttpFault> {
    let entities = executor
        .run(|daybook| async move { Ok(list_cards(&daybook, MAX_LISTED_ENTITIES)) })
        .await?;
    Ok(Json(EntityList { entities }))
}

/// Show an entity with its records and links
#[utoipa::path(
    get,
    path = "/v1/entities/{entity}",
    operation_id = "getEntity",
    params(("entity" = String, Path, description = "Its word, its name, or another name of it", example = "tidepool")),
    responses(
        (status = OK, description = "The entity", body = ShownEntity),
        (status = "default", description = "It could not be read", body = ErrorBody),
    ),
)]
async fn read(
    executor: RequestExecutor,
    Path(entity): Path<String>,
) -> Result<Json<ShownEntity>, HttpFault> {
    let found = executor.run(|daybook| async move { read_entity(&daybook, &entity) });
    Ok(Json(found.await?))
}

/// The name of an entity, and what it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EntityRequest {
    /// Its name, up to 60 characters.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    /// What it is, up to 160 characters.
    #[schema(min_length = 1, max_length = 160)]
    description: String,
}

/// What was written.
#[derive(Serialize, ToSchema)]
struct EntityAnswer {
    /// The entity's word.
    #[schema(example = "tidepool")]
    entity: String,
    /// Whether the entity, or the record, is new.
    created: bool,
    /// Secrets that were hidden in it.
    secrets_hidden: usize,
}

/// Create an entity, or change its name and description
#[utoipa::path(
    put,
    path = "/v1/entities/{entity}",
    operation_id = "writeEntity",
    params(("entity" = String, Path, description = "One lowercase word, a to z", example = "tidepool")),
    request_body = EntityRequest,
    responses(
        (status = OK, description = "It is kept", body = EntityAnswer),
        (status = "default", description = "It is not kept", body = ErrorBody),
    ),
)]
async fn write(
    executor: RequestExecutor,
    Path(entity): Path<String>,
    JsonBody(asked): JsonBody<EntityRequest>,
) -> Result<Json<EntityAnswer>, HttpFault> {
    let answer = executor.run(move |daybook| async move {
        let card = Card {
            name: asked.name,
            description: asked.description,
        };
        let saved = run_on_new_thread(|| {
            write_entities(&daybook, |lock, stamp, redactor| {
                create(lock, stamp, redactor, &entity, &card)
            })
        })?;
        Ok(EntityAnswer {
            entity,
            created: saved.created,
            secrets_hidden: saved.secrets,
        })
    });
    Ok(Json(answer.await?))
}

/// The text of a record.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RecordRequest {
    /// The text, at most 65536 bytes. `[[word]]` links to another entity.
    #[schema(min_length = 1, max_length = 65536)]
    content: String,
}

/// Add a record to an entity, or replace the record of that name
#[utoipa::path(
    put,
    path = "/v1/entities/{entity}/records/{record}",
    operation_id = "writeRecord",
    params(
        ("entity" = String, Path, description = "The entity's word", example = "tidepool"),
        ("record" = String, Path, description = "The record's name", example = "deploys"),
    ),
    request_body = RecordRequest,
    responses(
        (status = OK, description = "It is kept", body = EntityAnswer),
        (status = "default", description = "It is not kept", body = ErrorBody),
    ),
)]
async fn record(
    executor: RequestExecutor,
    Path((entity, record)): Path<(String, String)>,
    JsonBody(asked): JsonBody<RecordRequest>,
) -> Result<Json<EntityAnswer>, HttpFault> {
    let answer = executor.run(move |daybook| async move {
        read_entity(&daybook, &entity)?;
        let saved = run_on_new_thread(|| {
            write_entities(&daybook, |lock, stamp, redactor| {
                upsert(lock, stamp, redactor, &entity, &record, &asked.content)
            })
        })?;
        Ok(EntityAnswer {
            entity,
            created: saved.created,
            secrets_hidden: saved.secrets,
        })
    });
    Ok(Json(answer.await?))
}

/// What was deleted.
#[derive(Serialize, ToSchema)]
struct DeletedEntity {
    /// The entity's word.
    #[schema(example = "tidepool")]
    deleted: String,
}

/// Delete an entity; its file stays in the history of the person's memory
#[utoipa::path(
    delete,
    path = "/v1/entities/{entity}",
    operation_id = "deleteEntity",
    params(("entity" = String, Path, description = "Its word", example = "tidepool")),
    responses(
        (status = OK, description = "It is deleted", body = DeletedEntity),
        (status = "default", description = "Nothing was deleted", body = ErrorBody),
    ),
)]
async fn delete(
    executor: RequestExecutor,
    Path(entity): Path<String>,
) -> Result<Json<DeletedEntity>, HttpFault> {
    let deleted = executor.run(move |daybook| async move {
        read_entity(&daybook, &entity)?;
        run_on_new_thread(|| {
            write_entities(&daybook, |lock, stamp, _| {
                manage::delete(lock, stamp, &entity)
            })
        })?;
        Ok(entity)
    });
    let deleted = deleted.await?;
    Ok(Json(DeletedEntity { deleted }))
}
