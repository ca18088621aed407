/** `web_fetch`: opens one page on the open internet and hands on what it says, as text that comes from outside. Runs nothing of it. */
import { Type } from "typebox";
import type { Config } from "../../../config/index.ts";
import type { Tool } from "../../../contracts/tools/tool.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Ids } from "../../../kit/ids.ts";
import { wrapUntrusted } from "../../../kit/marks/untrusted.ts";
import { type Fetched, guardedFetch } from "../../../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../../../kit/outside/public-address.ts";
import { closed, defineTool, MINUTE_MS } from "../define.ts";
import { whyNotHost } from "./hosts.ts";
import { createPageCache } from "./page-cache.ts";
import { pageText, type PageText } from "./page-text.ts";
import type { PageFormat } from "./page-writer.ts";

export interface WebFetchDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly resolve: Resolver;
  settings(): WebFetchSettings;
}

export type WebFetchSettings = Omit<Config["tools"]["webFetch"], "enabled">;

const MAX_URL_CHARS = 2_048;
const BYTES_PER_KB = 1_024;
const TIMES = { totalMs: 20_000, idleMs: 10_000 } as const;
/** Of fetching and reading together. */
const TIMEOUT_MS = 30_000;
/** What is kept of one page, however much it says. */
const MAX_PAGE_CHARS = 400_000;
const LIMITS_TEXT = `${TIMES.idleMs / 1_000} s without a byte, ${TIMES.totalMs / 1_000} s in all`;
const ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5";

const PARAMETERS = Type.Object(
  {
    url: Type.String({ minLength: 1, maxLength: MAX_URL_CHARS, description: "The address: https://…" }),
    format: Type.Optional(
      Type.Union([Type.Literal("markdown"), Type.Literal("text")], { description: "Default: markdown" }),
    ),
    from: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_PAGE_CHARS, description: "Reads on from this character" }),
    ),
  },
  closed,
);

export function webFetch(deps: WebFetchDeps): Tool {
  const cache = createPageCache(deps.clock);
  return defineTool({
    name: "web_fetch",
    label: "Open a page",
    description:
      "Opens a web page, such as a result of web_search, and returns its text. No scripts are run, nobody is logged in.",
    parameters: PARAMETERS,
    flags: { idempotent: true },
    limit: { calls: 10, perMs: MINUTE_MS, durable: true },
    timeoutMs: TIMEOUT_MS,
    async run({ url: asked, format = "markdown", from = 0 }, { signal }) {
      const settings = deps.settings();
      const url = addressOf(asked, settings);
      const key = `${format} ${url}`;
      const kept = cache.get(key);
      const page = kept ?? (await open(deps, settings, { url, format }, signal));
      if (kept === null) cache.put(key, page, settings.cacheMs); // a page that is often read is fetched again all the same
      return shown(deps.ids, page, from, settings.maxChars);
    },
  });
}

function addressOf(asked: string, settings: WebFetchSettings): string {
  const url = URL.parse(asked);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new Error("That is not an address of a web page. Give one that begins with https:// or http://.");
  const because = whyNotHost(url.hostname, settings);
  if (because !== null) throw new Error(`The page may not be opened: ${because}.`);
  url.hash = "";
  return url.href;
}

interface Asked {
  readonly url: string;
  readonly format: PageFormat;
}

async function open(
  deps: WebFetchDeps,
  settings: WebFetchSettings,
  { url, format }: Asked,
  signal: AbortSignal,
): Promise<PageText> {
  const origin = URL.parse(url)?.origin;
  const trusted = settings.privateOrigins.find((one) => URL.parse(one)?.origin === origin);
  const limits = {
    ...TIMES,
    maxBytes: settings.maxKb * BYTES_PER_KB,
    ...(trusted === undefined ? {} : { trustedOrigin: trusted }),
  };
  const request = { url, method: "GET" as const, headers: { accept: ACCEPT, "accept-language": "en, *;q=0.5" } };
  const answer = answered(await guardedFetch(deps, request, limits, signal), settings);
  const { body = new Uint8Array(), contentType = "" } = answer;
  return pageText({ body, contentType, url: answer.url ?? url }, { format, maxChars: MAX_PAGE_CHARS }, signal);
}

type Answer = Extract<Fetched, { kind: "answered" }>;

function answered(fetched: Fetched, settings: WebFetchSettings): Answer {
  if (fetched.kind === "refused") {
    const elsewhere =
      fetched.redirect === undefined ? "" : ` It leads to ${fetched.redirect}; open that if it is what you want.`;
    throw new Error(`The page was not opened: ${fetched.because}.${elsewhere}`);
  }
  if (fetched.kind === "failed") throw new Error(failure(fetched.because, settings));
  const { status } = fetched;
  if (status === 401 || status === 403) throw new Error(`The page is not open to everybody (${status}).`);
  if (status === 404 || status === 410) throw new Error(`There is no such page (${status}).`);
  if (status === 429) throw new Error("The site limits requests right now. Try again later, or open another page.");
  if (status < 200 || status > 299) throw new Error(`The site has a problem with that page (${status}).`);
  return fetched;
}

function failure(because: Extract<Fetched, { kind: "failed" }>["because"], { maxKb }: WebFetchSettings): string {
  if (because === "slow") return `The site did not answer in time (${LIMITS_TEXT}). Try another page.`;
  if (because === "large") return `The page is larger than ${maxKb} KB, which is the limit. Try another page.`;
  return "The site could not be reached. Check the address, or try another page.";
}

function shown(ids: Ids, page: PageText, from: number, maxChars: number) {
  const { url, title, text, isCut } = page;
  const part = text.slice(from, from + maxChars).toWellFormed();
  const next = from + maxChars < text.length ? from + maxChars : null;
  if (part.trim() === "") throw new Error(nothing(text, from));
  const head = [`Address: ${url}`, ...(title === "" ? [] : [`Title: ${title}`])].join("\n");
  const marked = wrapUntrusted(ids, { source: "web_fetch", text: `${head}\n\n${part}` });
  const more =
    next === null ? "" : `\n${text.length - next} more characters: call web_fetch again with "from": ${next}.`;
  const cut = next === null && isCut ? "\nThe page says more than is kept of one page." : "";
  return {
    content: [{ type: "text" as const, text: `${marked}${more}${cut}` }],
    details: { url, title, chars: text.length, from, next },
  };
}

function nothing(text: string, from: number): string {
  if (from > 0 && from >= text.length) return `The page has ${text.length} characters; from is beyond its end.`;
  return "The page has no text to read. It may need scripts, which are not run.";
}
