import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";

const ITEMS = [
  { agentId: "default", enabled: true, everyMs: 1_800_000, checklist: "- mail\u001b[2J\n", file: "/w/HEARTBEAT.md" },
  { agentId: "papers", enabled: false, everyMs: 1, checklist: null, file: null },
];
const WEBHOOKS = {
  enabled: false,
  incoming: [
    { name: "wake", signed: false, keys: [], keysAreShared: true, role: "guest" },
    { name: "build", signed: true, keys: [{ id: "secret", path: "p" }], keysAreShared: false, role: "member" },
  ],
  targets: [{ name: "ops", url: "https://ops.example/", signed: true, privateNetwork: false }],
};

async function world(...input: string[]) {
  const asked: [string, unknown][] = [];
  async function* stdin() {
    yield* input;
  }
  const fx = await cliFixture({ stdin: stdin() });
  const gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    const text = await request.text();
    asked.push([`${request.method} ${pathname}`, text === "" ? null : JSON.parse(text)]);
    if (pathname === "/api/heartbeats") return Response.json({ items: ITEMS });
    if (pathname === "/api/webhooks") return Response.json(WEBHOOKS);
    if (pathname.includes("webhook-targets")) return Response.json({ ok: pathname.includes("ops"), say: "Said." });
    if (pathname.endsWith("/keys")) return Response.json({ key: { id: "2026-11-16" }, secret: "shown-once" });
    return Response.json({ id: "hook_1", text: "what the agent gets", written: true });
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

test("pi-gw heartbeat list and show tell what each agent looks after, safe for a terminal", async () => {
  await using fx = await world();
  expect(await fx.run("heartbeat", "list")).toBe(0);
  expect(fx.out()).toBe(
    [
      "AGENT    HEARTBEAT         CHECKLIST",
      "default  every 30 minutes  /w/HEARTBEAT.md",
      "papers   off               no folder of its own",
      "",
    ].join("\n"),
  );
  expect(await fx.run("heartbeat", "show")).toBe(0);
  expect(fx.out()).toContain("- mail\\u001b[2J");
  expect(await fx.run("heartbeat", "show", "nobody")).not.toBe(0);
});

test("pi-gw heartbeat write replaces the checklist that was there a moment ago", async () => {
  await using fx = await world("- mail\n", "- backups\n");
  expect(await fx.run("heartbeat", "write")).toBe(0);
  expect(fx.asked.at(-1)).toEqual([
    "POST /api/heartbeats/default/checklist",
    { text: "- mail\n- backups\n", before: "- mail\u001b[2J\n" },
  ]);
});

test("pi-gw webhooks list shows both directions without any secret, and that they are off", async () => {
  await using fx = await world();
  expect(await fx.run("webhooks", "list")).toBe(0);
  expect(fx.out().split("\n")).toEqual([
    "Webhooks are switched off: hooks.enabled is false.",
    "WAY  NAME   ADDRESS               ROLE    SIGNED",
    "in   wake   /hooks/wake           guest   no",
    "in   build  /hooks/build          member  with secret",
    "out  ops    https://ops.example/          yes",
    "",
  ]);
});

test("pi-gw webhooks test, test-target, add-key and remove-key ask for just that", async () => {
  await using fx = await world('{"a":1}');
  expect(await fx.run("webhooks", "test", "build", "--body", "-")).toBe(0);
  expect(fx.out()).toContain("Taken as hook_1. The agent gets:\nwhat the agent gets");
  expect(await fx.run("webhooks", "test-target", "ops")).toBe(0);
  expect(await fx.run("webhooks", "test-target", "other")).toBe(1);
  expect(await fx.run("webhooks", "add-key", "build")).toBe(0);
  expect([fx.out().endsWith("shown-once\n"), fx.err().includes("2026-11-16")]).toEqual([true, true]);
  expect(await fx.run("webhooks", "remove-key", "build", "secret")).toBe(0);
  expect(fx.asked).toEqual([
    ["POST /api/webhooks/build/test", { body: '{"a":1}' }],
    ["POST /api/webhook-targets/ops/test", null],
    ["POST /api/webhook-targets/other/test", null],
    ["POST /api/webhooks/build/keys", null],
    ["DELETE /api/webhooks/build/keys/secret", null],
  ]);
});
