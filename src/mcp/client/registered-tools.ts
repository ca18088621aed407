/** The tools of one server in the registry of the gateway: those that the settings take, each under its name here, replaced when it changes. */
import type { McpServerSettings } from "../../config/index.ts";
import type { McpToolStatus } from "../../contracts/mcp.ts";
import type { Tool, ToolRegistry } from "../../contracts/tools/tool.ts";
import type { Log } from "../../kit/log.ts";
import { isAccepted, type KnownTool, whyReview } from "./catalog.ts";
import { withoutWords } from "./definitions.ts";
import { isTaken } from "./globs.ts";
import { toolNames } from "./tool-names.ts";

type RunTool = (tool: KnownTool, ...call: Parameters<Tool["execute"]>) => ReturnType<Tool["execute"]>;

interface RegisteredToolsDeps {
  readonly log: Log;
  readonly registry: Pick<ToolRegistry, "register">;
  readonly server: string;
  settings(): McpServerSettings;
  readonly run: RunTool;
  /** An owner has approved a call of a tool in this form. */
  accepted(digest: string): void;
}

export interface RegisteredTools {
  /** Registers what is new, and takes away what is gone. A tool that stays as it is stays registered. */
  apply(tools: readonly KnownTool[]): void;
  status(tools: readonly KnownTool[]): readonly McpToolStatus[];
  clear(): void;
}

/** Calls have a time of their own, which stands still while a person is asked something. */
const OUTER_LIMIT_MS = 60 * 60_000;

interface Registered extends Disposable {
  /** What it was made of: another key, another tool. */
  readonly key: string;
}

export function createRegisteredTools(deps: RegisteredToolsDeps): RegisteredTools {
  const { log, registry, server } = deps;
  const registered = new Map<string, Registered>();
  const drop = (name: string): void => {
    registered.get(name)?.[Symbol.dispose]();
    registered.delete(name);
  };
  const add = (name: string, key: string, tool: KnownTool): void => {
    try {
      const made = registry.register(gatewayTool(deps, name, tool), `mcp:${server}`);
      registered.set(name, { key, [Symbol.dispose]: () => made[Symbol.dispose]() });
    } catch (error) {
      log.warn("tool of an MCP server not registered", { server, tool: name, error });
    }
  };
  return {
    apply(tools) {
      const wanted = named(deps, tools);
      for (const name of registered.keys()) if (!wanted.has(name)) drop(name);
      for (const [name, tool] of wanted) {
        const key = keyOf(deps.settings(), tool);
        if (registered.get(name)?.key === key) continue;
        drop(name);
        add(name, key, tool);
      }
    },
    status: (tools) => statusOf(deps, tools),
    clear() {
      for (const name of registered.keys()) drop(name);
    },
  };
}

function keyOf({ ownerOnly }: McpServerSettings, { definition, accepted }: KnownTool): string {
  return `${definition.digest} ${accepted} ${ownerOnly}`;
}

/** By their names here; without those that the settings leave out. */
function named({ server, settings }: RegisteredToolsDeps, tools: readonly KnownTool[]): ReadonlyMap<string, KnownTool> {
  const names = toolNames(
    server,
    tools.map(({ definition }) => definition.name),
  );
  const taken = tools.filter(({ definition }) => isTaken(definition.name, settings()));
  return new Map(taken.map((tool) => [names.get(tool.definition.name) ?? "", tool]));
}

function gatewayTool({ server, settings, run, accepted }: RegisteredToolsDeps, name: string, known: KnownTool): Tool {
  const { definition } = known;
  const because = whyReview(known, server);
  const flags = { idempotent: definition.idempotent, long: true, ...(settings().ownerOnly ? { ownerOnly: true } : {}) };
  return {
    name,
    label: because === null ? definition.title : name,
    description: because === null ? definition.description : withheld(server),
    parameters: because === null ? definition.inputSchema : withoutWords(definition.inputSchema),
    flags,
    timeoutMs: OUTER_LIMIT_MS,
    ...(definition.destructive ? { approval: true } : {}),
    ...(because === null ? {} : { review: { because, accepted: () => accepted(definition.digest) } }),
    execute: (callId, params, signal, onUpdate, context) => run(known, callId, params, signal, onUpdate, context),
  };
}

function withheld(server: string): string {
  return `A tool of the MCP server ${server} that is new or has changed. Its own description is shown once an owner has approved a call of it.`;
}

function statusOf(deps: RegisteredToolsDeps, tools: readonly KnownTool[]): readonly McpToolStatus[] {
  const names = toolNames(
    deps.server,
    tools.map(({ definition }) => definition.name),
  );
  return tools.map((tool) => {
    const { name, description, digest, readOnly } = tool.definition;
    const review = !isTaken(name, deps.settings()) ? "left_out" : reviewOf(tool);
    return { name: names.get(name) ?? "", tool: name, description, digest, review, readOnly };
  });
}

function reviewOf(tool: KnownTool): McpToolStatus["review"] {
  if (isAccepted(tool)) return "accepted";
  return tool.accepted === null ? "new" : "changed";
}
