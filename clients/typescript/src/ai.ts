// Memory for agents of the Vercel AI SDK: `generateText({ tools: daybookTools(memory, { agent: "harbour-bot" }), … })`.
import { jsonSchema, tool } from "ai";
import { type Daybook, type Given, InvalidRequest } from "./index.js";

/** Whose memory it is: what this agent and user may read, and what becomes theirs. */
export type Caller = Pick<Given<"rememberText">, "agent" | "user" | "room_id" | "team">;

/** Most answers that a model reads. */
const ANSWERS = 8;

const oneText = <Name extends string>(name: Name, description: string) =>
  jsonSchema<Record<Name, string>>({
    type: "object",
    properties: { [name]: { type: "string", description } },
    required: [name],
    additionalProperties: false,
  });

/** The tools `recall` and `remember`. */
export function daybookTools(memory: Daybook, caller: Caller = {}) {
  return {
    recall: tool({
      description: "Search what is remembered from earlier conversations: preferences, decisions, facts.",
      inputSchema: oneText("question", "The question, in plain words."),
      execute: ({ question }) =>
        inWords(async () => {
          const answer = await memory.recallMemories({ question, limit: ANSWERS, ...caller });
          const results = answer.confidence === "unlikely" ? [] : answer.results;
          return results.map(({ text, citation }) => ({ text, citation: citation ?? null }));
        }),
    }),
    remember: tool({
      description: "Keep a fact for later conversations.",
      inputSchema: oneText("text", "The fact, in one sentence that can be understood alone."),
      execute: ({ text }) => inWords(async () => (await memory.rememberText({ text, ...caller })).text),
    }),
  };
}

/** A refusal is an answer that the model can act on. */
async function inWords<Result>(work: () => Promise<Result>): Promise<Result | { refused: string }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidRequest) {
      return { refused: error.message };
    }
    throw error;
  }
}
