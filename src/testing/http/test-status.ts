/** What a gateway says about itself in which all is well. */
import type { GatewayStatus } from "../../contracts/wire.ts";

export const STATUS: GatewayStatus = {
  version: "0.0.0",
  build: "build-1",
  backup: { everyMs: null, folder: "/backups", newestAt: null, failure: null },
  uptimeMs: 1,
  node: { id: "gateway_1", name: "machine:1" },
  model: { name: null, demo: true },
  channels: [],
  pool: { starting: 0, idle: 1, busy: 0, waiting: 0, max: 4, maxBecause: "the test says so" },
  queue: { waiting: 0, running: 0 },
  outbox: { pending: 0, dead: 0, ambiguous: 0 },
  plugins: { running: 1, failed: 0 },
  mcp: [],
  budgets: [],
  agentTrouble: null,
  sandbox: { setting: "auto", tier: "full", because: "It works here.", leaks: [], advice: null },
  config: { file: null, applied: true, problems: [] },
  notices: [],
};
