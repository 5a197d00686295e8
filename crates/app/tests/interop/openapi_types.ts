// The types that openapi-typescript makes of the published description, as a program uses them: `tsc` accepts this file
// only where operations have the names, requests and answers that are promised.
import type { operations } from "./openapi";

type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { "application/json": infer Request } };
}
  ? Request
  : never;
type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Response } } };
}
  ? Response
  : never;

export const question: Body<"recallMemories"> = { question: "how large is the tide cache" };
export const note: Body<"addMemory"> = { text: "deploys happen on Tuesdays" };
export const words: Body<"updateMemory"> = { text: "deploys happen on Wednesdays" };
export const text: Body<"writeFile"> = { text: "# Tides\n" };

export function ids(list: Answer<"listMemories">): string[] {
  return list.memories.map((memory) => memory.id);
}

export function next(list: Answer<"listSessions">): string | null {
  return list.next ?? null;
}
