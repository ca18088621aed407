/** Signing in to a server: what is answered to each line until we are in, or why we never will be. Sends nothing itself. */
import type { Login } from "../config.ts";
import { formatLine, type Line } from "./line.ts";

export type Step =
  | { readonly kind: "say"; readonly lines: readonly string[] }
  | { readonly kind: "in" }
  /** Trying again at once will not help. */
  | { readonly kind: "refused"; readonly because: string };

export interface Signing {
  /** The first lines. */
  begin(): readonly string[];
  take(line: Line): Step;
  readonly nick: string;
  /** What the server agreed to. */
  readonly caps: ReadonlySet<string>;
}

const WISHES = ["message-tags", "account-tag", "echo-message"];
const MAX_NICKS = 6;
const CHUNK_CHARS = 400;
const NICK_TAKEN = ["433", "436", "437"];
const SASL_REFUSED = ["902", "904", "905", "906", "908"];
const REFUSED = ["432", "464", "465", "466"];
const MOTD_ENDS = ["376", "422"];
const NOTHING: Step = { kind: "say", lines: [] };

interface State {
  readonly login: Login | null;
  nick: string;
  nicks: number;
  signedIn: boolean;
  readonly offered: Set<string>;
  readonly caps: Set<string>;
}

export function createSigning(wanted: string, login: Login | null): Signing {
  const state: State = { login, nick: wanted, nicks: 1, signedIn: false, offered: new Set(), caps: new Set() };
  return {
    begin: () => [
      ...(login?.by === "server" ? [formatLine("PASS", login.password.reveal())] : []),
      "CAP LS 302",
      formatLine("NICK", wanted),
      formatLine("USER", wanted.replace(/[^A-Za-z0-9]/g, "") || "pi", "0", "*", "pi-gateway"),
    ],
    take: (line) => step(state, line),
    get nick() {
      return state.nick;
    },
    caps: state.caps,
  };
}

function step(state: State, line: Line): Step {
  const { command, params } = line;
  if (command === "CAP") return capabilities(state, params);
  if (command === "AUTHENTICATE") return params[0] === "+" ? say(...credentials(state)) : NOTHING;
  if (command === "903") {
    state.signedIn = true;
    return say("CAP END");
  }
  if (SASL_REFUSED.includes(command)) return refused("The server does not take this account and password.");
  if (NICK_TAKEN.includes(command)) return nextNick(state);
  if (REFUSED.includes(command)) return refused(`The server refuses us: ${params.at(-1) ?? command}`);
  if (command === "001") {
    state.nick = params[0] ?? state.nick;
    if (state.login?.by === "sasl" && !state.signedIn)
      return refused('The server has no SASL. Set auth to "nickserv" or "server".');
  }
  return MOTD_ENDS.includes(command) ? { kind: "in" } : NOTHING;
}

function capabilities(state: State, params: readonly string[]): Step {
  const [, verb = "", more] = params;
  const names = (params.at(-1) ?? "").split(" ").map((one) => one.split("=", 1)[0] ?? "");
  if (verb === "LS") {
    for (const name of names) state.offered.add(name);
    if (more === "*") return NOTHING; // another line of them follows
    const wishes = [...WISHES, ...(state.login?.by === "sasl" ? ["sasl"] : [])].filter((one) => state.offered.has(one));
    return wishes.length === 0 ? say("CAP END") : say(formatLine("CAP", "REQ", wishes.join(" ")));
  }
  if (verb === "NAK") return say("CAP END");
  if (verb !== "ACK") return NOTHING;
  for (const name of names) state.caps.add(name);
  return state.caps.has("sasl") && !state.signedIn ? say("AUTHENTICATE PLAIN") : say("CAP END");
}

/** In pieces of 400; an empty one ends a text that fills its last piece. */
function credentials({ login }: State): readonly string[] {
  if (!login) return [];
  const text = Buffer.from(`\0${login.account}\0${login.password.reveal()}`).toString("base64");
  const pieces = text.match(new RegExp(`.{1,${CHUNK_CHARS}}`, "g")) ?? [];
  const whole = text.length % CHUNK_CHARS === 0 ? [...pieces, "+"] : pieces;
  return whole.map((piece) => formatLine("AUTHENTICATE", piece));
}

/** Somebody has it: the same with one more underscore. */
function nextNick(state: State): Step {
  if (++state.nicks > MAX_NICKS) return refused("Every nick that was tried is taken.");
  state.nick = `${state.nick}_`;
  return say(formatLine("NICK", state.nick));
}

const say = (...lines: readonly string[]): Step => ({ kind: "say", lines });
const refused = (because: string): Step => ({ kind: "refused", because });
