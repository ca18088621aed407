/** Webhooks for an operator: which there are, a test of one in each direction, and new keys for its senders. Keys are shown when they are made, and never again. */
import type {
  IncomingWebhooks,
  WebhookAdmin,
  WebhookCard,
  WebhookKey,
  WebhookKeyAnswer,
  WebhookTest,
} from "../../contracts/automation/webhook.ts";
import type { ConfigEditor } from "../../contracts/config-api.ts";
import { DEFAULT_AGENT } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Resolver } from "../../kit/outside/public-address.ts";
import { signBody } from "../../kit/signed-body.ts";
import { parseWebhook } from "./parse-webhook.ts";
import { AGENT, rulesFor, type SigningKey, WAKE, type WebhookRules, type WebhookSettings } from "./rules.ts";
import { failureOf, postToTarget } from "./target-channel.ts";
import { KEY_HEADER, KEY_ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER } from "./verify.ts";

interface WebhookAdminDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly resolve: Resolver;
  readonly incoming: IncomingWebhooks;
  readonly editor: Pick<ConfigEditor, "file" | "save">;
  settings(): WebhookSettings;
}

const SECRET_BYTES = 32;
const DATE_CHARS = "2026-11-16".length;
/** In the log of the gateway, where the address of a sender stands. */
const TESTER = "test by the operator";
const USER_INFO = /(:\/\/)[^/?#\s]*@/;

export function createWebhookAdmin(deps: WebhookAdminDeps): WebhookAdmin {
  return {
    list() {
      const settings = deps.settings();
      const names = [WAKE, AGENT, ...Object.keys(settings.mappings)];
      const shown = { ...settings, enabled: true }; // what is off is looked at as well
      const targets = Object.entries(settings.targets).map(([name, { url, secret, privateNetwork }]) => ({
        name,
        url: url.replace(USER_INFO, "$1(hidden)@"),
        signed: secret !== undefined,
        privateNetwork,
      }));
      const rules = names.map((name) => rulesFor(name, shown)).filter((one) => one !== null);
      return { enabled: settings.enabled, incoming: rules.map(cardOf), targets };
    },
    async test(name, body, signal) {
      const rules = rulesFor(name, { ...deps.settings(), enabled: true });
      return rules && testIncoming(deps, { rules, body }, signal);
    },
    async testTarget(name, signal) {
      const { targets } = deps.settings();
      const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
      if (!target) return null;
      const payload = { id: deps.ids.next("test"), source: "test", text: "This is a test.", at: deps.clock.now() };
      const failure = failureOf(await postToTarget(deps, target, payload, signal));
      return failure ? { ok: false, say: sentence(failure.message) } : { ok: true, say: "The target took the test." };
    },
    addKey: (name) => addKey(deps, name),
    removeKey: (name, id) => removeKey(deps, name, id),
  };
}

function cardOf({ name, signed, keys, role, perMinute, mapping }: WebhookRules): WebhookCard {
  return {
    name,
    signed,
    keys: keys.map(shownKey),
    keysAreShared: ringOf({ name, keys }).length === 1,
    role,
    perMinute,
    mapping: mapping && {
      message: mapping.message,
      task: mapping.task ?? null,
      agent: mapping.agent ?? DEFAULT_AGENT,
      session: mapping.session,
      delivery: mapping.delivery,
      webhook: mapping.webhook ?? null,
    },
  };
}

function shownKey({ path }: SigningKey): WebhookKey {
  return { id: path.split(".").at(-1) ?? "", path };
}

/** Where the keys of a webhook stand in the settings: its own, where it has some, or those of all. */
function ringOf({ name, keys }: Pick<WebhookRules, "name" | "keys">): readonly string[] {
  const own = `hooks.mappings.${name}.`;
  return keys.some(({ path }) => path.startsWith(own)) ? ["hooks", "mappings", name] : ["hooks"];
}

async function testIncoming(
  { clock, ids, incoming }: WebhookAdminDeps,
  { rules, body }: { readonly rules: WebhookRules; readonly body: string },
  signal: AbortSignal,
): Promise<WebhookTest> {
  const bytes = new TextEncoder().encode(body);
  const headers = new Headers({ [KEY_HEADER]: ids.next("test") });
  const key = rules.keys.at(-1); // the newest: what senders change over to
  if (rules.signed && key) {
    const { timestamp, signature } = signBody(key.secret.reveal(), bytes, clock.now());
    headers.set(TIMESTAMP_HEADER, timestamp);
    headers.set(SIGNATURE_HEADER, signature);
    if (key.id !== null) headers.set(KEY_ID_HEADER, key.id);
  }
  const answer = await incoming.receive({ name: rules.name, headers, body: bytes, client: TESTER }, signal);
  if (answer.kind === "refused") return { kind: "refused", say: answer.say ?? REFUSALS[answer.code] ?? answer.code };
  const parsed = parseWebhook(bytes, rules);
  return { kind: "taken", id: answer.id, text: parsed.ok ? parsed.asked.text : "" };
}

const REFUSALS: Readonly<Record<string, string>> = {
  not_found: "Webhooks are switched off: hooks.enabled is false.",
  hook_limited: "This webhook has taken as many requests in this minute as it may. Try again in a moment.",
  hook_replayed: "The same request was tried within this second. Try again.",
  queue_full: "Too many messages are waiting. Try again in a moment.",
  stopping: "The gateway is stopping.",
};

async function addKey(deps: WebhookAdminDeps, name: string): Promise<WebhookKeyAnswer> {
  const rules = rulesFor(name, { ...deps.settings(), enabled: true });
  if (!rules) return { kind: "unknown" };
  const ring = ringOf(rules);
  const id = freeId(
    new Date(deps.clock.now()).toISOString().slice(0, DATE_CHARS),
    rules.keys.map(({ id: taken }) => taken),
  );
  const secret = deps.ids.secret(SECRET_BYTES);
  const path = [...ring, "keys", id];
  const problem = await write(deps, { path, value: secret });
  if (problem !== null) return { kind: "refused", say: problem };
  return { kind: "added", key: { id, path: path.join(".") }, secret };
}

function freeId(date: string, taken: readonly (string | null)[]): string {
  for (let count = 1; ; count++) {
    const id = count === 1 ? date : `${date}-${count}`;
    if (!taken.includes(id)) return id;
  }
}

async function removeKey(deps: WebhookAdminDeps, name: string, id: string): Promise<WebhookKeyAnswer> {
  const rules = rulesFor(name, { ...deps.settings(), enabled: true });
  const key = rules?.keys.map(shownKey).find((one) => one.id === id);
  if (!rules || !key) return { kind: "unknown" };
  if (rules.keys.length === 1)
    return { kind: "refused", say: "This is the only key. Make a new one first, and give it to the senders." };
  const ring = ringOf(rules);
  const path = key.path === [...ring, "keys", id].join(".") ? [...ring, "keys", id] : [...ring, id];
  const problem = await write(deps, { path });
  return problem === null ? { kind: "removed" } : { kind: "refused", say: problem };
}

interface Edit {
  readonly path: readonly string[];
  readonly value?: unknown;
}

/** Null when it is in the file and in force; otherwise why not. */
async function write({ editor }: WebhookAdminDeps, edit: Edit): Promise<string | null> {
  const { version } = await editor.file();
  const { problems, notInForce } = await editor.save({ version, edits: [edit] });
  const because = [...problems.map(({ message }) => message), ...notInForce];
  return because.length === 0 ? null : because.join(" ");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
