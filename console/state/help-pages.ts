/** Which page of the documentation explains a view: what the question mark in the header opens. */
import type { View } from "./route.ts";

export const HELP_PAGES: Readonly<Partial<Record<View, string>>> = {
  chat: "/docs/commands",
  inbox: "/docs/console",
  activity: "/docs/console",
  turn: "/docs/console",
  calls: "/docs/tools",
  tools: "/docs/tools",
  jobs: "/docs/automation",
  calendar: "/docs/automation",
  heartbeat: "/docs/automation",
  webhooks: "/docs/automation",
  channels: "/docs/channels",
  agents: "/docs/agents",
  usage: "/docs/budgets",
  health: "/docs/service",
  setup: "/docs/models",
  settings: "/docs/config",
  models: "/docs/models",
  extensions: "/docs/plugins",
  logs: "/docs/logs",
  gateways: "/docs/scaling",
  browsers: "/docs/console",
  keys: "/docs/http#give-a-program-access",
};
