/** Everything that a plugin may register, described once and completely. A key or value that is not described here is a mistake, never ignored. */
import type {
  ChannelAccessSettings,
  GroupContextSettings,
  GroupSettings,
  GuildSettings,
} from "../../contracts/channels/access.ts";
import type { Command } from "../../contracts/command.ts";
import type { Role } from "../../contracts/ids.ts";
import type { HookName } from "../../contracts/plugin-hooks.ts";
import type { PluginChannel, PluginRoute, PluginService, PluginSkill, PluginTool } from "../../contracts/plugin.ts";
import type { ToolFlags, ToolLimit, ToolOrigin } from "../../contracts/tools/tool.ts";
import type { KeysOf, Shape } from "../../kit/shape.ts";

const text = { shape: { kind: "text" } } as const;
const func = { shape: { kind: "function" } } as const;
const maybe = <S extends Shape>(shape: S) => ({ shape, optional: true }) as const;
const group = <T>(keys: KeysOf<T>): Shape => ({ kind: "group", keys });
/** All members of a union: one that is added to the type does not compile until it is here. */
const choice = <T extends string>(all: Readonly<Record<T, true>>): Shape => ({ kind: "choice", of: Object.keys(all) });

const flag = maybe({ kind: "flag" });
const words = maybe({ kind: "list", of: { kind: "text" } });
const role = choice<Role>({ owner: true, member: true, guest: true });
const origin = choice<ToolOrigin>({
  chat: true,
  group: true,
  cron: true,
  heartbeat: true,
  webhook: true,
  delegate: true,
  api: true,
  mcp: true,
});

const TOOL = group<PluginTool>({
  name: text,
  label: maybe({ kind: "text" }),
  description: text,
  parameters: { shape: { kind: "object" } },
  flags: maybe(
    group<Partial<ToolFlags>>({
      idempotent: flag,
      ownerOnly: flag,
      optional: flag,
      sequential: flag,
      background: flag,
      long: flag,
      workspaceOnly: flag,
      inConversation: flag,
      pty: flag,
      elevated: flag,
    }),
  ),
  origins: maybe({ kind: "list", of: origin }),
  limit: maybe(
    group<ToolLimit>({
      calls: { shape: { kind: "number", whole: true } },
      perMs: { shape: { kind: "number" } },
      durable: flag,
    }),
  ),
  timeoutMs: maybe({ kind: "number" }),
  approval: flag,
  execute: func,
});

const COMMAND = group<Command>({
  name: text,
  help: { shape: { kind: "text" } },
  usage: maybe({ kind: "text" }),
  roles: { shape: { kind: "list", of: role, min: 1 } },
  stopsTurn: flag,
  needsAgent: flag,
  run: func,
  refused: maybe({ kind: "function" }),
});

const count: Shape = { kind: "number", whole: true };
const groupKeys: KeysOf<GroupSettings> = {
  requireMention: flag,
  contextMessages: maybe(count),
  allowFrom: words,
  role: maybe(role),
};
const ACCESS: Shape = group<ChannelAccessSettings>({
  dmPolicy: maybe(choice({ pairing: true, allowlist: true, open: true, disabled: true })),
  allowFrom: words,
  groupPolicy: maybe(choice({ allowlist: true, open: true, disabled: true })),
  requireMention: flag,
  groupContext: maybe(
    group<GroupContextSettings>({ messages: { shape: count }, minutes: { shape: count }, chars: { shape: count } }),
  ),
  wakeOnReaction: flag,
  groups: maybe({ kind: "map", of: group<GroupSettings>(groupKeys) }),
  guilds: maybe({ kind: "map", of: group<GuildSettings>({ ...groupKeys, channels: words }) }),
  accounts: maybe({ kind: "map", of: () => ACCESS }),
});

export const SHAPES = {
  tool: TOOL,
  command: COMMAND,
  route: group<PluginRoute>({
    method: { shape: choice<PluginRoute["method"]>({ GET: true, POST: true }) },
    path: text,
    access: maybe(choice({ owner: true, public: true })),
    handle: func,
  }),
  service: group<PluginService>({ name: text, start: func }),
  skill: group<PluginSkill>({ name: text, path: text }),
  channel: group<PluginChannel>({ id: text, open: func, access: maybe(ACCESS) }),
  hookName: choice<HookName>({
    message_received: true,
    before_agent_start: true,
    before_tool_call: true,
    after_tool_call: true,
    tool_result_persist: true,
    tool_execution_start: true,
    tool_execution_update: true,
    tool_execution_end: true,
    message_sending: true,
    message_sent: true,
    session_start: true,
    session_end: true,
    gateway_start: true,
    gateway_stop: true,
  }),
  handler: { kind: "function" },
  wakeMode: choice({ now: true, "next-heartbeat": true }),
} as const satisfies Readonly<Record<string, Shape>>;
