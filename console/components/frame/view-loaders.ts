/** How each view is loaded when somebody first looks at it. */
import type { ComponentType } from "preact";
import type { View } from "../../state/route.ts";

/** Each is a file of its own in the build. The conversation is not among them: it is what people come for. */
export const LOADERS: Readonly<Record<Exclude<View, "chat">, () => Promise<ComponentType>>> = {
  inbox: async () => (await import("../inbox/inbox-view.tsx")).InboxView,
  activity: async () => (await import("../activity/activity-view.tsx")).ActivityView,
  turn: async () => (await import("../activity/turn-view.tsx")).TurnView,
  calls: async () => (await import("../tools/tools-view.tsx")).ToolsView,
  tools: async () => (await import("../tools/tools-view.tsx")).ToolsView,
  jobs: async () => (await import("../jobs/jobs-view.tsx")).JobsView,
  calendar: async () => (await import("../automations/calendar-view.tsx")).CalendarView,
  heartbeat: async () => (await import("../automations/heartbeat-view.tsx")).HeartbeatView,
  webhooks: async () => (await import("../automations/webhooks-view.tsx")).WebhooksView,
  channels: async () => (await import("../channels/channels-view.tsx")).ChannelsView,
  agents: async () => (await import("../agents/agents-view.tsx")).AgentsView,
  usage: async () => (await import("../usage/usage-view.tsx")).UsageView,
  setup: async () => (await import("../setup/setup-view.tsx")).SetupView,
  health: async () => (await import("../system/health-view.tsx")).HealthView,
  settings: async () => (await import("../system/settings/settings-view.tsx")).SettingsView,
  models: async () => (await import("../system/models-view.tsx")).ModelsView,
  extensions: async () => (await import("../system/extensions-view.tsx")).ExtensionsView,
  logs: async () => (await import("../system/logs-view.tsx")).LogsView,
  gateways: async () => (await import("../system/gateways-view.tsx")).GatewaysView,
  browsers: async () => (await import("../system/browsers-view.tsx")).BrowsersView,
  keys: async () => (await import("../keys/keys-view.tsx")).KeysView,
  more: async () => (await import("./more-view.tsx")).MoreView,
};
