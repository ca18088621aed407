/** Which conversation or other view is open, kept in the address so that a reload or a second tab shows the same one. */
const CHAT_PREFIX = "agent:default:webchat:dm:";
const CHAT_ID = /^[A-Za-z0-9-]{1,64}$/;
const MAX_KEY_CHARS = 512;

export const DEFAULT_AGENT = "default";

export function newSessionKey(agent = DEFAULT_AGENT): string {
  return `agent:${agent}:webchat:dm:${randomId()}`;
}

export function agentOf(session: string): string {
  return session.split(":")[1] || DEFAULT_AGENT;
}

/** Chance without `crypto.randomUUID`, which browsers keep to HTTPS and loopback pages. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The session an address names, or null when it names none. */
export function sessionOf(hash: string): string | null {
  const [, kind, rest] = /^#\/(chat|session)\/(.+)$/.exec(hash) ?? [];
  if (!kind || !rest) return null;
  if (kind === "chat") return CHAT_ID.test(rest) ? CHAT_PREFIX + rest : null;
  try {
    const key = decodeURIComponent(rest);
    return key.startsWith("agent:") && key.length <= MAX_KEY_CHARS ? key : null;
  } catch {
    return null; // not an address of the web console
  }
}

export function hashOf(session: string): string {
  const chat = session.startsWith(CHAT_PREFIX) ? session.slice(CHAT_PREFIX.length) : "";
  return CHAT_ID.test(chat) ? `#/chat/${chat}` : `#/session/${encodeURIComponent(session)}`;
}

/** Sessions without people: of jobs, heartbeats and hooks. */
const OWN_RUNS: readonly string[] = ["cron", "heartbeat", "hook", "webhook"];

/** What a session is called whose name is not known here: where it is, and not its key. */
export function placeOf(session: string): string {
  const [, agent = "", channel = "", name = ""] = session.split(":");
  if (channel === "main") return agent === DEFAULT_AGENT ? "the main session" : `the main session of ${agent}`;
  if (channel === "cron") return `the job ${name}`;
  if (OWN_RUNS.includes(channel)) return `a session of the ${channel}`;
  if (channel === "webchat") return "an earlier conversation";
  return channel === "api" ? "a conversation of a program" : `a conversation on ${channel}`;
}

/** Why nothing can be said in a session from here; null when it can. */
export function readOnlyBecause(session: string): string | null {
  const [, , channel = "", scope] = session.split(":");
  if ((channel === "webchat" || channel === "api") && scope === "dm") return null;
  if (OWN_RUNS.includes(channel)) return "Nobody talks in this session: it was begun by itself. It can be read here.";
  if (channel === "main") return "This is the main session. It can be read here, and is continued in its chats.";
  return `This conversation is on ${channel}. It can be read here, and is answered there.`;
}

export type View =
  | "chat"
  | "inbox"
  | "activity"
  | "turn"
  | "calls"
  | "tools"
  | "jobs"
  | "calendar"
  | "heartbeat"
  | "webhooks"
  | "channels"
  | "agents"
  | "usage"
  | "health"
  | "setup"
  | "settings"
  | "models"
  | "extensions"
  | "logs"
  | "gateways"
  | "browsers"
  | "keys"
  | "more";

/** One turn has an address of its own for each. */
type OtherView = Exclude<View, "chat" | "turn">;

export const ADDRESSES: Readonly<Record<OtherView, string>> = {
  inbox: "#/inbox",
  activity: "#/activity",
  calls: "#/activity/calls",
  tools: "#/activity/tools",
  jobs: "#/automations",
  calendar: "#/automations/calendar",
  heartbeat: "#/automations/heartbeat",
  webhooks: "#/automations/webhooks",
  channels: "#/channels",
  agents: "#/agents",
  usage: "#/usage",
  health: "#/system",
  setup: "#/system/setup",
  settings: "#/system/settings",
  models: "#/system/models",
  extensions: "#/system/extensions",
  logs: "#/system/logs",
  gateways: "#/system/gateways",
  browsers: "#/system/browsers",
  keys: "#/system/keys",
  more: "#/more",
};

/** Addresses of earlier versions, which people have kept. */
const OLD_ADDRESSES: Readonly<Record<string, View>> = {
  "#/jobs": "jobs",
  "#/keys": "keys",
  "#/tools": "tools",
  "#/tools/calls": "calls",
};

export const VIEW_TITLES: Readonly<Record<OtherView, string>> = {
  inbox: "Inbox",
  activity: "Activity",
  calls: "Tool calls",
  tools: "Tools",
  jobs: "Automations",
  calendar: "Calendar",
  heartbeat: "Heartbeat",
  webhooks: "Webhooks",
  channels: "Channels",
  agents: "Agents",
  usage: "Usage",
  health: "System",
  setup: "Setup",
  settings: "Settings",
  models: "Models",
  extensions: "Extensions",
  logs: "Logs",
  gateways: "Gateways",
  browsers: "Browsers",
  keys: "Keys",
  more: "More",
};

const VIEW_BY_ADDRESS: ReadonlyMap<string, View> = new Map([
  ...Object.entries(OLD_ADDRESSES),
  ...(Object.keys(ADDRESSES) as OtherView[]).map((view) => [ADDRESSES[view], view] as const),
]);

/** Every address that names no other view is one of a conversation. */
export function viewOf(hash: string): View {
  if (stepOf(hash) !== "") return "setup";
  if (approvalOf(hash) !== null) return "inbox";
  return VIEW_BY_ADDRESS.get(hash) ?? (turnIdOf(hash) === null ? "chat" : "turn");
}

/** The step of the setup that an address names; empty when it names none. */
export function stepOf(hash: string): string {
  return /^#\/system\/setup\/([a-z]{1,32})$/.exec(hash)?.[1] ?? "";
}

/** The approval that an address of the inbox names, as notifications do; null when it names none. */
export function approvalOf(hash: string): string | null {
  return /^#\/inbox\/([A-Za-z0-9_-]{1,64})$/.exec(hash)?.[1] ?? null;
}

const TURN_PREFIX = "#/activity/turn/";
const TURN_ID = /^[A-Za-z0-9_.-]{1,128}$/;

/** The turn an address names, or null when it names none. */
export function turnIdOf(hash: string): string | null {
  const id = hash.startsWith(TURN_PREFIX) ? hash.slice(TURN_PREFIX.length) : "";
  return TURN_ID.test(id) ? id : null;
}

export function turnAddress(turnId: string): string {
  return TURN_PREFIX + turnId;
}

/** Above the view. */
export function titleOfView(view: Exclude<View, "chat">): string {
  return view === "turn" ? "Turn" : VIEW_TITLES[view];
}

/** The one-time code of a sign-in link. */
export function codeOf(hash: string): string | null {
  return /^#code=([A-Za-z0-9_-]{1,256})$/.exec(hash)?.[1] ?? null;
}
