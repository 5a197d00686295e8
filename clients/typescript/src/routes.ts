// Written by `generate.mjs` from the description of HTTP; do not edit.

import type { operations } from "./openapi.js";

/** How an operation is requested. */
export interface Route {
  method: string;
  path: string;
  /** Names of the arguments that are in the query; those in the path are named there, and the rest is the body. */
  query: readonly string[];
  hasBody: boolean;
  /** Whether a repeat is safe only with an Idempotency-Key. */
  isKeyed: boolean;
  /** The media type of its answer. */
  answer: string;
}

/** Every operation of the server. */
export const routes: { [Name in keyof operations]: Route } = {
  getDocs: {"method":"GET","path":"/docs","query":[],"hasBody":false,"isKeyed":false,"answer":"text/html"},
  getHealth: {"method":"GET","path":"/health","query":[],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  getMetrics: {"method":"GET","path":"/metrics","query":[],"hasBody":false,"isKeyed":false,"answer":"text/plain"},
  getOpenApi: {"method":"GET","path":"/openapi.json","query":[],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  appendEvents: {"method":"POST","path":"/v1/append","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  watchChanges: {"method":"GET","path":"/v1/changes","query":[],"hasBody":false,"isKeyed":false,"answer":"text/event-stream"},
  getContext: {"method":"GET","path":"/v1/context","query":["folder","project","branch","files","prompt","budget","agent","user","room_id","team"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  diffFiles: {"method":"GET","path":"/v1/diff","query":["scope","from","to","at","file","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  editLine: {"method":"POST","path":"/v1/edit","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  listEntities: {"method":"GET","path":"/v1/entities","query":[],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  getEntity: {"method":"GET","path":"/v1/entities/{entity}","query":[],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  writeEntity: {"method":"PUT","path":"/v1/entities/{entity}","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  deleteEntity: {"method":"DELETE","path":"/v1/entities/{entity}","query":[],"hasBody":false,"isKeyed":true,"answer":"application/json"},
  writeRecord: {"method":"PUT","path":"/v1/entities/{entity}/records/{record}","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  listFiles: {"method":"GET","path":"/v1/files","query":["scope","limit","after","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  readFile: {"method":"GET","path":"/v1/files/{file}","query":["scope","at","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  writeFile: {"method":"PUT","path":"/v1/files/{file}","query":["scope","agent","user","room_id","team","project"],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  deleteFile: {"method":"DELETE","path":"/v1/files/{file}","query":["scope","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":true,"answer":"application/json"},
  listFileHistory: {"method":"GET","path":"/v1/files/{file}/history","query":["scope","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  restoreFile: {"method":"POST","path":"/v1/files/{file}/restore","query":["scope","agent","user","room_id","team","project"],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  forgetMemory: {"method":"POST","path":"/v1/forget","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  listFileChanges: {"method":"GET","path":"/v1/history","query":["scope","file","limit","after","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  listJobs: {"method":"GET","path":"/v1/jobs","query":["all","limit","after"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  listMemories: {"method":"GET","path":"/v1/memories","query":["scope","kind","query","limit","after","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  addMemory: {"method":"POST","path":"/v1/memories","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  getMemory: {"method":"GET","path":"/v1/memories/{memory}","query":["scope","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  deleteMemory: {"method":"DELETE","path":"/v1/memories/{memory}","query":["scope","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":true,"answer":"application/json"},
  updateMemory: {"method":"PATCH","path":"/v1/memories/{memory}","query":["scope","agent","user","room_id","team","project"],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  getMemoryHistory: {"method":"GET","path":"/v1/memories/{memory}/history","query":["scope","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  runMemoryTool: {"method":"POST","path":"/v1/memory-tool","query":["scope","flavour","agent","user","room_id","team","project"],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  purgeMemory: {"method":"POST","path":"/v1/purge","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  recallMemories: {"method":"POST","path":"/v1/recall","query":[],"hasBody":true,"isKeyed":false,"answer":"application/json"},
  rememberText: {"method":"POST","path":"/v1/remember","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  listSessions: {"method":"GET","path":"/v1/sessions","query":["limit","after","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  showCitation: {"method":"GET","path":"/v1/show","query":["citation","around","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  getSpend: {"method":"GET","path":"/v1/spend","query":["by","since"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  getStatus: {"method":"GET","path":"/v1/status","query":[],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  listThreads: {"method":"GET","path":"/v1/threads","query":["limit","after"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  createThread: {"method":"POST","path":"/v1/threads","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  deleteThread: {"method":"DELETE","path":"/v1/threads/{thread}","query":[],"hasBody":false,"isKeyed":true,"answer":"application/json"},
  compactThread: {"method":"POST","path":"/v1/threads/{thread}/compact","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  getThreadContext: {"method":"POST","path":"/v1/threads/{thread}/context","query":[],"hasBody":true,"isKeyed":false,"answer":"application/json"},
  endThread: {"method":"POST","path":"/v1/threads/{thread}/end","query":[],"hasBody":false,"isKeyed":true,"answer":"application/json"},
  dispatchEvent: {"method":"POST","path":"/v1/threads/{thread}/events","query":["wait"],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  pauseThread: {"method":"POST","path":"/v1/threads/{thread}/pause","query":[],"hasBody":false,"isKeyed":true,"answer":"application/json"},
  resumeThread: {"method":"POST","path":"/v1/threads/{thread}/resume","query":[],"hasBody":false,"isKeyed":true,"answer":"application/json"},
  getThreadState: {"method":"GET","path":"/v1/threads/{thread}/state","query":["state","history"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  reportTrigger: {"method":"POST","path":"/v1/trigger","query":[],"hasBody":true,"isKeyed":true,"answer":"application/json"},
  explainLine: {"method":"GET","path":"/v1/why","query":["line","scope","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
  showWords: {"method":"GET","path":"/v1/words","query":["citation","around","agent","user","room_id","team","project"],"hasBody":false,"isKeyed":false,"answer":"application/json"},
};
