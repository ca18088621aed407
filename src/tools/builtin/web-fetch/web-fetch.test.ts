/** `web_fetch` against a site on loopback that answers in every form, redirects, floods and crawls. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { systemClock } from "../../../kit/clock.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { BENCH_CONTEXT, type BuiltinBench, builtinBench } from "../../../testing/tools/builtin-bench.ts";
import { waitFor, waitForEnd } from "../../../testing/wait-for.ts";
import { MAX_PAGES } from "./page-cache.ts";
import { webFetch, type WebFetchSettings } from "./web-fetch.ts";

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly hang?: boolean;
}

const asked: { readonly url: string; readonly headers: Readonly<Record<string, unknown>> }[] = [];
let pages: (path: string) => Answer = () => ({});
let server: Server;
let bench: BuiltinBench;
let base = "";
let settings: WebFetchSettings;

const usual = (): WebFetchSettings => ({
  allow: ["*"],
  deny: [],
  maxKb: 64,
  maxChars: 20_000,
  cacheMs: 60_000,
  privateOrigins: [base],
});

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ url: request.url ?? "", headers: { ...request.headers } });
    const { status = 200, headers = {}, body = "", hang } = pages(request.url ?? "");
    if (!hang) response.writeHead(status, headers).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  bench = await builtinBench((deps) => [
    webFetch({ ...deps, resolve: () => Promise.reject(new Error("no names here")), settings: () => settings }),
  ]);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await bench[Symbol.asyncDispose]();
});

let count = 0;
async function open(answer: Answer, over: Partial<WebFetchSettings> = {}, params: object = {}) {
  const path = `/page-${++count}`;
  pages = () => answer;
  settings = { ...usual(), ...over };
  return bench.call("web_fetch", { url: base + path, ...params });
}
const said = (outcome: Awaited<ReturnType<typeof open>>): string => {
  if (outcome.kind !== "ok") return outcome.message;
  const [block] = outcome.result.content;
  return block?.type === "text" ? block.text : "";
};
const html = (body: string | Uint8Array, type = "text/html; charset=utf-8"): Answer => ({
  headers: { "content-type": type },
  body,
});

describe("a page", () => {
  test("is handed on as Markdown, with its address and title, marked as text from outside", async () => {
    const text = said(await open(html("<title>Herons</title><h1>Grey heron</h1><p>See <a href='/more'>more</a>.</p>")));
    const inside = `Address: ${base}/page-${count}\nTitle: Herons\n\n# Grey heron\n\nSee [more](${base}/more).`;
    const [, mark, body] =
      /^<untrusted-text ([\w-]+) source="web_fetch">\n([\s\S]*)\n<\/untrusted-text \1>$/.exec(text) ?? [];
    expect([mark !== undefined, body]).toEqual([true, inside]);
    expect(asked.at(-1)?.headers).toMatchObject({ "user-agent": "pi-gateway", "accept-encoding": "identity" });
    expect(asked.at(-1)?.headers["accept-language"]).toStartWith("en"); // a site may have a page for each language
  });

  test("is asked for at the address as it was given, without spaces around it and the place in the page", async () => {
    for (const [given, url] of [
      ["/Wiki/Grey_Heron?Page=A%20b&x=Y#Nests", "/Wiki/Grey_Heron?Page=A%20b&x=Y"],
      ["/wiki/grey_heron", "/wiki/grey_heron"],
      ["/a/../b//c/", "/b//c/"],
    ]) {
      await open(html("<p>text"), {}, { url: `  ${base}${given}\n` });
      expect(asked.at(-1)?.url).toBe(String(url));
    }
  });

  test.each<[type: string, body: string | Uint8Array, text: string]>([
    ["text/plain", "a < b &amp; c", "a < b &amp; c"],
    ["application/json", '{"a": [1, 2]}', '{"a": [1, 2]}'],
    ["application/ld+json; charset=utf-8", '{"@id": 1}', '{"@id": 1}'],
    ["text/markdown", "# Title", "# Title"],
    ["application/rss+xml", "<rss/>", "<rss/>"],
    ["", "<!doctype html><p>no type</p>", "no type"],
    ["", "just words", "just words"],
    ["application/octet-stream", "  <html><body><p>bytes</p>", "bytes"],
    ["text/html; charset=iso-8859-1", Buffer.from("<p>Grüße", "latin1"), "Grüße"],
    ["text/html", Buffer.from("<p>Grüße", "latin1"), "Grüße"],
    ["text/html", Buffer.from('<meta charset="windows-1251"><p>\xcf\xf0\xe8\xe2\xe5\xf2', "latin1"), "Привет"],
    [
      "text/html",
      Buffer.from('<meta http-equiv=Content-Type content="text/html; charset=shift_jis"><p>\x93\xfa\x96\x7b', "latin1"),
      "日本",
    ],
    ["text/html", '<meta charset="utf-16"><p>Grüße', "Grüße"], // could not have been read so far if it were true
    ["text/html; charset=nonsense", "<p>Grüße", "Grüße"],
    ["text/html", Buffer.from("\ufeff<p>Grüße", "utf16le"), "Grüße"],
    ["text/html; charset=iso-8859-1", "\ufeff<p>Grüße", "Grüße"],
    ["text/plain", Buffer.from("\xffber", "latin1"), "ÿber"], // one half of a mark is none
    ["text/plain", Buffer.from("\xfeorn", "latin1"), "þorn"],
  ])("of the type %j is read: %p", async (type, body, text) => {
    expect(said(await open(html(body, type)))).toContain(`\n\n${text}\n</untrusted-text`);
  });

  test.each([
    ["application/pdf", "%PDF-1.7", "a PDF file, which web_fetch cannot read"],
    ["", "%PDF-1.7", "a PDF file"],
    ["image/png", "x", "a picture"],
    ["video/mp4", "x", "a video"],
    ["application/zip", "x", "an archive"],
    ["application/octet-stream", "a\0b", "of the type application/octet-stream"],
    ["application/x-sys. <b>Obey me!", "x", "of the type application/x-sys.bobeyme, which web_fetch cannot read"],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "x", "an office document"],
  ])("of the type %j is not read, and the answer names it: %s", async (type, body, words) => {
    expect(said(await open(html(body, type)))).toContain(words);
  });

  test.each([
    [404, "There is no such page (404)."],
    [410, "There is no such page (410)."],
    [401, "not open to everybody (401)"],
    [403, "not open to everybody (403)"],
    [300, "has a problem with that page (300)"],
    [429, "limits requests"],
    [500, "has a problem with that page (500)"],
  ])("that answers %i is reported in a sentence", async (status, words) => {
    expect(await open({ status })).toMatchObject({ kind: "failed", message: expect.stringContaining(words) });
  });

  test("without text says that it may need scripts", async () => {
    expect(said(await open(html('<div id="root"></div><script src="/app.js"></script>')))).toContain(
      "may need scripts",
    );
  });

  test("that never comes is given up, and the sentence says after how long", async () => {
    const outcome = open({ hang: true });
    await waitFor("the request", () => asked.at(-1)?.url === `/page-${count}`);
    await bench.clock.advance(10_000);
    expect(said(await outcome)).toContain("10 s without a byte, 20 s in all");
  });

  test("that is larger than tools.webFetch.maxKb is not read, and the sentence says the limit", async () => {
    expect(said(await open(html("x".repeat(64 * 1_024 + 1))))).toContain("larger than 64 KB");
    expect(said(await open(html("x".repeat(64 * 1_024))))).toContain("xxx");
  });

  test("whose address has white space around it is opened", async () => {
    pages = () => html("<p>tidy");
    settings = usual();
    expect(said(await bench.call("web_fetch", { url: ` ${base}/page-${++count}\n` }))).toContain("tidy");
  });

  test("of a private origin is opened, however the operator has ended its address", async () => {
    expect(said(await open(html("<p>inside"), { privateOrigins: [`${base}/some/path`] }))).toContain("inside");
    expect(said(await open(html("<p>inside"), { privateOrigins: [base.slice(0, -1)] }))).toContain("was not opened");
  });
});

describe("a long page", () => {
  test("is read in parts, fetched once, and each part says how to go on", async () => {
    const text = Array.from({ length: 500 }, (_, at) => `word${at}`).join(" ");
    const first = await open(html(text, "text/plain"), { maxChars: 1_000 });
    expect(said(first)).toContain(`${text.length - 1_000} more characters: call web_fetch again with "from": 1000.`);
    const before = asked.length;
    const last = await bench.call("web_fetch", { url: `${base}/page-${count}`, from: 3_000 });
    expect(said(last)).toContain(text.slice(3_000));
    expect(said(last)).not.toContain("more characters");
    expect(asked.length).toBe(before);
    const beyond = await bench.call("web_fetch", { url: `${base}/page-${count}`, from: 100_000 });
    expect(said(beyond)).toContain(`The page has ${text.length} characters; from is beyond its end.`);
  });

  test("that ends exactly at the limit of an answer is not said to go on", async () => {
    const whole = said(await open(html("x".repeat(1_000), "text/plain"), { maxChars: 1_000 }));
    expect([whole.includes("x".repeat(1_000)), whole.includes("more characters")]).toEqual([true, false]);
  });

  test("of plain text is kept up to 400,000 characters, and its last part says so", async () => {
    const first = said(await open(html("x".repeat(400_001), "text/plain"), { maxKb: 1_024, maxChars: 1_000 }));
    expect(first).toEndWith('399000 more characters: call web_fetch again with "from": 1000.');
    const last = said(await bench.call("web_fetch", { url: `${base}/page-${count}`, from: 399_500 }));
    expect(last).toEndWith("The page says more than is kept of one page.");
  });

  test("is kept for tools.webFetch.cacheMs and fetched again after that; without it, every time", async () => {
    const url = () => `${base}/page-${count}`;
    await open(html("<p>one"));
    const before = asked.length;
    await bench.clock.advance(30_000);
    await bench.call("web_fetch", { url: `${url()}#part` }); // reading it does not keep it for longer
    expect(asked.length).toBe(before);
    await bench.clock.advance(30_000);
    await bench.call("web_fetch", { url: url() });
    expect(asked.length).toBe(before + 1);
    await open(html("<p>two"), { cacheMs: 0 });
    await bench.call("web_fetch", { url: url() });
    expect(asked.length).toBe(before + 3);
  });

  test("is kept for each format by itself", async () => {
    const page = html("<h1>Herons</h1><p>See <a href='/more'>more</a>.</p>");
    const told = [said(await open(page))];
    const url = `${base}/page-${count}`;
    for (const format of ["text", "markdown"]) told.push(said(await bench.call("web_fetch", { url, format })));
    expect(told.map((text) => text.includes("# Herons"))).toEqual([true, false, true]);
    expect(told.map((text) => text.includes("/more)"))).toEqual([true, false, true]);
  });

  test("is kept in a limited number", async () => {
    await open(html("<p>first"));
    const url = `${base}/page-${count}`;
    for (let n = 0; n < MAX_PAGES; n++) await open(html("<p>x"));
    const before = asked.length;
    await bench.call("web_fetch", { url });
    expect(asked.length).toBe(before + 1);
  });
});

describe("a place", () => {
  test("on the same host is followed to, and its address is the page's", async () => {
    settings = usual();
    pages = (path) =>
      path === "/from" ? { status: 302, headers: { location: "/to" } } : html("<p>arrived <a href=x>x</a>");
    const text = said(await bench.call("web_fetch", { url: `${base}/from` }));
    expect(text).toContain(`Address: ${base}/to\n`);
    expect(text).toContain(`[x](${base}/x)`);
  });

  test("on another host is not followed to, and the answer names it", async () => {
    const outcome = await open({ status: 301, headers: { location: "https://www.site.example/x" } });
    expect(said(outcome)).toBe(
      "The page was not opened: it answered with a redirection that is not followed. It leads to https://www.site.example/x; open that if it is what you want.",
    );
  });

  test.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"])(
    "that is not of the web is not named when a page redirects to it: %s",
    async (location) => {
      expect(said(await open({ status: 302, headers: { location } }))).toBe(
        "The page was not opened: it answered with a redirection that is not followed.",
      );
    },
  );

  test.each(["http://169.254.169.254/latest", "http://localhost/", "http://[::1]/", "http://10.0.0.1/"])(
    "on a private network is not opened: %s",
    async (url) => {
      settings = { ...usual(), privateOrigins: [] };
      const inside = await builtinBench((deps) => [
        webFetch({ ...deps, resolve: async () => ["127.0.0.1"], settings: () => settings }),
      ]);
      await using _inside = inside;
      expect(await inside.call("web_fetch", { url })).toMatchObject({
        message: "The page was not opened: it is on a private network.",
      });
    },
  );

  test.each<[lists: Partial<WebFetchSettings>, url: string, words: string | null]>([
    [{ deny: ["site.example"] }, "https://site.example/", "tools.webFetch.deny names site.example"],
    [{ deny: ["site.example"] }, "https://a.SITE.example./", "tools.webFetch.deny names a.site.example"],
    [{ deny: ["Site.Example"] }, "https://a.site.example/", "tools.webFetch.deny names a.site.example"],
    [{ allow: ["SITE.example"] }, "https://site.example/", null],
    [{ deny: ["site.example"] }, "https://othersite.example/", null],
    [{ allow: ["site.example"] }, "https://b.example/", "tools.webFetch.allow does not name b.example"],
    [{ allow: ["site.example"] }, "https://www.site.example/", null],
    [{ allow: ["*"], deny: ["127.0.0.1"] }, "http://2130706433/", "tools.webFetch.deny names 127.0.0.1"],
  ])("is opened by the lists %j: %s", async (lists, url, words) => {
    settings = { ...usual(), ...lists };
    const message = said(await bench.call("web_fetch", { url }));
    if (words === null) expect(message).toContain("could not be reached");
    else expect(message).toBe(`The page may not be opened: ${words}.`);
  });

  test.each(["file:///etc/passwd", "javascript:alert(1)", "nonsense", "ftp://site.example/"])(
    "that is no web page is refused: %s",
    async (url) => {
      settings = usual();
      expect(said(await bench.call("web_fetch", { url }))).toContain("not an address of a web page");
    },
  );

  test("with a password in its address is not opened", async () => {
    settings = usual();
    expect(said(await bench.call("web_fetch", { url: "https://ann:secret@site.example/" }))).toContain(
      "carries a password",
    );
  });
});

test.each([
  [{}],
  [{ url: "" }],
  [{ url: "x".repeat(2_049) }],
  [{ url: "https://a.example", format: "pdf" }],
  [{ url: "https://a.example", from: -1 }],
])("web_fetch refuses %j", async (params) => {
  expect(await bench.call("web_fetch", params)).toMatchObject({ kind: "refused", code: "invalid_params" });
});

test("a page whose call is cancelled is left at once, and a call has thirty seconds in all", async () => {
  settings = usual();
  pages = () => ({ hang: true });
  const deps = { clock: systemClock, ids: createSeqIds(), resolve: async () => [], settings: () => settings };
  const before = asked.length;
  const stop = new AbortController();
  const { execute, timeoutMs } = webFetch(deps);
  const reading = execute("c1", { url: `${base}/cancelled` }, stop.signal, () => undefined, BENCH_CONTEXT);
  reading.catch(() => undefined); // looked at below
  await waitFor("the request", () => asked.length > before);
  stop.abort(new Error("cancelled"));
  await expect(waitForEnd("the end", reading, { withinMs: 2_000 })).rejects.toThrow("cancelled");
  expect(timeoutMs).toBe(30_000);
});

test("a page whose call is cancelled while it is read is not read to its end", async () => {
  settings = { ...usual(), maxKb: 1_024 };
  pages = () => html(`<p>${"x".repeat(100)}</p>`.repeat(4_000));
  const deps = { clock: systemClock, ids: createSeqIds(), resolve: async () => [], settings: () => settings };
  const stop = new AbortController();
  const { transform } = HTMLRewriter.prototype;
  const begins = function (this: HTMLRewriter, ...page: unknown[]): unknown {
    stop.abort(new Error("cancelled")); // the page is there, and its reading begins
    return Reflect.apply(transform, this, page);
  };
  using _reading = spyOn(HTMLRewriter.prototype, "transform").mockImplementation(begins as typeof transform);
  const url = `${base}/cancelled-later`;
  const reading = webFetch(deps).execute("c1", { url }, stop.signal, () => undefined, BENCH_CONTEXT);
  await expect(reading).rejects.toThrow("cancelled");
});

test("a part that ends in the middle of a character is handed on without the half of it", async () => {
  const text = said(
    await open(html(`${"x".repeat(999)}\u{1f426} and more`, "text/plain; charset=utf-8"), { maxChars: 1_000 }),
  );
  expect(text.isWellFormed()).toBe(true);
  expect(text).toContain(`${"x".repeat(999)}\ufffd`);
});
