/** The guarded way out in the form of fetch. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Clock, systemClock } from "../clock.ts";
import { deferred } from "../deferred.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { createGuardedStream, type GuardedStream } from "./guarded-stream.ts";

let http: ReturnType<typeof Bun.serve>;
let open = 0;
/** Sends one more piece of the answer that was asked for last at /told or /told-events. */
let tell: (piece: string) => void = () => undefined;
/** Whether the connection of that answer is still there. */
let isTold = (): boolean => false;
const seen: { method: string; headers: Record<string, string>; body: string }[] = [];

beforeAll(() => {
  http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      seen.push({ method: request.method, headers: request.headers.toJSON(), body: await request.text() });
      if (pathname === "/moved") return Response.redirect(`http://127.0.0.1:${http.port}/`, 307);
      if (pathname === "/nothing") return new Response(null, { status: 204, headers: { "x-own": "yes" } });
      if (pathname === "/never") return new Promise<never>(() => undefined);
      if (pathname === "/cookies")
        return new Response("", {
          headers: [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
          ],
        });
      if (pathname.startsWith("/told")) {
        const { signal } = request;
        isTold = () => !signal.aborted;
        const start = (controller: ReadableStreamDefaultController): void => {
          tell = (piece) => controller.enqueue(piece);
          tell("first");
        };
        const type = pathname === "/told" ? "text/plain" : "text/event-stream; charset=utf-8";
        return new Response(new ReadableStream({ start }), { headers: { "content-type": type } });
      }
      if (pathname !== "/events") return new Response("x".repeat(5_000), { headers: { "x-own": "yes" } });
      open++;
      request.signal.addEventListener("abort", () => open--);
      const beat = (controller: ReadableStreamDefaultController) => controller.enqueue("data: 1\n\n");
      return new Response(new ReadableStream({ start: beat }), { headers: { "content-type": "text/event-stream" } });
    },
  });
});
afterAll(() => http.stop(true));

const at = (path: string) => `http://127.0.0.1:${http.port}${path}`;
const trusting = (maxBytes = 10_000, clock: Clock = systemClock, trustedOrigins = [at("")]): GuardedStream => {
  const options = { trustedOrigins, maxBytes, idleMs: 5_000 };
  const stream = createGuardedStream({ clock, resolve: async () => ["127.0.0.1"] }, options);
  return async (url, init) => inTime(await waitForEnd(`the answer of ${String(url)}`, stream(url, init)));
};

/** The same answer; whoever reads its text in vain is told so. */
function inTime(response: Response): Response {
  const text = response.text.bind(response);
  return Object.assign(response, { text: () => waitForEnd("the text of the answer", text()) });
}

test("an origin that the owner wrote down is called with method, headers and body as given", async () => {
  const response = await trusting()(at("/a"), {
    method: "POST",
    headers: { "x-mine": "1" },
    body: new URLSearchParams({ a: "b c" }),
  });
  expect([response.status, response.headers.get("x-own"), (await response.text()).length]).toEqual([200, "yes", 5_000]);
  expect(seen.at(-1)).toMatchObject({ method: "POST", body: "a=b+c", headers: { "x-mine": "1" } });
  expect(seen.at(-1)?.headers["content-type"]).toStartWith("application/x-www-form-urlencoded");
});

test.each([
  "http://localhost:80/",
  "http://10.0.0.1/",
  "http://name.example/",
  "ftp://127.0.0.1/",
  "http://a:b@127.0.0.1/",
])("%s is refused, whatever the owner wrote down for another origin", async (url) => {
  await expect(trusting()(url)).rejects.toThrow(TypeError);
});

test.each(["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"])(
  "this machine is called for an owner who wrote down %s",
  async (origin) => {
    expect((await trusting(10_000, systemClock, [origin])(at("/"))).status).toBe(200);
  },
);

test.each(["https://mcp.example", "http://10.0.0.5:8080", "http://127.0.0.1.example", "no address"])(
  "this machine is not called for an owner who wrote down %s",
  async (origin) => {
    const call = trusting(10_000, systemClock, [origin])("http://127.0.0.1/"); // a usual port: only the place is judged
    await expect(call).rejects.toThrow("it is on a private network");
  },
);

test("each origin that the owner wrote down is called, and no other port or scheme of its host", async () => {
  const resolve = async () => ["127.0.0.1"];
  const origin = `http://name.example:${http.port}`;
  const options = { trustedOrigins: ["https://first.example", origin], maxBytes: 10_000, idleMs: 5_000 };
  const stream = createGuardedStream({ clock: systemClock, resolve }, options);
  expect((await stream(`${origin}/`)).status).toBe(200);
  for (const other of ["http://name.example/", "https://name.example/", "http://first.example/"])
    await expect(stream(other)).rejects.toThrow("it is on a private network");
});

test("headers of the connection are not taken from whoever asks", async () => {
  const given = {
    host: "other.example",
    connection: "upgrade",
    "content-length": "3",
    "transfer-encoding": "chunked",
    "accept-encoding": "gzip",
  };
  await (await trusting()(at("/"), { method: "POST", headers: given, body: "whole" })).text();
  const { headers, body } = seen.at(-1) ?? {};
  expect([headers?.["host"], headers?.["accept-encoding"], body]).toEqual([new URL(at("")).host, "identity", "whole"]);
  expect(headers?.["connection"]).not.toBe("upgrade");
  expect(headers).not.toHaveProperty("transfer-encoding");
});

test("pieces are counted together, so that an answer of many small ones breaks off at the limit", async () => {
  const reader = (await trusting(10)(at("/told"))).body?.getReader();
  await reader?.read();
  tell("again");
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("again");
  tell("!");
  await expect(reader?.read() ?? Promise.resolve()).rejects.toThrow("it sent more than 10 bytes");
});

test("a stream of events may be quiet for as long as it likes, and no other answer", async () => {
  const clock = createFakeClock();
  const events = (await trusting(100, clock)(at("/told-events"))).body?.getReader();
  await events?.read();
  const next = events?.read();
  await clock.advance(600_000);
  tell("second");
  expect(new TextDecoder().decode((await next)?.value)).toBe("second");
  await events?.cancel();
  const plain = (await trusting(100, clock)(at("/told"))).body?.getReader();
  await plain?.read();
  const late = plain?.read().then(
    () => "read",
    (error: Error) => error.message,
  );
  await clock.advance(5_000);
  expect(await late).toBe("it sent nothing for 5 seconds");
});

test("a redirection is handed back and not followed", async () => {
  const response = await trusting()(at("/moved"));
  expect([response.status, response.headers.get("location")]).toEqual([307, at("/")]);
});

test("an answer without a body has none, and one that is too large breaks off", async () => {
  const { body, headers } = await trusting()(at("/nothing"));
  expect([body, headers.get("x-own"), headers.has("date")]).toEqual([null, "yes", true]);
  await expect((await trusting(1_000)(at("/"))).text()).rejects.toThrow("it sent more than 1000 bytes");
});

test("a stream of events is read piece by piece, and closed when nobody reads it any more or its signal says so", async () => {
  const stop = new AbortController();
  const first = await trusting()(at("/events"));
  const second = await trusting()(at("/events"), { signal: stop.signal });
  const reader = first.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
  expect(open).toBe(2);
  await reader?.cancel();
  stop.abort(new Error("enough"));
  await second.text().catch(() => undefined);
  await waitFor(
    "closed connections",
    () => open,
    (count) => count === 0,
  );
});

test("an answer that is too large ends its connection, although more of it would come", async () => {
  await expect((await trusting(3)(at("/told"))).text()).rejects.toThrow("it sent more than 3 bytes");
  await waitFor("the connection to be closed", () => !isTold());
});

test("a call that is given up while it waits says why, as its caller did", async () => {
  const stop = new AbortController();
  const before = seen.length;
  const call = trusting()(at("/never"), { signal: stop.signal });
  await waitFor("the call to arrive", () => seen.length > before);
  stop.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
});

test.each([
  ["bytes", new Uint8Array([104, 105]), "hi", undefined],
  ["a form with a type of its own", new URLSearchParams({ a: "b" }), "a=b", "text/mine"],
])("the method in small letters and %s arrive as they were given", async (_what, body, text, type) => {
  const headers = type === undefined ? {} : { "content-type": type };
  await (await trusting()(at("/"), { method: "post", headers, body })).text();
  expect(seen.at(-1)).toMatchObject({ method: "POST", body: text, headers });
});

test.each(["GET", "POST", "DELETE"])("the method %s is called with its headers, and without a body", async (method) => {
  for (const body of [undefined, null]) {
    await (
      await trusting()(at("/"), { method, headers: { "x-mine": "1" }, ...(body === null ? { body } : {}) })
    ).text();
    expect(seen.at(-1)).toMatchObject({ method, headers: { "x-mine": "1" }, body: "" });
  }
});

test("a text is sent as it is, and not called a form", async () => {
  await (await trusting()(at("/"), { method: "POST", body: "a=b" })).text();
  expect(seen.at(-1)?.body).toBe("a=b");
  expect(seen.at(-1)?.headers["content-type"] ?? "").not.toContain("form");
});

test("a host whose name leads to no address is told as one that does not exist", async () => {
  const deps = { clock: systemClock, resolve: async () => [] };
  const stream = createGuardedStream(deps, { trustedOrigins: [], maxBytes: 1, idleMs: 1 });
  await expect(stream("http://nowhere.example/")).rejects.toThrow(
    "it could not be reached: there is no host of that name",
  );
});

test.each(["PUT", "CONNECT", "patch"])("the method %s is not called", async (method) => {
  const before = seen.length;
  await expect(trusting()(at("/"), { method })).rejects.toThrow("only GET, POST and DELETE are called");
  expect(seen.length).toBe(before);
});

test("a header that comes twice is there twice", async () => {
  expect((await trusting()(at("/cookies"))).headers.getSetCookie()).toEqual(["a=1", "b=2"]);
});

test("a call whose signal has aborted looks up no name and is not made", async () => {
  const before = seen.length;
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return ["127.0.0.1"];
  };
  const stream = createGuardedStream({ clock: systemClock, resolve }, { trustedOrigins: [], maxBytes: 1, idleMs: 1 });
  const call = stream("http://name.example/", { signal: AbortSignal.abort(new Error("too late")) });
  await expect(call).rejects.toThrow("too late");
  expect([asked, seen.length]).toEqual([[], before]);
});

test("a call that is given up while its name is looked up says why, and is not made", async () => {
  const before = seen.length;
  const stop = new AbortController();
  const name = deferred<readonly string[]>();
  const options = { trustedOrigins: [at("")], maxBytes: 1, idleMs: 1 };
  const stream = createGuardedStream({ clock: systemClock, resolve: () => name.promise }, options);
  const call = stream(`http://name.example/`, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(waitForEnd("the end of the call", call)).rejects.toThrow("enough");
  name.resolve(["127.0.0.1"]);
  expect(seen.length).toBe(before);
});

test("a place where nobody listens could not be reached, and the reason of that is kept", async () => {
  using gone = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data: () => undefined } });
  const url = `http://127.0.0.1:${gone.port}/`;
  gone.stop(true);
  const failure = await trusting(10_000, systemClock, [url])(url).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    name: "TypeError",
    message: "it could not be reached: nothing listens there, or it refuses connections",
    cause: expect.any(Error),
  });
});
