// The tools for the Vercel AI SDK, with a scripted model, against `daybook serve`; no network.
//
// `node ai.js <daybook> <folder>`: starts a server on a new data folder there.
import assert from "node:assert/strict";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Daybook } from "daybook-client";
import { daybookTools } from "daybook-client/ai";
import { serve } from "./server.js";

type Script = NonNullable<ConstructorParameters<typeof MockLanguageModelV3>[0]>["doGenerate"];
type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;

const usage: Generated["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const calls = (toolName: string, input: object): Generated => ({
  content: [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls", raw: undefined },
  usage,
  warnings: [],
});
const answersWith = (text: string): Generated => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop", raw: undefined },
  usage,
  warnings: [],
});

const [program, folder] = process.argv.slice(2) as [string, string];
const { server, url, token } = await serve(program, `${folder}/root`);
try {
  const memory = new Daybook({ url, token });
  const answers = [
    calls("remember", { text: "The lighthouse is painted in May." }),
    calls("recall", { question: "When is the lighthouse painted?" }),
    calls("recall", { question: "" }),
    answersWith("In May."),
  ];
  const script: Script = () => Promise.resolve(answers.shift() ?? answersWith("There is no more."));
  const { text, steps } = await generateText({
    model: new MockLanguageModelV3({ doGenerate: script }),
    tools: daybookTools(memory, { user: "ada" }),
    stopWhen: stepCountIs(5),
    prompt: "Please remember: the lighthouse is painted in May.",
  });
  assert.equal(text, "In May.");
  const outputs = steps.flatMap((step) => step.toolResults.map((result) => result.output));
  assert.equal(outputs[0], "The lighthouse is painted in May.");
  assert.match(JSON.stringify(outputs[1]), /painted in May/);
  assert.match(JSON.stringify(outputs[2]), /refused.*question/);
  console.log("integrations: Vercel AI SDK");
} finally {
  server.kill();
}
