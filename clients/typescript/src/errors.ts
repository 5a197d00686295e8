// The errors of requests, by what a program can do.

/** Any failure of a request. */
export class DaybookError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came, however often it was tried. The server may not run, or its address may be wrong. */
export class ConnectionFailed extends DaybookError {}

/** The server refused the request. `code` is for programs, and stays the same while messages get better. */
export class RequestFailed extends DaybookError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
  ) {
    super(message);
  }
}

/** The request is wrong; the message names what to change. */
export class InvalidRequest extends RequestFailed {}

/** There is no token, or it is not the server's, or it allows less. */
export class NotAuthorized extends RequestFailed {}

/** What the request names does not exist, or no longer. */
export class NotFound extends RequestFailed {}

/** The present state of the memory forbids it. */
export class Conflict extends RequestFailed {}

/** The server has too much to do, or cannot reach its database. Safe to repeat later. */
export class Unavailable extends RequestFailed {}

/** The error in an answer. */
export async function failure(answer: Response): Promise<RequestFailed> {
  let [code, message] = ["unknown", `the answer has status ${answer.status} and no error in words`];
  try {
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    [code, message] = [error.code, error.message];
  } catch {
    // Something between here and the server answered.
  }
  return new (kind(answer.status))(answer.status, code, message, answer.headers.get("x-request-id"));
}

function kind(status: number): typeof RequestFailed {
  switch (status) {
    case 401:
    case 403:
      return NotAuthorized;
    case 404:
      return NotFound;
    case 409:
      return Conflict;
    case 429:
    case 503:
    case 504:
      return Unavailable;
    default:
      return status < 500 ? InvalidRequest : RequestFailed;
  }
}
