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
import type {
  PluginChannel,
  PluginMcp,
  PluginPrompt,
  PluginResource,
  PluginRoute,
  PluginService,
  PluginSkill,
  PluginTool,
  PromptArgument,
} from "../../contracts/plugin.ts";
import type { ToolFlags, ToolLimit, ToolOrigin } from "../../contracts/tools/tool.ts";
import type { KeysOf, Shape } from "../../kit/schema/shape.ts";

const text = { shape: { type: "string" } } as const;
const func = { shape: { type: "function" } } as const;
const maybe = <S extends Shape>(shape: S) => ({ shape, optional: true }) as const;
const group = <T>(keys: KeysOf<T>): Shape => ({ type: "object", keys });
/** All members of a union: one that is added to the type does not compile until it is here. */
const choice = <T extends string>(all: Readonly<Record<T, true>>): Shape => ({ enum: Object.keys(all) });

const flag = maybe({ type: "boolean" });
const texts = maybe({ type: "array", items: { type: "string" } });
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
  label: maybe({ type: "string" }),
  description: text,
  parameters: { shape: { type: "object" } },
  outputSchema: maybe({ type: "object" }),
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
  origins: maybe({ type: "array", items: origin }),
  limit: maybe(
    group<ToolLimit>({
      calls: { shape: { type: "integer", exclusiveMinimum: 0 } },
      perMs: { shape: { type: "number", exclusiveMinimum: 0 } },
      durable: flag,
    }),
  ),
  timeoutMs: maybe({ type: "number", exclusiveMinimum: 0 }),
  approval: flag,
  execute: func,
});

const COMMAND = group<Command>({
  name: text,
  help: { shape: { type: "string" } },
  usage: maybe({ type: "string" }),
  roles: { shape: { type: "array", items: role, minItems: 1 } },
  stopsTurn: flag,
  needsAgent: flag,
  run: func,
  refused: maybe({ type: "function" }),
});

const count: Shape = { type: "integer", exclusiveMinimum: 0 };
const groupKeys: KeysOf<GroupSettings> = {
  requireMention: flag,
  contextMessages: maybe(count),
  allowFrom: texts,
  role: maybe(role),
};
const ACCESS: Shape = group<ChannelAccessSettings>({
  dmPolicy: maybe(choice({ pairing: true, allowlist: true, open: true, disabled: true })),
  allowFrom: texts,
  groupPolicy: maybe(choice({ allowlist: true, open: true, disabled: true })),
  requireMention: flag,
  groupContext: maybe(
    group<GroupContextSettings>({ messages: { shape: count }, minutes: { shape: count }, chars: { shape: count } }),
  ),
  wakeOnReaction: flag,
  groups: maybe({ type: "object", entries: group<GroupSettings>(groupKeys) }),
  guilds: maybe({ type: "object", entries: group<GuildSettings>({ ...groupKeys, channels: texts }) }),
  accounts: maybe({ type: "object", entries: () => ACCESS }),
});

const RESOURCE = group<PluginResource>({
  uri: text,
  name: text,
  description: maybe({ type: "string" }),
  mimeType: maybe({ type: "string" }),
  read: func,
});
const PROMPT = group<PluginPrompt>({
  name: text,
  description: text,
  arguments: maybe({
    type: "array",
    items: group<PromptArgument>({
      name: text,
      description: maybe({ type: "string" }),
      required: flag,
      values: texts,
    }),
  }),
  get: func,
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
  mcp: group<PluginMcp>({
    resources: maybe({ type: "array", items: RESOURCE }),
    prompts: maybe({ type: "array", items: PROMPT }),
  }),
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
  handler: { type: "function" },
  wakeMode: choice({ now: true, "next-heartbeat": true }),
} as const satisfies Readonly<Record<string, Shape>>;
