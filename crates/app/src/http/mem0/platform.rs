//! The routes of mem0's platform. Their paths end with a slash.

use axum::extract::Path;
use axum::http::{StatusCode, Uri};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    AddRequest, Answer, FindRequest, Mem0Body, Mem0Fault, Mem0Query, all_of, one_memory, owner_of,
    run,
};
use crate::http::bounds::within;
use crate::http::executor::{RequestExecutor, TenantExecutors};
use crate::http::fault::HttpFault;
use crate::service::mem0::adding;
use crate::service::mem0::changing::{self, Update};
use crate::service::mem0::{Mem0Memory, Owners};
use crate::service::mem0::{events, reading};

/// Answers to a question that names no number, most answers, and the least score of one.
const SEARCH: (usize, usize, f64) = (10, 1_000, 0.1);
/// Memories or events of a page that names no number, and most of a page.
const PAGE: (usize, usize) = (100, 200);
/// Most memories that one request changes.
const BATCH: usize = 1_000;

pub(super) fn routes() -> Router<TenantExecutors> {
    Router::new()
        .route("/v1/ping/", get(ping))
        .route("/v3/memories/add/", post(add))
        .route("/v3/memories/search/", post(search))
        .route("/v3/memories/", post(list))
        .route("/v2/memories/search/", post(search_list))
        .route("/v2/memories/", post(list))
        .route("/v1/memories/search/", post(search_list))
        .route(
            "/v1/memories/",
            post(add).get(list_by_query).delete(delete_all),
        )
        .route(
            "/v1/memories/{memory}/",
            get(one_memory::show).put(update).delete(forget),
        )
        .route("/v1/memories/{memory}/history/", get(one_memory::history))
        .route("/v1/batch/", put(update_batch).delete(delete_batch))
        .route("/v1/entities/", get(entities))
        .route("/v2/entities/{kind}/{name}/", delete(delete_entity))
        .route("/v1/events/", get(list_events))
        .route("/v1/event/{event}/", get(event))
}

async fn ping(_: RequestExecutor) -> Json<Value> {
    Json(json!({"status": "ok", "org_id": "daybook", "project_id": "daybook", "user_email": null}))
}

async fn add(executor: RequestExecutor, Mem0Body(asked): Mem0Body<AddRequest>) -> Answer {
    let (addition, is_to_learn) = asked.parse()?;
    if !is_to_learn {
        let added = run(&executor, |daybook| async move {
            adding::add_as_is(&daybook, &addition).await
        });
        let results: Vec<Value> = added.await?.iter().map(added_json).collect();
        let message = "Memories are kept";
        return Ok(Json(
            json!({"message": message, "status": "SUCCEEDED", "results": results}),
        ));
    }
    let event = run(&executor, |daybook| async move {
        adding::add_to_learn(&daybook, &addition).await
    });
    Ok(Json(json!({"event_id": event.await?, "status": "PENDING"})))
}

pub(super) fn added_json(memory: &Mem0Memory) -> Value {
    json!({"id": memory.id, "memory": memory.memory, "event": "ADD"})
}

async fn found(executor: &RequestExecutor, asked: FindRequest) -> Result<Value, Mem0Fault> {
    asked.check_query()?;
    let limit = asked.top_k.unwrap_or(SEARCH.0);
    within("top_k", limit, SEARCH.1, "memories")?;
    let (wanted, threshold) = (asked.wanted()?, asked.threshold.unwrap_or(SEARCH.2));
    let found = run(executor, move |daybook| async move {
        reading::search(&daybook, &asked.query, (&wanted, limit), threshold).await
    });
    Ok(json!(found.await?))
}

async fn search(executor: RequestExecutor, Mem0Body(asked): Mem0Body<FindRequest>) -> Answer {
    Ok(Json(json!({"results": found(&executor, asked).await?})))
}

/// As older clients read it: the list alone.
async fn search_list(executor: RequestExecutor, Mem0Body(asked): Mem0Body<FindRequest>) -> Answer {
    Ok(Json(found(&executor, asked).await?))
}

#[derive(Deserialize)]
struct PageQuery {
    page: Option<usize>,
    page_size: Option<usize>,
}

impl PageQuery {
    /// The page and its size, for a list of `what`.
    fn bounds(&self, what: &str) -> Result<(usize, usize), Mem0Fault> {
        let (number, size) = (self.page.unwrap_or(1), self.page_size.unwrap_or(PAGE.0));
        within("page_size", size, PAGE.1, what)?;
        within("page", number, usize::MAX / PAGE.1, "pages")?;
        Ok((number, size))
    }
}

async fn list(
    executor: RequestExecutor,
    uri: Uri,
    Mem0Query(page): Mem0Query<PageQuery>,
    Mem0Body(asked): Mem0Body<FindRequest>,
) -> Answer {
    listed(&executor, uri.path(), &page, asked).await
}

async fn list_by_query(
    executor: RequestExecutor,
    uri: Uri,
    Mem0Query(page): Mem0Query<PageQuery>,
    Mem0Query(owners): Mem0Query<Owners>,
) -> Answer {
    let asked = FindRequest {
        owners,
        ..FindRequest::default()
    };
    listed(&executor, uri.path(), &page, asked).await
}

async fn listed(
    executor: &RequestExecutor,
    path: &str,
    page: &PageQuery,
    asked: FindRequest,
) -> Answer {
    let (number, size) = page.bounds("memories")?;
    let wanted = asked.wanted()?;
    let all = run(executor, move |daybook| async move {
        reading::list(&daybook, &wanted).await
    });
    let all = all.await?;
    let results: Vec<Value> = all
        .iter()
        .skip((number - 1) * size)
        .take(size)
        .map(|memory| {
            let mut shown = json!(memory);
            // The platform calls a run's id so in lists.
            shown["session_id"] = json!(memory.owners.run_id);
            shown
        })
        .collect();
    let results = json!(results);
    Ok(Json(paged(path, (number, size), all.len(), &results)))
}

async fn update(
    executor: RequestExecutor,
    Path(memory): Path<String>,
    Mem0Body(new): Mem0Body<Update>,
) -> Answer {
    Ok(Json(json!(
        one_memory::update(&executor, memory, new).await?
    )))
}

async fn forget(executor: RequestExecutor, Path(memory): Path<String>) -> Answer {
    one_memory::forget(&executor, memory).await?;
    Ok(Json(
        json!({"message": "Memory deleted successfully!", "cascade_count": 0}),
    ))
}

async fn delete_all(executor: RequestExecutor, Mem0Query(owners): Mem0Query<Owners>) -> Answer {
    delete_of(&executor, owners).await?;
    Ok(Json(json!({"message": "Memories deleted successfully!"})))
}

pub(super) async fn delete_of(
    executor: &RequestExecutor,
    owners: Owners,
) -> Result<usize, Mem0Fault> {
    let wanted = all_of(&owners)?;
    run(executor, move |daybook| async move {
        changing::delete_all(&daybook, &wanted).await
    })
    .await
}

#[derive(Deserialize)]
struct BatchRequest {
    memories: Vec<Map<String, Value>>,
}

impl BatchRequest {
    /// The ids of the memories, each with its fields.
    fn parse(self) -> Result<Vec<(String, Value)>, Mem0Fault> {
        within("memories", self.memories.len(), BATCH, "memories")?;
        let named = self.memories.into_iter().map(|memory| {
            let id = memory.get("memory_id").and_then(Value::as_str);
            let id = id.ok_or_else(|| HttpFault::request("each of memories has a memory_id"))?;
            Ok((id.to_owned(), Value::Object(memory.clone())))
        });
        named.collect()
    }
}

async fn update_batch(
    executor: RequestExecutor,
    Mem0Body(asked): Mem0Body<BatchRequest>,
) -> Answer {
    let mut updates = Vec::new();
    for (id, fields) in asked.parse()? {
        let update: Update = serde_json::from_value(fields)
            .map_err(|_| HttpFault::request(format!("the fields of the memory {id} do not fit")))?;
        updates.push((id, update));
    }
    let count = updates.len();
    run(&executor, move |daybook| async move {
        for (id, update) in updates {
            changing::update(&daybook, &id, update).await?;
        }
        Ok(())
    })
    .await?;
    Ok(Json(
        json!({"message": format!("Successfully updated {count} memories")}),
    ))
}

async fn delete_batch(
    executor: RequestExecutor,
    Mem0Body(asked): Mem0Body<BatchRequest>,
) -> Answer {
    let named = asked.parse()?;
    let count = named.len();
    run(&executor, move |daybook| async move {
        for (id, _) in named {
            changing::delete(&daybook, &id).await?;
        }
        Ok(())
    })
    .await?;
    Ok(Json(
        json!({"message": format!("Successfully deleted {count} memories")}),
    ))
}

async fn entities(executor: RequestExecutor) -> Answer {
    let all = run(&executor, |daybook| async move {
        reading::entities(&daybook).await
    });
    let all = all.await?;
    let answer = json!({"count": all.len(), "next": null, "previous": null, "results": all});
    Ok(Json(answer))
}

async fn delete_entity(
    executor: RequestExecutor,
    Path((kind, name)): Path<(String, String)>,
) -> Answer {
    let deleted = delete_of(&executor, owner_of(&kind, name)?).await?;
    match deleted {
        0 => Err(HttpFault::new(
            StatusCode::NOT_FOUND,
            "not_found",
            "no memory belongs to it",
        )
        .into()),
        _ => Ok(Json(json!({"message": "Entity deleted successfully!"}))),
    }
}

async fn event(executor: RequestExecutor, Path(event): Path<String>) -> Answer {
    let found = run(&executor, |daybook| async move {
        events::event(&daybook, &event).await
    });
    Ok(Json(json!(found.await?)))
}

async fn list_events(
    executor: RequestExecutor,
    uri: Uri,
    Mem0Query(page): Mem0Query<PageQuery>,
) -> Answer {
    let (number, size) = page.bounds("events")?;
    let found = run(&executor, move |daybook| async move {
        events::events(&daybook, (number, size)).await
    });
    let (count, results) = found.await?;
    Ok(Json(paged(
        uri.path(),
        (number, size),
        count,
        &json!(results),
    )))
}

/// A page of a list, with the addresses of the pages beside it.
fn paged(path: &str, (number, size): (usize, usize), count: usize, results: &Value) -> Value {
    let address = |number: usize| format!("{path}?page={number}&page_size={size}");
    let next = (number * size < count).then(|| address(number + 1));
    let previous = (number > 1).then(|| address(number - 1));
    json!({"count": count, "next": next, "previous": previous, "results": results})
}
