"""The frameworks, with scripted models, against `daybook serve`; no network.

`python integrations.py <daybook> <folder>`: starts a server on a new data folder there.
"""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

from agents import Agent, ModelResponse, Runner, Usage, function_tool
from agents.models.interface import Model
from daybook_client import AsyncDaybook, Daybook
from daybook_client.integrations.langgraph_checkpoint import RememberingSaver
from daybook_client.integrations.langgraph_store import DaybookStore
from daybook_client.integrations.openai_agents import DaybookSession
from daybook_client.integrations.pydantic_ai import known, memory_tools
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import ModelResponse as PydanticResponse
from pydantic_ai import TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

DAYBOOK, FOLDER = sys.argv[1], Path(sys.argv[2])


def serve(root):
    command = [DAYBOOK, "serve", "--listen", "127.0.0.1:0", "--no-follow", "--root", str(root)]
    env = {**os.environ, "DAYBOOK_PERSON": "ada"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    return process, re.search(r"http://\S+", process.stdout.readline())[0]


class Script(Model):
    """A model that gives its answers in order, and keeps what it was shown."""

    def __init__(self, *answers):
        self.answers, self.shown = list(answers), []

    async def get_response(self, system_instructions, input, *arguments, **named):
        self.shown.append(input if isinstance(input, list) else [{"role": "user", "content": input}])
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *arguments, **named):
        raise NotImplementedError("the script answers at once")


def answers_with(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


def calls(name, arguments):
    return ResponseFunctionToolCall(call_id="c1", name=name, arguments=arguments, type="function_call")


@function_tool
def tide(place: str) -> str:
    """How high the tide is."""
    return f"two metres at {place}"


async def openai_agents(url, root):
    async with AsyncDaybook.local(url, root=root) as memory:
        session = DaybookSession(memory, "talk-1", agent="harbour-bot")
        assert await session.get_items() == [] and await session.pop_item() is None
        script = Script(calls("tide", '{"place": "pier seven"}'), answers_with("It is two metres high."))
        agent = Agent(name="Harbour", model=script, tools=[tide])
        await Runner.run(agent, "How high is the tide at pier seven?", session=session)

        # Another process goes on with it.
        session = DaybookSession(memory, "talk-1", agent="harbour-bot")
        script = Script(answers_with("You are welcome."))
        agent = Agent(name="Harbour", model=script, tools=[tide])
        await Runner.run(agent, "Thank you!", session=session)
        shown = script.shown[0]
        assert [one.get("role") or one["type"] for one in shown] == [
            "user",
            "function_call",
            "function_call_output",
            "assistant",
            "user",
        ], shown
        assert shown[1]["arguments"] == '{"place": "pier seven"}' and shown[2]["call_id"] == "c1", shown
        assert shown[2]["output"] == "two metres at pier seven", shown

        newest = await session.get_items(limit=2)
        assert [one["content"] for one in newest] == ["Thank you!", "You are welcome."], newest
        assert (await session.pop_item())["content"] == "You are welcome."
        assert (await session.pop_item())["content"] == "Thank you!"
        assert len(await session.get_items()) == 4
        await session.add_items([{"role": "user", "content": "And at noon?"}])
        assert (await session.get_items(limit=1))[0]["content"] == "And at noon?"
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items([{"role": "user", "content": "Good morning."}])
        assert [one["content"] for one in await session.get_items()] == ["Good morning."]

        # A long conversation is condensed, and its newest items stay as they are.
        session = DaybookSession(memory, "talk-2", agent="harbour-bot")
        for n in range(30):
            question = f"Is part {n} fine? " + "It is long. " * 20
            answer = {"role": "assistant", "content": f"Part {n} is fine."}
            await session.add_items([{"role": "user", "content": question}, answer])
        for _ in range(600):
            items = await session.get_items()
            if len(items) < 60:
                break
            await asyncio.sleep(0.1)
        assert items[0]["role"] == "developer" and "Part 0 is fine." in items[0]["content"], items[0]
        assert items[-1] == answer and await session.pop_item() == answer, items[-1]
        assert (await session.get_items(limit=1))[0]["content"] == question

        found = await memory.recall_memories("How high is the tide at pier seven?")
        assert any("two metres" in one["text"] for one in found["results"]), found


def langgraph_store(url, root):
    with Daybook.local(url, root=root) as memory:
        store = DaybookStore(memory)
        tea = {"text": "Ada prefers green tea", "level": 3}
        store.put(("users", "ada"), "tea/morning", tea)
        store.put(("users", "ada"), "boat", {"text": "Ada's boat is called Avocet", "level": 1})
        store.put(("users", "grace"), "tea", {"text": "Grace prefers black tea", "level": 2})
        item = store.get(("users", "ada"), "tea/morning")
        assert item.value == tea and item.key == "tea/morning" and item.namespace == ("users", "ada"), item
        store.put(("users", "ada"), "tea/morning", {**tea, "level": 4})
        again = store.get(("users", "ada"), "tea/morning")
        assert again.value["level"] == 4 and again.created_at == item.created_at < again.updated_at
        found = store.search(("users", "ada"), query="Which tea does Ada prefer?")
        assert found[0].key == "tea/morning" and found[0].score > 0, found
        assert all(one.namespace == ("users", "ada") for one in found), found
        assert [one.key for one in store.search(("users",), filter={"level": {"$lt": 3}})] == ["boat", "tea"]
        assert len(store.search((), limit=2, offset=2)) == 1
        assert store.list_namespaces(prefix=("users", "*")) == [("users", "ada"), ("users", "grace")]
        assert store.list_namespaces(max_depth=1) == [("users",)]
        store.delete(("users", "ada"), "boat")
        store.delete(("users", "ada"), "boat")
        assert store.get(("users", "ada"), "boat") is None

        # A person's edit of the file never hides the other items.
        memory.write_file("store/users/ada/broken.md", "Not an item.\n")
        assert [one.key for one in store.search(("users", "ada"))] == ["tea/morning"]

        def answer(state: MessagesState, runtime: Runtime):
            known = runtime.store.search(("users", "ada"), query=state["messages"][-1].text)
            return {"messages": [AIMessage(f"I know: {known[0].value['text']}")]}

        graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(store=store)
        done = graph.invoke({"messages": [HumanMessage("Which tea does Ada prefer?")]})
        assert done["messages"][-1].text == "I know: Ada prefers green tea", done

        async def asynchronous():
            return await store.asearch(("users", "grace"))

        assert [one.key for one in asyncio.run(asynchronous())] == ["tea"]


def langgraph_checkpoint(url, root):
    with Daybook.local(url, root=root) as memory:
        answers = iter(["The crane is in dock two.", "Since Monday.", "Never mind."])

        def answer(state: MessagesState):
            return {"messages": [AIMessage(next(answers))]}

        saver = RememberingSaver(InMemorySaver(), memory, agent="crane-bot")
        graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "crane-1"}}
        graph.invoke({"messages": [HumanMessage("Where is the crane?")]}, config)
        done = graph.invoke({"messages": [HumanMessage("Since when?")]}, config)
        assert [one.text for one in done["messages"]][1::2] == ["The crane is in dock two.", "Since Monday."]
        listed = [one for one in memory.list_sessions()["sessions"] if one["id"] == "crane-bot:crane-1"]
        assert listed[0]["events"] == 4, listed
        found = memory.recall_memories("Where is the crane?")
        assert any(one["text"] == "The crane is in dock two." for one in found["results"]), found

        # Without a server the conversation goes on.
        with Daybook("http://127.0.0.1:9", retries=0) as nowhere:
            saver = RememberingSaver(saver.inner, nowhere, agent="crane-bot")
            graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)
            done = asyncio.run(graph.ainvoke({"messages": [HumanMessage("And now?")]}, config))
            assert len(done["messages"]) == 6, done


async def pydantic_ai(url, root):
    async with AsyncDaybook.local(url, root=root) as memory:
        shown = []

        def script(messages, info):
            shown.append(messages)
            parts = [part for message in messages for part in message.parts if part.part_kind == "tool-return"]
            match len(parts):
                case 0:
                    return PydanticResponse([ToolCallPart("remember", {"text": "The lighthouse is painted in May."})])
                case 1:
                    return PydanticResponse([ToolCallPart("recall", {"question": "When is the lighthouse painted?"})])
                case _:
                    return PydanticResponse([TextPart(f"Known: {parts[-1].content[0]['text']}")])

        agent = PydanticAgent(FunctionModel(script), toolsets=[memory_tools(memory, user="ada")])
        agent.instructions(known(memory, user="ada"))
        done = await agent.run("The lighthouse is painted in May, please remember.")
        assert done.output == "Known: The lighthouse is painted in May.", done.output

        # A later run begins with what is known, once the server has written it into the files.
        for _ in range(600):
            listed = (await memory.list_memories(query="lighthouse", user="ada"))["memories"]
            if listed and listed[0]["shown_in"]:
                break
            await asyncio.sleep(0.1)
        agent = PydanticAgent(FunctionModel(lambda *_: PydanticResponse([TextPart("In May.")])))
        agent.instructions(known(memory, user="ada"))
        later = await agent.run("When is the lighthouse painted?")
        assert "painted in May" in later.all_messages()[0].instructions, later.all_messages()


def main():
    root = FOLDER / "root"
    process, url = serve(root)
    try:
        asyncio.run(openai_agents(url, root))
        langgraph_store(url, root)
        langgraph_checkpoint(url, root)
        asyncio.run(pydantic_ai(url, root))
    finally:
        process.terminate()
        process.wait()
    print("integrations: OpenAI Agents SDK, LangGraph store and checkpointer, Pydantic AI")


main()
