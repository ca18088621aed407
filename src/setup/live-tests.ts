/** Tries a model and a channel for real before they are written down: lists the models with the key, asks the platform who the bot is. Spends nothing. */
import { resolve } from "node:path";
import { modelListAt, modelListOf, tryModelKey } from "../agents/index.ts";
import { type Config, readConfigText } from "../config/index.ts";
import type { ChannelWish, ModelWish, SetupTest } from "../contracts/setup.ts";
import type { Clock } from "../kit/clock.ts";
import { parseJson } from "../kit/json.ts";
import { systemResolver } from "../kit/outside/public-address.ts";

interface LoginPlace {
  /** What `~` means. */
  readonly userHome: string;
  /** Where a path without a beginning begins. */
  readonly folder: string;
}

interface TestDeps {
  readonly clock: Clock;
  readonly logins: LoginPlace;
}

const TEST_MS = 15_000;
const LOGIN_LIMITS = { maxChars: 1024 * 1024, maxDepth: 16 };
const DEMO: SetupTest = { ok: true, say: "The demo model is always there.", models: [] };
const NOT_TRIED: SetupTest = {
  ok: true,
  say: "Not tried: it is not known where this provider lists its models.",
  models: [],
};

export async function testModel(deps: TestDeps, wish: ModelWish, signal: AbortSignal): Promise<SetupTest> {
  if (wish.kind === "demo") return DEMO;
  if (wish.kind === "login") return testLogin(deps.logins, wish.folder);
  if (wish.kind === "endpoint" && !isWebAddress(wish.baseUrl))
    return failed(
      "This is no address of a server. It begins with http:// or https://, such as http://127.0.0.1:11434/v1",
    );
  const list = wish.kind === "endpoint" ? modelListAt(wish.baseUrl) : modelListOf(wish.provider);
  if (list === null) return NOT_TRIED;
  using limit = deps.clock.deadline(TEST_MS, () => new Error("no answer within 15 seconds"));
  const either = AbortSignal.any([signal, limit.signal]);
  const { ok, say, models } = await tryModelKey({ clock: deps.clock, resolve: systemResolver }, list, wish.key, either);
  const missing = ok && wish.model !== null && models.length > 0 && !models.includes(wish.model);
  return { ok, say: `${say}${missing ? `, but not ${wish.model}` : ""}.`, models };
}

/** With the settings that the channel has already, such as the address of its API. */
export async function testChannel(
  { clock }: Pick<TestDeps, "clock">,
  { channel, token }: ChannelWish,
  { telegram, discord }: Pick<Config["channels"], "telegram" | "discord">,
  signal: AbortSignal,
): Promise<SetupTest> {
  using limit = clock.deadline(TEST_MS, () => new Error("no answer within 15 seconds"));
  const either = AbortSignal.any([signal, limit.signal]);
  if (channel === "telegram") {
    const { checkTelegram } = await import("../channels/telegram/index.ts");
    const bot = { ...telegram, enabled: true, botToken: token, accounts: {} };
    const [found] = await checkTelegram({ clock }, bot, either);
    return {
      ok: found !== undefined && found.state !== "problem",
      say: found?.say ?? "There is no bot token.",
      models: [],
    };
  }
  const { checkDiscord } = await import("../channels/discord/index.ts");
  const { apiRoot } = discord;
  const found = await checkDiscord({ token, ...(apiRoot === undefined ? {} : { apiRoot }) }, either);
  const say = found.say.endsWith(".") ? found.say : `${found.say}.`;
  return { ok: found.isKnown && found.state !== "broken", say: say.replace(/^signed/, "Signed"), models: [] };
}

/** pi keeps what it is logged in to in one file, by provider. */
async function testLogin({ userHome, folder: from }: LoginPlace, folder: string): Promise<SetupTest> {
  const file = resolve(from, folder.replace(/^~(?=\/|$)/, userHome), "auth.json");
  const found = await readConfigText(file, "follow");
  if (found.kind === "missing") return failed(`There is no login at ${file}. Log in with: pi, then /login.`);
  if (found.kind === "unreadable") return failed(`${file} cannot be read. ${found.because}`);
  const names = providersIn(found.text);
  if (names.length === 0) return failed(`${file} holds no login. Log in with: pi, then /login.`);
  return { ok: true, say: `There is a login for ${names.join(", ")} in ${folder}.`, models: [] };
}

function providersIn(text: string): readonly string[] {
  const parsed = parseJson(text, LOGIN_LIMITS);
  const logins = parsed.ok ? parsed.value : null;
  return typeof logins === "object" && logins !== null ? Object.keys(logins) : [];
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function failed(say: string): SetupTest {
  return { ok: false, say, models: [] };
}
