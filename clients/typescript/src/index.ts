// Daybook from TypeScript: memory for AI agents that outlives the session.
import type { components, operations } from "./openapi.js";
import { routes } from "./routes.js";
import { type Arguments, type Options, Transport } from "./transport.js";

export * from "./errors.js";
export type { Options } from "./transport.js";

/** The types of requests and answers, by the names of the description. */
export type Schemas = components["schemas"];
/** The name of an operation. */
export type OperationName = keyof operations;

// An operation without parameters of a place has `never` there, which would refuse every argument.
type Fields<Some> = [NonNullable<Some>] extends [never] ? unknown : NonNullable<Some>;
type Parameters<Name extends OperationName> = Fields<operations[Name]["parameters"]["path"]> &
  Fields<operations[Name]["parameters"]["query"]>;
type JsonBody<Name extends OperationName> = operations[Name] extends {
  requestBody: { content: { "application/json": infer Body } };
}
  ? Body
  : unknown;
// Bodies that are one of several things are given as `body`; all others as fields beside the other arguments.
type Whole = "dispatchEvent" | "runMemoryTool";

/** The arguments of an operation: those of its path, its query and its body in one object. */
export type Given<Name extends OperationName> = Parameters<Name> &
  (Name extends Whole ? { body: JsonBody<Name> } : JsonBody<Name>);
/** The answer of an operation. */
export type Answer<Name extends OperationName> = operations[Name] extends {
  responses: { 200: { content: infer Content } };
}
  ? Content[keyof Content]
  : never;

type Method<Name extends OperationName> = Name extends "watchChanges"
  ? () => AsyncGenerator<Answer<Name>>
  : {} extends Given<Name>
    ? (given?: Given<Name>) => Promise<Answer<Name>>
    : (given: Given<Name>) => Promise<Answer<Name>>;

/** Every operation of the server, as a method. */
export type Operations = { readonly [Name in OperationName]: Method<Name> };

const PAGE = 100;

class Client {
  constructor(options: Options = {}) {
    const transport = new Transport(options);
    for (const [name, route] of Object.entries(routes)) {
      const isStream = route.answer === "text/event-stream";
      const method = isStream
        ? () => transport.stream(route)
        : (given: Arguments = {}) => transport.send(route, given);
      Object.defineProperty(this, name, { value: method });
    }
  }

  /** All pages of `listMemories`, memory by memory. */
  async *allMemories(chosen: Given<"listMemories"> = {}): AsyncGenerator<Schemas["ListedMemory"]> {
    let after: string | null | undefined;
    do {
      const page: Schemas["MemoryList"] = await (this as unknown as Operations).listMemories({
        limit: PAGE,
        ...chosen,
        ...(after ? { after } : {}),
      });
      yield* page.memories;
      after = page.next;
    } while (after);
  }

  /** All pages of `listSessions`, session by session. */
  async *allSessions(chosen: Given<"listSessions"> = {}): AsyncGenerator<Schemas["ListedSession"]> {
    let after: string | null | undefined;
    do {
      const page: Schemas["SessionList"] = await (this as unknown as Operations).listSessions({
        limit: PAGE,
        ...chosen,
        ...(after ? { after } : {}),
      });
      yield* page.sessions;
      after = page.next;
    } while (after);
  }
}

/** A client of `daybook serve`. */
export type Daybook = Client & Operations;
/** Makes a client: `new Daybook({ token })`. */
export const Daybook = Client as unknown as new (options?: Options) => Daybook;
