import { expect, test } from "bun:test";
import { join } from "node:path";
import { cliFixture, eventStream, fakeGateway } from "../testing/cli-fixture.ts";

const LOST = {
  id: "t:0",
  state: "dead",
  sessionKey: "agent:default:telegram:dm:7",
  attempts: 5,
  because: "the chat is gone",
  endedAt: 1_000,
  message: { text: "good\nmorning\u001b[2J" },
};
const JOB = {
  id: "tea",
  schedule: { kind: "cron", expr: "0 9 * * *", timezone: "Europe/Berlin" },
  nextAt: 3_600_000,
  agentId: "default",
  mode: "isolated",
  delivery: "chat",
  failures: 2,
  task: "make tea\nand drink it",
};
const ANSWERS: Readonly<Record<string, unknown>> = {
  "GET /api/outbox": { items: [LOST] },
  "POST /api/outbox/t%3A0/retry": { retried: true, from: "dead" },
  "POST /api/outbox/t%3A1/retry": { retried: true, from: "ambiguous" },
  "GET /api/cron/jobs/tea": { job: JOB },
  "POST /api/sessions/main/model": { model: null, thinking: "high" },
  "PATCH /api/sessions/main": { session: { title: "the harbour letter" } },
  "POST /api/messages/in_1/cancel": { cancelled: true, turnId: "t" },
  "PATCH /api/messages/in_1": { edited: true },
};

/** What a command printed, and what it asked. */
async function run(...argv: string[]) {
  await using fx = await cliFixture();
  const asked: unknown[] = [];
  await using _gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    asked.push(request.method === "GET" ? pathname : await request.json().catch(() => null));
    if (pathname === "/metrics") return new Response("# HELP turns\nturns 1\n");
    return Response.json(ANSWERS[`${request.method} ${pathname}`] ?? {});
  });
  const code = await fx.run(...argv);
  return { code, asked, out: fx.out().split("\n") };
}

test("pi-gw messages withdraws a message that waits, and changes the text of one", async () => {
  expect(await run("messages", "cancel", "in_1")).toEqual({
    code: 0,
    asked: [null],
    out: ["The message is withdrawn.", ""],
  });
  const edited = await run("messages", "edit", "in_1", "in", "other words");
  expect(edited).toMatchObject({ code: 0, asked: [{ text: "in other words" }] });
});

test("pi-gw outbox lists replies that did not arrive and why, safe for a terminal", async () => {
  const { out } = await run("outbox");
  expect(out).toEqual([
    "ID   ENDED                     STATE  SESSION                      ATTEMPTS  WHY               TEXT",
    "t:0  1970-01-01T00:00:01.000Z  dead   agent:default:telegram:dm:7  5         the chat is gone  good morning\\u001b[2J",
    "",
  ]);
});

test("pi-gw outbox retry sends a reply again, and with --yes one that its chat may show twice", async () => {
  expect(await run("outbox", "retry", "t:0")).toMatchObject({ code: 0, out: ["The reply is being sent again.", ""] });
  expect((await run("outbox", "retry", "t:1", "--yes")).out[0]).toMatch(/sent again. Its chat may show it twice/);
  expect((await run("outbox", "retry", "t:0", "--json")).out).toEqual(['{"retried":true,"from":"dead"}', ""]);
});

test("pi-gw outbox retry without --yes tells the gateway nothing about repeats, and prints why it refused", async () => {
  await using fx = await cliFixture();
  const asked: string[] = [];
  await using _gateway = await fakeGateway(fx.home, async (_request, { pathname, search }) => {
    asked.push(pathname + search);
    const error = { code: "reply_in_doubt", message: "Its chat may show it twice.", requestId: "r" };
    return Response.json({ error }, { status: 409 });
  });
  expect(await fx.run("outbox", "retry", "t:1")).toBe(1);
  expect(fx.err()).toContain("Its chat may show it twice.");
  expect(await fx.run("outbox", "retry", "t:1", "--yes")).toBe(1);
  expect(asked).toEqual(["/api/outbox/t%3A1/retry", "/api/outbox/t%3A1/retry?mayRepeat=true"]);
});

test("pi-gw metrics prints what Prometheus reads, as it is", async () => {
  expect((await run("metrics")).out).toEqual(["# HELP turns", "turns 1", ""]);
});

test("pi-gw cron show prints one job with its whole task", async () => {
  expect((await run("cron", "show", "tea")).out).toEqual([
    "job       tea",
    "when      cron 0 9 * * * Europe/Berlin",
    "next      1970-01-01T01:00:00.000Z",
    "agent     default",
    "mode      isolated",
    "delivery  chat",
    "failures  2",
    "task      make tea",
    "and drink it",
    "",
  ]);
});

test("pi-gw sessions set chooses model and thinking, and rename gives a name or takes it away", async () => {
  const set = await run("sessions", "set", "main", "--model", "default", "--thinking", "high");
  expect(set).toMatchObject({ asked: [{ model: "default", thinking: "high" }] });
  expect(set.out[0]).toBe("model: the agent's own, thinking: high");
  const renamed = await run("sessions", "rename", "main", "the", "harbour letter");
  expect(renamed).toMatchObject({ asked: [{ name: "the harbour letter" }] });
  expect(await run("sessions", "rename", "main")).toMatchObject({ asked: [{ name: null }] });
});

test("pi-gw chat --file sends each file and then the message with both, and says which file cannot be read", async () => {
  await using fx = await cliFixture();
  const asked: unknown[] = [];
  let uploads = 0;
  await using _gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    if (pathname === "/api/media") {
      asked.push([request.headers.get("x-filename"), await request.text()]);
      return Response.json({ mediaId: `m${++uploads}` });
    }
    asked.push(await request.json());
    return eventStream(done());
  });
  async function* done(): AsyncGenerator<readonly [string, unknown]> {
    yield ["done", { content: "They agree." }];
  }
  await Bun.write(join(fx.home, "a b.txt"), "one");
  await Bun.write(join(fx.home, "c.csv"), "two");
  expect(await fx.run("chat", "--file", "a b.txt", "--file", "c.csv", "do these agree?")).toBe(0);
  expect(asked).toEqual([
    ["a%20b.txt", "one"],
    ["c.csv", "two"],
    { text: "do these agree?", stream: true, attachments: [{ mediaId: "m1" }, { mediaId: "m2" }] },
  ]);
  expect(await fx.run("chat", "--file", "gone.txt", "hello")).toBe(1);
  expect(fx.err()).toContain("gone.txt cannot be read.");
  expect(asked.length).toBe(3);
});
