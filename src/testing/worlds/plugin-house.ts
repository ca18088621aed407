/** Everything a plugin may touch, held in maps: what one plugin registers, changes and leaves behind can be looked at. */
import { join } from "node:path";
import { createMcpSurface } from "../../mcp/server/index.ts";
import type { Command } from "../../contracts/command.ts";
import type { GatewayPlugin, PluginChannel } from "../../contracts/plugin.ts";
import type { Tool, ToolRegistry } from "../../contracts/tools/tool.ts";
import { createHooks } from "../../plugins/index.ts";
import { NO_LOCATION } from "../../plugins/run/source-location.ts";
import { startPlugin } from "../../plugins/run/plugin.ts";
import { createFakeClock } from "../fake-clock.ts";
import { recordingLog } from "../recording-log.ts";

export function pluginHouse(registry: Pick<ToolRegistry, "register" | "list"> | null = null) {
  const clock = createFakeClock();
  const log = recordingLog();
  const tools = new Map<string, Tool>();
  const commands = new Map<string, Command>();
  const channels = new Map<string, PluginChannel>();
  const into = <T>(map: Map<string, T>, name: string, value: T): Disposable => {
    if (map.has(name)) throw new Error(`${name} is taken`);
    map.set(name, value);
    return { [Symbol.dispose]: () => void map.delete(name) };
  };
  const hooks = createHooks({ clock, log });
  const skills = new Map<string, { readonly path: string; readonly digest: string | null }>();
  const services = {
    tellMain: async () => ({ kind: "refused", say: "There is no conversation to tell it to." }) as const,
    log,
    hooks,
    registry: registry ?? {
      register: (one: Tool | ((...a: never[]) => unknown)) => into(tools, (one as Tool).name, one as Tool),
      list: () => [],
    },
    commands: { register: (command: Command) => into(commands, command.name, command) },
    skills: { add: (skill: { path: string; digest: string | null }) => into(skills, skill.path, skill) },
    mcp: createMcpSurface(),
    platforms: {
      add(channel: PluginChannel): AsyncDisposable {
        const added = into(channels, channel.id, channel);
        return { [Symbol.asyncDispose]: async () => added[Symbol.dispose]() };
      },
    },
  };
  const start = (plugin: GatewayPlugin) =>
    startPlugin({ clock, log }, services, {
      id: "one",
      version: "1.0.0",
      config: {},
      folder: join(import.meta.dir, "../../plugins"),
      digest: "d1",
      storageFile: "/nowhere.json",
      location: NO_LOCATION,
      load: async () => plugin,
    });
  return { clock, log, services, tools, commands, channels, hooks, skills, start };
}
