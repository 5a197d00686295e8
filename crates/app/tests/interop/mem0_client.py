"""`daybook serve` as mem0's platform: mem0's own client, unchanged but for its host.

`python mem0_client.py <daybook> <folder>`: starts a server on a new data folder there.
"""

import asyncio
import os
import re
import subprocess
import sys
import time

os.environ["MEM0_TELEMETRY"] = "false"
os.environ["MEM0_DIR"] = os.path.join(sys.argv[2], "mem0")

import httpx
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import MemoryNotFoundError

DAYBOOK, FOLDER = sys.argv[1:3]
ROOT = os.path.join(FOLDER, "root")
ENV = {**os.environ, "DAYBOOK_PERSON": "ada"}


def serve():
    command = [DAYBOOK, "serve", "--listen", "127.0.0.1:0", "--no-follow", "--root", ROOT]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENV)
    address = re.search(r"http://\S+", process.stdout.readline())[0]
    with open(os.path.join(ROOT, "token")) as file:
        return process, address, file.read().strip()


def texts(answer):
    return sorted(memory["memory"] for memory in answer["results"])


def refused(work, *kinds):
    try:
        work()
    except kinds as error:
        return error
    raise AssertionError("it was not refused")


def kept_as_they_are(client):
    ada = {"user_id": "ada"}
    tea = client.add("Ada prefers green tea", infer=False, metadata={"source": "chat", "level": 3}, **ada)
    assert tea["status"] == "SUCCEEDED" and tea["results"][0]["event"] == "ADD", tea
    tea = tea["results"][0]["id"]
    dialog = [{"role": "user", "content": "The ferry leaves from pier seven"}, {"role": "assistant", "content": "Noted"}]
    client.add(dialog, infer=False, run_id="trip-1", agent_id="harbour-bot", **ada)
    client.add("The crane is out of order", infer=False, agent_id="harbour-bot")
    client.add("Grace prefers coffee", infer=False, user_id="grace")

    everything = client.get_all(filters=ada)
    assert texts(everything) == ["Ada prefers green tea", "Noted", "The ferry leaves from pier seven"], everything
    assert everything["count"] == 3 and everything["next"] is None
    page = client.get_all(filters=ada, page=2, page_size=2)
    assert len(page["results"]) == 1 and page["previous"], page
    trip = client.get_all(filters={"AND": [{"user_id": "*"}, {"run_id": "trip-1"}]})
    assert len(trip["results"]) == 2 and all(it["session_id"] == "trip-1" for it in trip["results"]), trip
    level = client.get_all(filters={"AND": [ada, {"metadata": {"level": {"gte": 3}}}]})
    assert texts(level) == ["Ada prefers green tea"], level
    agent = client.get_all(filters={"agent_id": "harbour-bot"})
    assert len(agent["results"]) == 3, agent

    found = client.search("what does she like to drink: tea or coffee", filters=ada)
    assert found["results"][0]["id"] == tea and 0 < found["results"][0]["score"] <= 1, found
    assert "Grace" not in str(found), found
    assert texts(client.search("tea or coffee", filters={"user_id": "grace"})) == ["Grace prefers coffee"]
    assert len(client.search("tea", filters={"user_id": "nobody"})["results"]) == 0
    memory = client.get(tea)
    assert memory["metadata"] == {"source": "chat", "level": 3} and memory["user_id"] == "ada", memory
    return tea


def changed(client, tea):
    updated = client.update(tea, text="Ada prefers black tea", metadata={"source": "letter"})
    assert (updated["id"], updated["memory"], updated["metadata"]) == (tea, "Ada prefers black tea", {"source": "letter"})
    assert client.get(tea)["memory"] == "Ada prefers black tea"
    assert "black tea" in str(client.search("which tea does Ada prefer", filters={"user_id": "ada"}))
    past = client.history(tea)
    assert [entry["event"] for entry in past] == ["ADD", "UPDATE"], past
    assert (past[1]["old_memory"], past[1]["new_memory"]) == ("Ada prefers green tea", "Ada prefers black tea"), past

    other = client.add(["One", "Two"][0] + " boat lies at anchor", infer=False, user_id="ada")["results"][0]["id"]
    client.batch_update([{"memory_id": tea, "text": "Ada prefers white tea"}, {"memory_id": other, "metadata": {"n": 1}}])
    assert client.get(tea)["memory"] == "Ada prefers white tea" and client.get(other)["metadata"] == {"n": 1}
    client.batch_delete([{"memory_id": other}])
    refused(lambda: client.get(other), MemoryNotFoundError)

    gone = client.add("The tide turns at noon", infer=False, user_id="ada", expiration_date="2020-01-01")["results"][0]["id"]
    assert gone not in str(client.get_all(filters={"user_id": "ada"}))
    assert gone in str(client.get_all(filters={"user_id": "ada"}, show_expired=True))
    client.update(gone, expiration_date=None)
    assert gone in str(client.get_all(filters={"user_id": "ada"}))

    users = {(it["type"], it["name"]): it["total_memories"] for it in client.users()["results"]}
    assert users[("user", "grace")] == 1 and users[("run", "trip-1")] == 2 and ("agent", "harbour-bot") in users, users
    client.delete(tea)
    refused(lambda: client.get(tea), MemoryNotFoundError)
    assert "tea" not in str(client.get_all(filters={"user_id": "ada"}))
    client.delete_users(user_id="grace")
    assert ("user", "grace") not in {(it["type"], it["name"]) for it in client.users()["results"]}
    client.delete_all(user_id="ada")
    assert client.get_all(filters={"user_id": "ada"})["count"] == 0


def learned(client, address, token):
    dialog = [
        {"role": "user", "content": "Please always write the test first."},
        {"role": "assistant", "content": "I will write the test first."},
    ]
    added = client.add(dialog, user_id="ada", metadata={"source": "review"})
    assert added["status"] == "PENDING", added
    headers = {"Authorization": f"Token {token}"}
    for _ in range(600):
        event = httpx.get(f"{address}/v1/event/{added['event_id']}/", headers=headers).json()
        if event["status"] == "SUCCEEDED":
            break
        time.sleep(0.1)
    assert "test first" in event["results"][0]["memory"], event
    memory = client.search("should tests be written first", filters={"user_id": "ada"})["results"][0]
    assert "test first" in memory["memory"] and memory["metadata"] == {"source": "review"}, memory


def open_source(address, token):
    """The paths of mem0's own server, by which programs without its client reach it."""
    with httpx.Client(base_url=address, headers={"X-API-Key": token}) as server:
        body = {"messages": [{"role": "user", "content": "The keeper is called Brannagh"}], "infer": False}
        assert server.post("/memories", json=body).status_code == 400
        added = server.post("/memories", json={**body, "user_id": "ada"}).json()["results"][0]
        found = server.post("/search", json={"query": "who is the keeper", "filters": {"user_id": "ada"}}).json()
        assert found["results"][0]["id"] == added["id"], found
        assert server.get(f"/memories/{added['id']}").json()["memory"] == "The keeper is called Brannagh"
        server.put(f"/memories/{added['id']}", json={"text": "The keeper is called Moriarty"}).raise_for_status()
        assert [it["event"] for it in server.get(f"/memories/{added['id']}/history").json()] == ["ADD", "UPDATE"]
        assert added["id"] in str(server.get("/memories", params={"user_id": "ada"}).json())
        assert server.delete(f"/memories/{added['id']}").json() == {"message": "Memory deleted successfully"}
        assert server.delete(f"/memories/{added['id']}").status_code == 404
        assert server.delete("/memories").json() == {"detail": "At least one identifier is required."}


async def asynchronous(address, token):
    async with AsyncMemoryClient(api_key=token, host=address) as client:
        await client.add("The lock opens at dawn", infer=False, user_id="grace")
        found = await client.search("when does the lock open", filters={"user_id": "grace"})
        assert "at dawn" in str(found), found


def main():
    process, address, token = serve()
    try:
        refused(lambda: MemoryClient(api_key="0" * 64, host=address), ValueError)
        client = MemoryClient(api_key=token, host=address)
        changed(client, kept_as_they_are(client))
        learned(client, address, token)
        open_source(address, token)
        asyncio.run(asynchronous(address, token))
    finally:
        process.terminate()
        process.wait(timeout=10)
    print("mem0's client gets on with daybook serve")


main()
