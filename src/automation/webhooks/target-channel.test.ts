/** What is posted to another program, over the real way out to a loopback server: form, signature, and what each answer means. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { checkConfigText } from "../../config/index.ts";
import { SendError } from "../../contracts/channel.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import { type Clock, systemClock } from "../../kit/clock.ts";
import { checkSignature } from "../../kit/signed-body.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { createTargetChannel, failureOf } from "./target-channel.ts";

const NEVER = new AbortController().signal;
const SECRET = "s3cret-for-posting-5c90d1e8af";
const seen: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
let server: Server;
let origin = "";

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    seen.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString("utf8") });
    if (request.url === "/silent") return;
    if (request.url === "/endless") return void response.writeHead(200).write("x".repeat(300 * 1024));
    const status = Number(/\d+$/.exec(request.url ?? "")?.[0] ?? 204);
    if (status === 302) response.setHeader("location", "http://169.254.169.254/latest/meta-data");
    if (status === 307) response.setHeader("location", "/204");
    if (status === 429) response.setHeader("retry-after", "7");
    response.writeHead(status).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function row(chat: string, more: Partial<OutboxRow> = {}): OutboxRow {
  return {
    id: "posted-t1:0:0",
    turnId: "posted-t1:0" as TurnId,
    sessionKey: "agent:default:webhook:ops" as SessionKey,
    part: 0,
    to: { channel: "webhook", account: "default", chat, thread: "job tea" },
    message: { kind: "reply", text: "The tea is ready. 🍵" },
    createdAt: 1_790_000_000_000,
    outcome: "done",
    ...more,
  };
}

function channel(targets: Record<string, object>, clock: Clock = systemClock) {
  const { config, problems } = checkConfigText(JSON.stringify({ hooks: { targets } }), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return createTargetChannel({ clock, resolve: async () => ["127.0.0.1"] }, () => config.hooks.targets);
}

const post = (path: string, more: object = { privateNetwork: true }) =>
  channel({ ops: { url: `${origin}${path}`, ...more } }).send(row("ops"), NEVER);

const kindOf = async (path: string, more?: object) =>
  post(path, more).then(
    () => "sent",
    (error: unknown) => (error instanceof SendError ? error.kind : String(error)),
  );

test("words are posted as JSON, signed like requests to hooks, under an id that stays the same", async () => {
  await post("/in", { privateNetwork: true, secret: SECRET });
  const headers: IncomingHttpHeaders = seen.at(-1)?.headers ?? {};
  const body = seen.at(-1)?.body ?? "";
  expect(JSON.parse(body)).toEqual({
    id: "posted-t1:0:0",
    source: "job tea",
    text: "The tea is ready. 🍵",
    at: 1_790_000_000_000,
  });
  expect(headers).toMatchObject({ "content-type": "application/json", "idempotency-key": "posted-t1:0:0" });
  const signed = { timestamp: String(headers["x-pi-timestamp"]), signature: String(headers["x-pi-signature"]) };
  const check = { keys: [SECRET], now: systemClock.now() };
  expect(checkSignature(signed, new TextEncoder().encode(body), check).kind).toBe("good");
  await post("/in");
  expect([seen.at(-1)?.body, seen.at(-1)?.headers["x-pi-signature"]]).toEqual([body, undefined]);
});

test.each(["nowhere", "constructor"])("a reply for %s, which nobody has described, is given up", async (chat) => {
  await expect(channel({ ops: { url: `${origin}/in` } }).send(row(chat), NEVER)).rejects.toThrow(
    `there is no place called ${chat} in hooks.targets`,
  );
});

test("a reply of no job or hook is posted with an empty source", async () => {
  const to = { channel: "webhook", account: "default", chat: "ops" };
  await channel({ ops: { url: `${origin}/in`, privateNetwork: true } }).send(row("ops", { to }), NEVER);
  expect(JSON.parse(seen.at(-1)?.body ?? "")).toMatchObject({ source: "" });
});

test("the channel of webhook targets can send at any time, and may be refused", () => {
  const { ready, canRefuse, repeat, health } = channel({});
  expect([ready(row("ops").to), canRefuse, repeat, health().ok]).toEqual([true, true, "deduplicated", true]);
});

test("files are named and not sent", async () => {
  const file = { mediaId: "m", name: "plan.pdf", mimeType: "application/pdf", bytes: 9 } as never;
  const message = { kind: "reply", text: "Here.", attachments: [file] } as const;
  const target = { ops: { url: `${origin}/in`, privateNetwork: true } };
  await channel(target).send(row("ops", { message }), NEVER);
  const files = [{ name: "plan.pdf", mimeType: "application/pdf", bytes: 9 }];
  expect(JSON.parse(seen.at(-1)?.body ?? "")).toMatchObject({ files });
});

describe("an answer", () => {
  test.each([
    [200, "sent"],
    [204, "sent"],
    [400, "permanent"],
    [401, "permanent"],
    [404, "permanent"],
    [410, "permanent"],
    [408, "retry"],
    [425, "retry"],
    [429, "limited"],
    [500, "retry"],
    [503, "retry"],
    [302, "permanent"],
    [307, "permanent"],
  ])("of %d means %s", async (status, expected) => {
    const count = seen.length;
    expect(await kindOf(`/${status}`)).toBe(expected);
    expect(seen.length).toBe(count + 1); // a redirection is not followed, wherever it leads
  });

  test.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])("of %d is a success: %p", (status, isSuccess) => {
    expect(failureOf({ kind: "answered", status, text: "" }) === null).toBe(isSuccess);
  });

  test("that was never asked for, because the place may not be called, says so", () => {
    const failure = failureOf({ kind: "refused", because: "a private address" } as never);
    expect(failure).toMatchObject({ kind: "permanent", message: "the place may not be called: a private address" });
  });

  test("that says when to come back is heard", () => {
    expect(failureOf({ kind: "answered", status: 429, text: "", retryAfterMs: 7_000 })).toMatchObject({
      kind: "limited",
      retryAfterMs: 7_000,
    });
    expect(failureOf({ kind: "failed", because: "slow" })?.kind).toBe("lost");
    expect(failureOf({ kind: "failed", because: "unreachable" })?.kind).toBe("retry");
  });
});

describe("a place", () => {
  test("on a private network is called only when the configuration says that this is right", async () => {
    const count = seen.length;
    expect(await kindOf("/in", {})).toBe("permanent");
    for (const url of ["http://169.254.169.254/latest", "http://[::1]/", "http://10.0.0.1/", "http://ops.example/in"])
      expect([url, await kindOf("", { url })]).toEqual([url, "permanent"]); // the last one resolves to this machine
    expect(seen.length).toBe(count);
  });

  test("that is not in the configuration any more is given up", async () => {
    const { send } = channel({});
    expect(await send(row("ops"), NEVER).catch((error: SendError) => error.kind)).toBe("permanent");
    expect(await send(row("constructor"), NEVER).catch((error: SendError) => error.kind)).toBe("permanent");
  });
});

describe("a place that takes a post and does not answer", () => {
  const posting = async (path: string, clock: Clock, signal = NEVER) => {
    const count = seen.length;
    const sending = channel({ ops: { url: `${origin}${path}`, privateNetwork: true } }, clock).send(row("ops"), signal);
    sending.catch(() => undefined); // looked at below
    await waitFor("the post", () => seen.length > count);
    return sending;
  };

  test("is left after ten seconds, in doubt whether it has the post, and no timer is left", async () => {
    const clock = createFakeClock();
    const sent = posting("/silent", clock).then(
      () => "sent",
      (error: SendError) => error.kind,
    );
    await waitFor("the limits", () => clock.pending() === 2);
    await clock.advance(10_000);
    expect([await waitForEnd("the end", sent), clock.pending()]).toEqual(["lost", 0]);
  });

  test("is left when the post is cancelled", async () => {
    const stop = new AbortController();
    const sent = posting("/silent", systemClock, stop.signal);
    const count = seen.length;
    await waitFor("the post", () => seen.length > count);
    stop.abort(new Error("outbox stopped"));
    await expect(waitForEnd("the end", sent, { withinMs: 2_000 })).rejects.toThrow("outbox stopped");
  });

  test("but talks without end is left after 256 KiB", async () => {
    const sent = posting("/endless", systemClock);
    expect(
      await waitForEnd(
        "the end",
        sent.catch((error: SendError) => error.kind),
        { withinMs: 2_000 },
      ),
    ).toBe("lost");
  });
});
