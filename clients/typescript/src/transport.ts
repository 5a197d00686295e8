// Sends requests: tries again where that is safe, and turns refusals into errors.
//
// A request that changes something has an Idempotency-Key, which all its tries share: the server does its work once.
import { ConnectionFailed, RequestFailed, failure } from "./errors.js";
import type { Route } from "./routes.js";

/** What a client is made with. */
export interface Options {
  /** The server; http://127.0.0.1:8765 when left out. */
  url?: string;
  /** The token of the server, from the file `token` in its data folder. */
  token?: string;
  /** How often a request is tried again; 3 when left out. */
  retries?: number;
  /** How long one try may take, in milliseconds; 15,000 when left out. The server answers within 10 seconds. */
  timeout?: number;
  /** A `fetch` of your own, with proxies or certificates. */
  fetch?: typeof fetch;
}

export type Arguments = Record<string, unknown>;

const FIRST_WAIT = 100;
const LONGEST_WAIT = 5_000;

export class Transport {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #retries: number;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor({ url = "http://127.0.0.1:8765", token, retries = 3, timeout = 15_000, fetch: own = fetch }: Options) {
    this.#url = url.replace(/\/+$/, "");
    this.#headers = token ? { authorization: `Bearer ${token}` } : {};
    this.#retries = retries;
    this.#timeout = timeout;
    this.#fetch = own;
  }

  /** The answer to a request, or its error. */
  async send(route: Route, given: Arguments): Promise<unknown> {
    const { address, request } = this.#request(route, given);
    for (let tries = 0; ; tries++) {
      const answer = await this.#try(address, { ...request, signal: AbortSignal.timeout(this.#timeout) });
      const isLast = tries === this.#retries;
      if (answer instanceof Response && answer.ok) {
        return route.answer === "application/json" ? answer.json() : answer.text();
      }
      const error = answer instanceof Response ? await failure(answer) : answer;
      if (isLast || (error instanceof RequestFailed && !isWorthRepeating(error))) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, wait(tries, answer)));
    }
  }

  /** The events of a stream, until the caller stops. */
  async *stream<Event>(route: Route): AsyncGenerator<Event> {
    const stop = new AbortController();
    const { address, request } = this.#request(route, {});
    const answer = await this.#try(address, { ...request, signal: stop.signal });
    if (!(answer instanceof Response)) {
      throw answer;
    }
    if (!answer.ok || !answer.body) {
      throw await failure(answer);
    }
    try {
      for await (const line of lines(answer.body)) {
        if (line.startsWith("data:")) {
          yield JSON.parse(line.slice("data:".length)) as Event;
        }
      }
    } finally {
      stop.abort();
    }
  }

  async #try(address: string, request: RequestInit): Promise<Response | ConnectionFailed> {
    try {
      return await this.#fetch(address, request);
    } catch (cause) {
      return new ConnectionFailed(`${this.#url} does not answer`, { cause });
    }
  }

  /** The request: arguments that the route names are in its path or query, the rest is its body. */
  #request(route: Route, given: Arguments): { address: string; request: RequestInit } {
    const left = new Map(Object.entries(given).filter(([, value]) => value !== undefined));
    const take = (name: string): unknown => {
      const value = left.get(name);
      left.delete(name);
      return value;
    };
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(take(name))));
    const address = new URL(this.#url + path);
    for (const name of route.query) {
      const value = take(name);
      if (value !== undefined && value !== null) {
        address.searchParams.set(name, String(value));
      }
    }
    const headers: Record<string, string> = { ...this.#headers };
    const request: RequestInit = { method: route.method, headers };
    if (route.isKeyed) {
      headers["idempotency-key"] = crypto.randomUUID();
    }
    if (route.hasBody) {
      headers["content-type"] = "application/json";
      request.body = JSON.stringify(left.has("body") ? left.get("body") : Object.fromEntries(left));
    }
    return { address: address.href, request };
  }
}

/** Whether the same request may succeed in a moment. */
function isWorthRepeating(error: RequestFailed): boolean {
  return [429, 502, 503, 504].includes(error.status) || error.code === "in_progress";
}

/** How long to wait before the next try: as the server requests, else twice as long each time. */
function wait(tries: number, answer: Response | ConnectionFailed): number {
  const named = answer instanceof Response ? answer.headers.get("retry-after") : null;
  const usual = FIRST_WAIT * 2 ** tries;
  return Math.min(named !== null && /^\d+$/.test(named) ? Number(named) * 1_000 : usual, LONGEST_WAIT);
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
