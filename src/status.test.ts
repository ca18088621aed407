import { expect, test } from "bun:test";
import type { PluginHost } from "./contracts/plugin.ts";
import type { GatewayStatus } from "./contracts/wire.ts";
import { NO_MASK } from "./kit/secret.ts";
import { createFakeClock } from "./testing/fake-clock.ts";
import { createStatus, type Status, type StatusDeps } from "./status.ts";

const WALLED = { setting: "auto", tier: "full", because: "It works.", leaks: [], advice: null } as const;

function statusWith(
  outbox: { dead: number; ambiguous: number },
  trouble: string | null = null,
  sandbox: GatewayStatus["sandbox"] = WALLED,
): Status {
  const pool = { stats: () => ({ model: null, trouble, starting: 0, idle: 0, busy: 0, waiting: 0, max: 1 }) };
  const deps = {
    clock: createFakeClock(),
    pool,
    urgent: [{ notices: () => ["about the database"] }],
    queue: { stats: () => ({ waiting: 0, running: 0 }) },
    outbox: { stats: () => ({ pending: 0, ...outbox }) },
    channels: { health: () => [] },
    budget: { limits: () => [], notices: () => [] },
    reloader: {
      status: () => ({ file: null, applied: true, problems: [] }),
      notices: () => ["about the configuration"],
    },
    others: [],
    sandbox: { report: () => sandbox },
    mcpServers: { list: () => [] },
    mask: NO_MASK,
  } as unknown as StatusDeps;
  const backup = () => ({ everyMs: null, folder: "/backups", newestAt: null, failure: null });
  return createStatus(deps, {
    version: "1",
    node: { id: "gateway_1", name: "machine:1" },
    console: { build: "b" },
    backup,
  });
}

test("the status says how many replies did not arrive, and where to read about them", () => {
  expect(statusWith({ dead: 0, ambiguous: 0 }).read().notices).toEqual([
    "about the database",
    "about the configuration",
  ]);
  expect(statusWith({ dead: 3, ambiguous: 1 }, "no pi").read().notices).toEqual([
    "about the database",
    "no pi",
    "3 replies of the last day could not be delivered. The Inbox of the web console and pi-gw outbox say why, and send them again.",
    "1 reply of the last day may have arrived twice, or not at all. The Inbox of the web console and pi-gw outbox --state ambiguous list it.",
    "about the configuration",
  ]);
});

test.each([
  ["auto", "none", ["No wall here. Agents run without pi tools (shell and files). Do this."]],
  ["required", "none", ["No wall here. Agents do not start. Do this."]],
  ["off", "none", []],
  ["auto", "basic", []],
] as const)("with agent.sandbox %s and the tier %s the status says %j", (setting, tier, expected) => {
  const sandbox = { setting, tier, because: "No wall here.", leaks: [], advice: "Do this." };
  const { notices, sandbox: shown } = statusWith({ dead: 0, ambiguous: 0 }, null, sandbox).read();
  expect(notices.filter((notice) => !notice.startsWith("about"))).toEqual([...expected]);
  expect(shown).toEqual(sandbox);
});

test("plugins are counted by their state, and their notices shown, once they are registered", () => {
  const status = statusWith({ dead: 0, ambiguous: 0 });
  expect(status.read().plugins).toEqual({ running: 0, failed: 0 });
  const list = () => [{ state: "running" }, { state: "failed" }, { state: "off" }];
  status.registerPlugins({ list, notices: () => ["about a plugin"] } as unknown as PluginHost);
  expect(status.read()).toMatchObject({
    plugins: { running: 1, failed: 1 },
    mcp: [],
    notices: ["about the database", "about a plugin", "about the configuration"],
  });
});
