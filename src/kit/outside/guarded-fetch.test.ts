/** The way out: which places are called, that the judged address is the one called, and what happens when the other side misbehaves. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { systemClock } from "../clock.ts";
import { isGlobalAddress } from "./addresses.ts";
import { type GuardedLimits, guardedFetch } from "./guarded-fetch.ts";
import { type Resolver, systemResolver } from "./public-address.ts";

const NEVER = new AbortController().signal;
const MAX_BYTES = 8_000;
const seen: { readonly url: string; readonly headers: IncomingMessage["headers"] }[] = [];
let server: Server;
let port = 0;

const ROUTES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "/ok": (response) => void response.writeHead(200, { "content-type": "text/plain" }).end("fine"),
  "/huge": (response) => {
    response.write("x".repeat(5_000));
    response.end("x".repeat(5_000));
  },
  "/most": (response) => void response.end("x".repeat(MAX_BYTES)),
  "/most-in-pieces": (response) => {
    response.write("x".repeat(MAX_BYTES - 1));
    response.end("x");
  },
  "/one-too-many": (response) => {
    response.write("x".repeat(MAX_BYTES));
    response.end("x");
  },
  "/declared": (response) => void response.writeHead(200, { "content-length": "99999999" }).write("x"),
  "/silent": () => undefined,
  "/drip": (response) => void response.writeHead(200).write("a little, and then nothing"),
  "/cut": (response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setImmediate(() => response.destroy());
  },
  "/gzip": (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end("zzz"),
  "/br": (response) => void response.writeHead(200, { "content-encoding": "br" }).end("zzz"),
  "/identity": (response) => void response.writeHead(200, { "content-encoding": "identity" }).end("plain"),
  "/same": (response) => void response.writeHead(302, { location: "/ok" }).end(),
  "/twice": (response) => void response.writeHead(302, { location: "/below/again" }).end(),
  "/below/again": (response) => void response.writeHead(302, { location: "end" }).end(),
  "/below/end": (response) => void response.end("the end"),
  "/circle": (response) => void response.writeHead(302, { location: "/circle" }).end(),
  "/elsewhere": (response) => void response.writeHead(302, { location: "http://elsewhere.example/" }).end(),
  "/metadata": (response) => void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end(),
  "/status": (response) => void response.writeHead(503).end("busy"),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push({ url: request.url ?? "", headers: request.headers });
    (ROUTES[request.url ?? ""] ?? ((one) => void one.writeHead(404).end()))(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = Number((server.address() as { port: number }).port);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Real time: only who waits for a silence wants it short. */
const trusted = (idleMs = 10_000): GuardedLimits => ({
  totalMs: 60_000,
  idleMs,
  maxBytes: MAX_BYTES,
  trustedOrigin: `http://search.test:${port}`,
});
const local: Resolver = async () => ["127.0.0.1"];
const get = (path: string, limits = trusted(), resolve: Resolver = local, signal = NEVER) =>
  waitForEnd(
    `the end of the call to ${path}`,
    guardedFetch(
      { clock: systemClock, resolve },
      {
        url: path.startsWith("/") ? `http://search.test:${port}${path}` : path,
        method: "GET",
        headers: { "x-key": "k" },
      },
      limits,
      signal,
    ),
    { withinMs: 4_000 },
  );

describe("an address", () => {
  test.each([
    ...["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"],
    ...["192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.0.8", "192.88.99.1"],
    ...[
      "::1",
      "::",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::127.0.0.1",
      "64:ff9b::7f00:1",
      "64:ff9b:1::1",
      "2002:7f00:1::",
    ],
    ...["2001:0:53aa::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1"],
    ...["", "localhost", "not an address", "1.2.3.4.5", "[::1]"],
  ])("%s is not called", (address) => {
    expect(isGlobalAddress(address)).toBe(false);
  });

  test.each(["8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2606:4700:4700::1111"])(
    "%s is of the open internet",
    (address) => {
      expect(isGlobalAddress(address)).toBe(true);
    },
  );
});

describe("a place", () => {
  const PRIVATE = "it is on a private network";
  const NOT_WEB = "only http and https are called";
  // every spelling of this machine, and places that are none
  test.each([
    ["http://127.0.0.1/", PRIVATE],
    ["http://2130706433/", PRIVATE],
    ["http://0x7f.1/", PRIVATE],
    ["http://0177.0.0.1/", PRIVATE],
    ["http://[::1]/", PRIVATE],
    ["http://[::ffff:127.0.0.1]/", PRIVATE],
    ["http://[::127.0.0.1]/", PRIVATE],
    ["http://[::7f00:1]/", PRIVATE],
    ["http://127.1/", PRIVATE],
    ["http://169.254.169.254/latest/meta-data", PRIVATE],
    ["http://[fd00::1]/", PRIVATE],
    ["https://[fd00::1]/", PRIVATE],
    ["ftp://8.8.8.8/", NOT_WEB],
    ["file:///etc/passwd", NOT_WEB],
    ["gopher://8.8.8.8/", NOT_WEB],
    ["ws://8.8.8.8/", NOT_WEB],
    ["data:text/plain,hello", NOT_WEB],
    ["nonsense", NOT_WEB],
    ["http://user:pass@8.8.8.8/", "the address carries a password"],
    ["http://8.8.8.8:22/", "the port is not a usual one"],
    ...[8080, 8443, 8000, 3000, 6379, 1, 65535].flatMap((odd): [string, string][] => [
      [`http://8.8.8.8:${odd}/`, "the port is not a usual one"],
      [`https://8.8.8.8:${odd}/`, "the port is not a usual one"],
    ]),
  ])("%s is not called: %s", async (url, because) => {
    const count = seen.length;
    const { trustedOrigin: _none, ...limits } = trusted();
    expect(await get(url, limits)).toEqual({ kind: "refused", because });
    expect(seen.length).toBe(count);
  });

  test.each([
    ["a name that means this machine", ["127.0.0.1"]],
    ["a name that means this machine among others", ["8.8.8.8", "127.0.0.1"]],
    ["a name that means it over IPv6", ["::1"]],
    ["localhost with a dot", ["127.0.0.1"]],
  ])("%s is refused", async (_what, addresses) => {
    const { trustedOrigin: _none, ...limits } = trusted();
    expect(await get("http://evil.example/ok", limits, async () => addresses)).toEqual({
      kind: "refused",
      because: "it is on a private network",
    });
  });

  test("the operator wrote down is called wherever it is, and only at exactly that origin", async () => {
    expect(await get("/ok")).toMatchObject({
      kind: "answered",
      status: 200,
      text: "fine",
      body: Buffer.from("fine"),
      contentType: "text/plain",
    });
    expect((await get(`http://other.test:${port}/ok`)).kind).toBe("refused");
    expect((await get(`https://search.test:${port}/ok`)).kind).toBe("refused");
    expect((await get(`http://127.0.0.1:${port}/ok`)).kind).toBe("refused");
  });

  test("is called at the address that was judged, however the name resolves a moment later", async () => {
    let asked = 0;
    const rebinding: Resolver = async () => (asked++ === 0 ? ["127.0.0.1"] : ["203.0.113.7"]);
    expect((await get("/ok", trusted(), rebinding)).kind).toBe("answered");
    expect(asked).toBe(1);
    expect(seen.at(-1)?.headers.host).toBe(`search.test:${port}`);
  });

  test("without an address is unreachable", async () => {
    const unknown: Resolver = () => Promise.reject(new Error("ENOTFOUND"));
    expect(await get("/ok", trusted(), unknown)).toEqual({ kind: "failed", because: "unreachable" });
    expect(await get("/ok", trusted(), async () => [])).toEqual({ kind: "failed", because: "unreachable" });
  });
});

describe("an answer", () => {
  test("is handed on with its status", async () => {
    expect(await get("/status")).toMatchObject({ kind: "answered", status: 503, text: "busy" });
  });

  test.each([
    ["/huge", "large"],
    ["/one-too-many", "large"],
    ["/declared", "large"],
    ["/silent", "slow"],
    ["/drip", "slow"],
    ["/cut", "unreachable"],
    ["/gzip", "unreachable"],
    ["/br", "unreachable"],
  ])("of %s ends as %s", async (path, because) => {
    expect(await get(path, trusted(because === "slow" ? 200 : undefined))).toEqual({
      kind: "failed",
      because,
    } as never);
  });

  test("that says that it is not encoded is read", async () => {
    expect(await get("/identity")).toMatchObject({ kind: "answered", text: "plain" });
  });

  test.each(["/most", "/most-in-pieces"])("of exactly the largest size is read: %s", async (path) => {
    expect(await get(path)).toMatchObject({ kind: "answered", text: "x".repeat(MAX_BYTES) });
  });

  test.each(["/silent", "/drip"])("that does not end, %s, ends with the whole time", async (path) => {
    expect(await get(path, { ...trusted(), idleMs: 60_000, totalMs: 100 })).toEqual({
      kind: "failed",
      because: "slow",
    });
  });

  test("that redirects is followed on its own host, and nowhere else; the key goes to nobody else", async () => {
    expect(await get("/same")).toMatchObject({ kind: "answered", text: "fine" });
    for (const path of ["/elsewhere", "/metadata"])
      expect(await get(path)).toMatchObject({ kind: "refused", because: expect.stringContaining("not followed") });
    expect(await get("/circle")).toMatchObject({ kind: "refused", because: "it redirects in circles" });
  });
});

test("a second redirection is read from the address that sent it, and not from the first", async () => {
  expect(await get("/twice")).toMatchObject({ kind: "answered", text: "the end" });
});

test("a proxy in the environment is not used", async () => {
  const before = process.env["HTTP_PROXY"];
  process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
  try {
    expect((await get("/ok")).kind).toBe("answered");
  } finally {
    if (before === undefined) delete process.env["HTTP_PROXY"];
    else process.env["HTTP_PROXY"] = before;
  }
});

test.each(["/silent", "/drip"])(
  "a call of %s that is no longer wanted ends with the reason of who ended it",
  async (path) => {
    const stop = new AbortController();
    const before = seen.length;
    const call = get(path, { ...trusted(), idleMs: 60_000, totalMs: 60_000 }, local, stop.signal);
    call.catch(() => undefined); // looked at below
    await waitFor("the request", () => seen.length > before);
    stop.abort(new Error("stopped"));
    await expect(call).rejects.toThrow("stopped");
  },
);

test("a call that is no longer wanted before it has begun ends at once", async () => {
  const stop = new AbortController();
  const call = get("/silent", { ...trusted(), idleMs: 60_000, totalMs: 60_000 }, local, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(call).rejects.toThrow("stopped");
});

test("the system is asked for all addresses of a name, not only for the first", async () => {
  const addresses = await systemResolver("localhost");
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.map(isGlobalAddress)).toEqual(addresses.map(() => false));
});
