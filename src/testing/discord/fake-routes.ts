/** What the routes of a fake Discord do to its channels, with the checks and the error codes of the original. */
import { BOT } from "./fake-people.ts";
import type { FakeFile, FakeMessage, FakeState } from "./fake-state.ts";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly json: unknown;
  readonly files: readonly FakeFile[];
}

export interface Answer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Body = Readonly<Record<string, unknown>>;
interface Asked {
  readonly state: FakeState;
  readonly call: Call;
  readonly body: Body;
  /** What the path names, in order. */
  readonly parts: readonly string[];
}

const MAX_CHARS = 2_000;
const MAX_FILES = 10;
const MAX_NONCE_CHARS = 25;
const MAX_PAGE = 100;
const MAX_ROWS = 5;
const MAX_ROW_BUTTONS = 5;
const MAX_LABEL_CHARS = 80;
const AUTHOR = { id: BOT.id, username: BOT.name, bot: true };

const error = (status: number, code: number, message: string): Answer => ({ status, json: { message, code } });
const NO_CHANNEL = error(404, 10003, "Unknown Channel");
const NO_MESSAGE = error(404, 10008, "Unknown Message");
const DONE: Answer = { status: 204 };

const ROUTES: readonly (readonly [string, RegExp, (asked: Asked) => Answer])[] = [
  ["POST", /^\/channels\/(\d+)\/messages$/, create],
  ["GET", /^\/channels\/(\d+)\/messages$/, list],
  ["GET", /^\/channels\/(\d+)\/messages\/(\d+)$/, read],
  ["PATCH", /^\/channels\/(\d+)\/messages\/(\d+)$/, edit],
  ["DELETE", /^\/channels\/(\d+)\/messages\/(\d+)$/, remove],
  ["PUT", /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/(.+)\/@me$/, react],
  ["DELETE", /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/(.+)\/@me$/, unreact],
  ["PUT", /^\/channels\/(\d+)\/(?:messages\/)?pins\/(\d+)$/, pin(true)],
  ["DELETE", /^\/channels\/(\d+)\/(?:messages\/)?pins\/(\d+)$/, pin(false)],
  ["POST", /^\/channels\/(\d+)\/typing$/, inChannel(() => DONE)],
  ["POST", /^\/interactions\/(\d+)\/([^/]+)\/callback$/, callback],
  ["GET", /^\/users\/@me$/, () => ({ status: 200, json: AUTHOR })],
  ["GET", /^\/users\/@me\/guilds$/, ({ state }) => ({ status: 200, json: state.memberships })],
  ["GET", /^\/applications\/@me$/, ({ state }) => ({ status: 200, json: state.application })],
];
const COMMANDS = /^\/applications\/\d+\/commands$/;

export function routeCall(
  state: FakeState,
  call: Call,
  register: (commands: readonly { readonly name: string }[]) => void,
): Answer {
  if (call.method === "PUT" && COMMANDS.test(call.path)) {
    register(call.json as readonly { readonly name: string }[]);
    return { status: 200, json: call.json };
  }
  for (const [method, pattern, handle] of ROUTES) {
    const match = call.method === method ? pattern.exec(call.path) : null;
    if (match) return handle({ state, call, body: (call.json ?? {}) as Body, parts: match.slice(1) });
  }
  return error(404, 0, `404: Not Found ${call.method} ${call.path}`);
}

function inChannel(run: (asked: Asked, channel: string) => Answer): (asked: Asked) => Answer {
  return (asked) => {
    const channel = asked.parts[0] ?? "";
    return asked.state.channels.has(channel) ? run(asked, channel) : NO_CHANNEL;
  };
}

function onMessage(asked: Asked, run: (message: FakeMessage) => Answer): Answer {
  const [channel = "", id = ""] = asked.parts;
  if (!asked.state.channels.has(channel)) return NO_CHANNEL;
  const message = asked.state.find(channel, id);
  return message ? run(message) : NO_MESSAGE;
}

function badContent(body: Body, files: readonly FakeFile[]): Answer | null {
  const content = String(body["content"] ?? "");
  if ([...content].length > MAX_CHARS) return error(400, 50035, "Invalid Form Body");
  if (content.trim() === "" && files.length === 0) return error(400, 50006, "Cannot send an empty message");
  if (files.length > MAX_FILES) return error(400, 50035, "Invalid Form Body");
  return null;
}

interface Component {
  readonly components?: readonly { readonly label?: string; readonly custom_id?: string }[];
}

/** At most five rows of one to five buttons, each with a short label and a name of its own. */
function badComponents(given: unknown): Answer | null {
  const rows = (given ?? []) as readonly Component[];
  const buttons = rows.flatMap(({ components = [] }) => components);
  const names = new Set(buttons.map(({ custom_id: name = "" }) => name));
  const fits =
    rows.length <= MAX_ROWS &&
    rows.every(({ components = [] }) => components.length > 0 && components.length <= MAX_ROW_BUTTONS) &&
    buttons.every(
      ({ label = "", custom_id: name = "" }) => isBetween(label, MAX_LABEL_CHARS) && isBetween(name, 100),
    ) &&
    names.size === buttons.length;
  return fits ? null : error(400, 50035, "Invalid Form Body");
}

function isBetween(text: string, max: number): boolean {
  return text.length > 0 && text.length <= max;
}

function create(asked: Asked): Answer {
  return inChannel(({ state, call, body }, channel) => {
    const bad = badContent(body, call.files);
    if (bad) return bad;
    const wrong = badComponents(body["components"]);
    if (wrong) return wrong;
    const nonce = body["nonce"] === undefined ? null : String(body["nonce"]);
    if (nonce !== null && nonce.length > MAX_NONCE_CHARS) return error(400, 50035, "Invalid Form Body");
    const known = nonce !== null && body["enforce_nonce"] === true ? state.knownNonce(BOT.id, nonce) : null;
    if (known === "deleted") return NO_MESSAGE;
    if (known) return { status: 200, json: state.asPayload(known) };
    const reference = body["message_reference"] as Body | undefined;
    const content = String(body["content"] ?? "");
    const about = { channel, author: AUTHOR, content, nonce, files: call.files, components: body["components"] ?? [] };
    const replyTo = reference ? String(reference["message_id"]) : null;
    const made = state.add({ ...about, replyTo, pings: pingsOf(content, body["allowed_mentions"]) });
    return { status: 200, json: state.asPayload(made) };
  })(asked);
}

function pingsOf(content: string, allowed: unknown): readonly string[] {
  const parse = (allowed as { parse?: readonly string[] } | undefined)?.parse;
  if (parse && parse.length === 0) return [];
  return content.match(/@everyone|@here|<@&?\d+>/g) ?? [];
}

function list(asked: Asked): Answer {
  return inChannel(({ state, call }, channel) => {
    const limit = Math.min(Number(call.query.get("limit") ?? "50"), MAX_PAGE);
    const [after, before] = [call.query.get("after"), call.query.get("before")];
    const all = state.messages(channel).filter(({ id }) => {
      if (after !== null && BigInt(id) <= BigInt(after)) return false;
      return before === null || BigInt(id) < BigInt(before);
    });
    // the original gives the oldest of what comes after, the newest of what came before, and always newest first
    const page = after === null ? all.slice(-limit) : all.slice(0, limit);
    return { status: 200, json: page.toReversed().map((message) => state.asPayload(message)) };
  })(asked);
}

function read(asked: Asked): Answer {
  return onMessage(asked, (message) => ({ status: 200, json: asked.state.asPayload(message) }));
}

function edit(asked: Asked): Answer {
  const { state, body, call } = asked;
  return onMessage(asked, (message) => {
    if (message.author.id !== BOT.id) return error(403, 50005, "Cannot edit a message authored by another user");
    const bad = body["content"] === undefined ? null : badContent(body, call.files);
    if (bad) return bad;
    if (body["content"] !== undefined) state.edit(message.channel, message.id, String(body["content"]));
    if (body["components"] !== undefined) message.components = body["components"];
    return { status: 200, json: state.asPayload(message) };
  });
}

function remove(asked: Asked): Answer {
  return onMessage(asked, ({ channel, id }) => {
    asked.state.remove(channel, id);
    return DONE;
  });
}

function react(asked: Asked): Answer {
  return onMessage(asked, ({ reactions }) => {
    reactions.push(asked.parts[2] ?? "");
    return DONE;
  });
}

function unreact(asked: Asked): Answer {
  return onMessage(asked, ({ reactions }) => {
    const at = reactions.indexOf(asked.parts[2] ?? "");
    if (at >= 0) reactions.splice(at, 1);
    return DONE;
  });
}

function pin(pinned: boolean): (asked: Asked) => Answer {
  return (asked) =>
    onMessage(asked, (message) => {
      message.pinned = pinned;
      return DONE;
    });
}

/** 7 changes the message that the button is under; which one that is, a test finds by its token. */
function callback({ state, body, parts }: Asked): Answer {
  const data = (body["data"] ?? {}) as Body;
  const [channel, message] = (parts[1] ?? "").split("-");
  const under = channel && message ? state.find(channel, message) : null;
  if (body["type"] === 7 && under) {
    under.content = String(data["content"] ?? under.content);
    under.components = data["components"] ?? under.components;
  }
  return DONE;
}
