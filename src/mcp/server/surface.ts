/** Resources and prompts that plugins show to MCP clients. An address or a name belongs to one plugin. */
import { GatewayError } from "../../contracts/errors.ts";
import type { McpSurface, PluginMcp } from "../../contracts/plugin.ts";
import { OWN_SCHEME } from "./addresses.ts";

export function createMcpSurface(): McpSurface {
  const shown = new Set<PluginMcp>();
  const listeners = new Set<() => void>();
  const resources = () => [...shown].flatMap((one) => one.resources ?? []);
  const prompts = () => [...shown].flatMap((one) => one.prompts ?? []);
  const tell = (): void => listeners.forEach((listener) => listener());
  const check = (added: PluginMcp): void => {
    const names = [...prompts(), ...(added.prompts ?? [])].map(({ name }) => name);
    const uris = [...resources(), ...(added.resources ?? [])].map(({ uri }) => uri);
    const own = uris.find((uri) => uri.startsWith(OWN_SCHEME));
    if (own !== undefined) throw invalid(`The resource ${own} has an address of the gateway's own.`);
    const twice = repeated(names) ?? repeated(uris);
    if (twice !== undefined) throw invalid(`MCP clients are shown ${twice} already.`);
  };
  return {
    add(added) {
      check(added);
      const own = { ...added };
      shown.add(own);
      tell();
      return {
        [Symbol.dispose]() {
          if (shown.delete(own)) tell();
        },
      };
    },
    resources,
    prompts,
    onChange(listener) {
      const own = (): void => listener();
      listeners.add(own);
      return { [Symbol.dispose]: () => void listeners.delete(own) };
    },
  };
}

function repeated(all: readonly string[]): string | undefined {
  return all.find((one, at) => all.indexOf(one) !== at);
}

function invalid(say: string): GatewayError {
  return new GatewayError("plugin_invalid", say, { say });
}
