/** One class, one catalogue. The catalogue decides status, retry and what a person may read; docs/reference/errors.md is made from it. */
interface ErrorSpec {
  readonly status: number; // HTTP
  readonly retry: "never" | "later";
  readonly say: string; // safe to show to anyone
}

export const ERRORS = {
  // what a caller did
  bad_request: { status: 400, retry: "never", say: "The request is not in the form this route expects." },
  unauthorized: {
    status: 401,
    retry: "never",
    say: "Sign in first, or send the gateway's token or a valid key as a bearer token.",
  },
  forbidden: { status: 403, retry: "never", say: "This is not allowed from here." },
  wrong_host: {
    status: 421,
    retry: "never",
    say: "This gateway does not answer to that host name. Add it to gateway.allowedHosts if it should.",
  },
  not_found: { status: 404, retry: "never", say: "There is nothing here." },
  method_not_allowed: { status: 405, retry: "never", say: "This route does not take that method." },
  conflict: { status: 409, retry: "later", say: "That is being worked on already." },
  too_large: { status: 413, retry: "never", say: "That is larger than the gateway accepts." },
  too_slow: { status: 408, retry: "later", say: "The request took too long to arrive." },
  search_too_slow: {
    status: 422,
    retry: "never",
    say: "The search took too long, because too much fits. Search for longer or rarer words, or in one conversation.",
  },
  file_refused: { status: 422, retry: "never", say: "The file was not taken in." },
  wrong_type: { status: 415, retry: "never", say: "Send JSON with the content type application/json." },
  empty_message: { status: 422, retry: "never", say: "The message is empty. Write something, or attach an image." },
  invalid_params: { status: 422, retry: "never", say: "One of the values is not valid." },
  key_reused: { status: 422, retry: "never", say: "This Idempotency-Key was used before for a different request." },
  hook_signature: {
    status: 401,
    retry: "never",
    say: "The signature of this request is missing or not right. Sign the timestamp, a dot and the exact bytes of the body.",
  },
  hook_stale: {
    status: 401,
    retry: "never",
    say: "This request was signed more than five minutes ago, or ahead of time. Check the clock and sign it again.",
  },
  hook_replayed: {
    status: 409,
    retry: "never",
    say: "This very request was received before, and what it asks for is stored. Nothing was done twice.",
  },
  hook_limited: { status: 429, retry: "later", say: "This hook was called too often. Try again in a moment." },
  locked_out: { status: 429, retry: "later", say: "Too many failed attempts. Wait a little before trying again." },
  queue_full: { status: 429, retry: "later", say: "Too many messages are waiting. Try again in a moment." },
  bad_schedule: { status: 422, retry: "never", say: "That is not a schedule the gateway can read." },
  bad_job: { status: 422, retry: "never", say: "Something about this job is not valid." },
  job_exists: { status: 409, retry: "never", say: "There is a job of this name already." },
  job_unknown: { status: 404, retry: "never", say: "There is no such job." },
  too_many_rules: {
    status: 409,
    retry: "never",
    say: "This agent has as many approval rules as it may have. Remove one first, or allow the call once.",
  },
  no_such_rule: {
    status: 422,
    retry: "never",
    say: "This approval cannot be made a rule of that kind. Choose one of its `rules`, or allow the call once.",
  },
  too_many_jobs: { status: 409, retry: "never", say: "There are too many jobs already. Remove one first." },
  too_many_browsers: {
    status: 409,
    retry: "never",
    say: "As many browsers get notifications as can be. Remove one first: in the web console under System, Browsers, or with pi-gw notifications remove.",
  },
  reply_not_lost: {
    status: 409,
    retry: "never",
    say: "This reply waits for its delivery, or has arrived. Only one that was given up, or that may not have arrived, can be sent again.",
  },
  reply_in_doubt: {
    status: 409,
    retry: "never",
    say: "This reply may have arrived, so its chat may show it twice. To send it again all the same, add ?mayRepeat=true, or --yes to pi-gw outbox retry.",
  },
  reply_undeliverable: { status: 409, retry: "never", say: "This reply cannot be sent again: its chat cannot get it." },
  message_expired: {
    status: 504,
    retry: "later",
    say: "The message waited too long and was not answered. Send it again if it still matters.",
  },
  agent_busy_too_long: {
    status: 504,
    retry: "never",
    say: "The programs of this turn used more processor time than agent.limits.cpuSecondsPerTurn allows, and were stopped.",
  },
  agent_files_too_large: {
    status: 507,
    retry: "never",
    say: "The files of this assistant take up more than agent.limits.workspaceMb or workspaceFiles allows, so its programs were stopped. Delete some, or ask the owner to raise the limit.",
  },
  disk_nearly_full: {
    status: 507,
    retry: "never",
    say: "The gateway's disk is nearly full (agent.limits.freeDiskMb), so the programs that were writing were stopped. Make room, then try again.",
  },
  budget_spent: {
    status: 429,
    retry: "never",
    say: "A budget of this gateway is used up. `/usage` shows which, and a new day or month, or the owner, frees it.",
  },
  too_many_connections: { status: 503, retry: "later", say: "The gateway has as many connections as it can serve." },
  too_many_bytes: {
    status: 503,
    retry: "later",
    say: "More is being sent to the gateway than it can hold at once. Try again in a moment.",
  },
  // what became of a tool call
  unknown_tool: { status: 404, retry: "never", say: "There is no such tool." },
  not_allowed: { status: 403, retry: "never", say: "This tool may not be used here." },
  approval_denied: { status: 403, retry: "never", say: "The owner did not approve this call." },
  approval_pending: { status: 202, retry: "later", say: "The call waits for the owner's approval." },
  background: { status: 202, retry: "later", say: "The tool goes on in the background." },
  rate_limited: { status: 429, retry: "later", say: "This tool was called too often. Try again in a moment." },
  call_conflict: { status: 409, retry: "never", say: "This callId was used before for a different call." },
  outcome_unknown: {
    status: 409,
    retry: "never",
    say: "The gateway stopped while this call ran, so nobody knows whether it took effect. It was not repeated; please check.",
  },
  tool_failed: { status: 200, retry: "never", say: "The tool was run and failed." },
  tool_timeout: { status: 504, retry: "later", say: "The tool did not finish in time." },
  cancelled: { status: 200, retry: "never", say: "The call was cancelled." },
  // what went wrong on our side
  internal: {
    status: 500,
    retry: "later",
    say: "Something went wrong inside the gateway. The request id is in its log.",
  },
  stopping: { status: 503, retry: "later", say: "The gateway is stopping. Try again when it is back." },
  store_failed: {
    status: 503,
    retry: "later",
    say: "The gateway could not save this (its disk may be full), so it was not accepted.",
  },
  superseded: {
    status: 503,
    retry: "later",
    say: "Another gateway has taken over from this one, which was not heard of for too long. Nothing was saved here; the other gateway goes on.",
  },
  // what is wrong with a backup
  node_silent: {
    status: 503,
    retry: "later",
    say: "Another gateway, which has this conversation, does not answer. If it has died, this one takes over within seconds: try again in a moment.",
  },
  backup_damaged: { status: 422, retry: "never", say: "The backup is damaged, not complete, or not a backup." },
  passphrase_wrong: {
    status: 422,
    retry: "never",
    say: "The passphrase does not open this backup. Nothing was changed.",
  },
  home_not_empty: {
    status: 409,
    retry: "never",
    say: "There is a state directory already. Name another folder with --home, or say --replace: the old one is kept beside the new one.",
  },
  // what is wrong with an update
  update_failed: {
    status: 500,
    retry: "later",
    say: "The new version did not get as far as serving. The old one goes on, with everything that was accepted.",
  },
  update_restart: {
    status: 503,
    retry: "later",
    say: "Another version of the gateway is to run here since an update. Start it again.",
  },
  // what is wrong with a move of the database
  store_not_empty: {
    status: 409,
    retry: "never",
    say: "The database to move to is not empty. Name an empty one. Nothing was changed.",
  },
  store_differs: {
    status: 500,
    retry: "later",
    say: "The copy of the database differs from the source. The source and the configuration were left as they are.",
  },
  // what an agent did
  agent_missing: {
    status: 502,
    retry: "never",
    say: "The pi agent was not found. Run `pi-gw doctor` to see where the gateway looked.",
  },
  sandbox_unusable: {
    status: 502,
    retry: "never",
    say: "Agents cannot be confined as the settings ask. Run `pi-gw doctor` to see why.",
  },
  program_unusable: {
    status: 502,
    retry: "never",
    say: "A program that the settings name cannot be started. The log has the reason.",
  },
  mcp_unavailable: {
    status: 503,
    retry: "later",
    say: "The MCP server is not available at the moment. `pi-gw mcp list` says why.",
  },
  access_revoked: {
    status: 403,
    retry: "never",
    say: "Your access to this assistant was revoked while it worked on this, so there is no answer.",
  },
  agent_unknown: {
    status: 422,
    retry: "never",
    say: "This conversation belongs to an agent that is not configured. Add it to agents, or begin another conversation.",
  },
  agent_unavailable: {
    status: 502,
    retry: "later",
    say: "The assistant did not start. Run `pi-gw doctor` to see why.",
  },
  agent_exited: {
    status: 502,
    retry: "later",
    say: "The assistant stopped unexpectedly and trying again did not help.",
  },
  gateway_crashed: {
    status: 502,
    retry: "later",
    say: "The gateway went down three times while it was answering this message, the last time with nothing else running. It is not tried again. Send it again in other words, or in smaller pieces.",
  },
  agent_garbled: {
    status: 502,
    retry: "later",
    say: "The assistant's process said something the gateway does not understand.",
  },
  agent_timeout: { status: 504, retry: "later", say: "The assistant took too long, so the gateway stopped it." },
  agent_empty: { status: 502, retry: "later", say: "The assistant ended without an answer." },
  agent_unsafe_retry: {
    status: 502,
    retry: "never",
    say: "The assistant was interrupted after it had used a tool that must not run twice. Nothing was repeated; please check what was done.",
  },
  agent_disk_full: {
    status: 502,
    retry: "later",
    say: "The assistant could not write down the conversation because the disk is full. Make room, then try again.",
  },
  pool_exhausted: { status: 503, retry: "later", say: "All assistants are busy. Try again in a moment." },
  // what tools and plugins did
  tool_collision: {
    status: 409,
    retry: "never",
    say: "Two tools cannot have the same name. The second one was refused.",
  },
  plugin_invalid: { status: 422, retry: "never", say: "The plugin cannot be used as it is." },
  plugin_failed: {
    status: 502,
    retry: "later",
    say: "A plugin of this gateway failed. The gateway's log has the reason.",
  },
  // what a model provider did
  provider_auth: {
    status: 502,
    retry: "never",
    say: "The model provider refused the API key. Check the key of this model's provider in the gateway's settings.",
  },
  provider_unpaid: {
    status: 502,
    retry: "never",
    say: "The model provider wants to be paid first. Look at the credits and the billing of this account there.",
  },
  provider_limited: {
    status: 502,
    retry: "later",
    say: "The model provider is limiting requests right now. Try again in a moment.",
  },
  provider_down: {
    status: 502,
    retry: "later",
    say: "The model provider has a problem right now. Try again in a moment.",
  },
  provider_refused: { status: 502, retry: "never", say: "The model provider did not accept the request." },
  provider_context: {
    status: 502,
    retry: "never",
    say: "The conversation is longer than this model takes. `/compact` shortens it, `/new` begins another.",
  },
  provider_cut: { status: 502, retry: "later", say: "The connection to the model provider broke off. Try again." },
  provider_silent: { status: 504, retry: "later", say: "The model provider did not answer in time." },
  model_missing: {
    status: 502,
    retry: "never",
    say: "The configured model is not available. Check agent.model and the provider's key.",
  },
  // what stops a start
  config_invalid: { status: 500, retry: "never", say: "The configuration is not valid." },
  port_taken: { status: 500, retry: "later", say: "The port is in use." },
  home_taken: { status: 500, retry: "later", say: "Another gateway is running on this state directory." },
  home_unusable: { status: 500, retry: "never", say: "The state directory cannot be used." },
  store_taken: { status: 500, retry: "later", say: "Another gateway is running on this database." },
  store_half_moved: {
    status: 500,
    retry: "never",
    say: "A move to this database has begun and is not complete. Run `pi-gw store migrate` again.",
  },
  store_newer: { status: 500, retry: "never", say: "The database was written by a newer version of pi-gateway." },
  store_corrupt: { status: 500, retry: "never", say: "The database is damaged. It was left as it is." },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;

/** The sentence of a stored code, for people. Another version may have stored a code that the catalogue does not have. Empty for none. */
export function sentenceOf(code: string): string {
  if (code === "") return "";
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].say : `It failed. Another version noted why: ${code}.`;
}

export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly fields: Readonly<Record<string, unknown>>;
  /** More exact words that are safe to show, when the catalogue's are too general. */
  readonly say: string;

  /** `detail` is for the log and may name internals; people see `say`. */
  constructor(
    code: ErrorCode,
    detail: string,
    options: { cause?: unknown; fields?: Record<string, unknown>; say?: string } = {},
  ) {
    super(`${code}: ${detail}`, { cause: options.cause });
    this.code = code;
    this.fields = options.fields ?? {};
    this.say = options.say ?? ERRORS[code].say;
  }
}

export function isGatewayError(error: unknown): error is GatewayError {
  return error instanceof GatewayError;
}

const MAX_JSON_CHARS = 500;

/** What was thrown, as text; empty when it says nothing. Code of others throws anything: strings, records with a message, nothing at all. */
export function errorText(thrown: unknown): string {
  try {
    return textOf(thrown).toWellFormed();
  } catch {
    return ""; // a getter or toString of what was thrown failed as well
  }
}

function textOf(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return "";
  if (typeof thrown !== "object") return typeof thrown === "symbol" ? (thrown.description ?? "") : String(thrown);
  const { message, error, name } = thrown as Readonly<Record<string, unknown>>;
  if (typeof message === "string" && message !== "") return message;
  if (typeof error === "string" && error !== "") return error;
  if (typeof message === "object" && message !== null && message !== thrown) return textOf(message);
  if (thrown instanceof Error) return typeof name === "string" ? name : "";
  const json = JSON.stringify(thrown) ?? "";
  return json === "{}" ? "" : json.slice(0, MAX_JSON_CHARS);
}
