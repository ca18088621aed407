/** Plugins and MCP servers: which run, what they bring, and why not when they do not. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { McpServerStatus } from "../../../src/contracts/mcp.ts";
import type { PluginStatus } from "../../../src/contracts/plugin.ts";
import { status } from "../../state/console-state.ts";
import { plugins, readExtensions, reloadPlugin, servers, testServer } from "../../state/system-state.ts";
import { Icon } from "../icons.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";

export function ExtensionsView() {
  useEffect(() => void readExtensions(), [status.value]);
  return (
    <ViewFrame name="System" testId="extensions-view" tabs={SYSTEM_TABS}>
      <section class="part">
        <h2>Plugins</h2>
        <List
          items={plugins.value}
          none={
            <>
              No plugin is installed.{" "}
              <a href="/docs/plugins" target="_blank" rel="noopener">
                How to make one
              </a>
            </>
          }
          name="Plugins"
        >
          {(plugin) => <OnePlugin key={plugin.id} plugin={plugin} />}
        </List>
      </section>
      <section class="part">
        <h2>MCP servers</h2>
        <List
          items={servers.value}
          none={
            <>
              No MCP server is set up. <code>pi-gw mcp add</code> brings one.{" "}
              <a href="/docs/mcp-servers" target="_blank" rel="noopener">
                How to add one
              </a>
            </>
          }
          name="MCP servers"
        >
          {(server) => <OneServer key={server.name} server={server} />}
        </List>
      </section>
    </ViewFrame>
  );
}

interface ListProps<T> {
  readonly items: readonly T[] | null | "failed";
  readonly none: ComponentChildren;
  readonly name: string;
  readonly children: (item: T) => preact.JSX.Element;
}

function List<T>({ items, none, name, children }: ListProps<T>) {
  if (items === null) return <p class="about">Reading…</p>;
  if (items === "failed") return <p class="about">This could not be read. Is the gateway connected?</p>;
  if (items.length === 0) return <p class="about">{none}</p>;
  return (
    <ul class="tool-list" aria-label={name}>
      {items.map((item) => (
        <li>{children(item)}</li>
      ))}
    </ul>
  );
}

function OnePlugin({ plugin }: { readonly plugin: PluginStatus }) {
  const { id, version, state, trouble, builtin, folder } = plugin;
  const { busy, problem, run } = useAction();
  const well = state !== "failed" && trouble === null;
  return (
    <div class="tool card" data-testid="plugin" data-status={well ? "success" : "error"}>
      <h3>
        <span class="tool-status">
          <Icon name={well ? "check" : "alert"} size={16} />
        </span>
        {id}
        <small>
          {version ?? ""} {state}
          {builtin ? ", built in" : ""}
        </small>
      </h3>
      {trouble !== null && <p class="tool-reason">{trouble}</p>}
      {folder !== null && <p class="about">{folder}</p>}
      {!builtin && (
        <button
          type="button"
          class="quiet small edged"
          disabled={busy}
          onClick={() => void run(() => reloadPlugin(id))}
        >
          Reload {id}
        </button>
      )}
      <Problem text={problem} />
    </div>
  );
}

function OneServer({ server }: { readonly server: McpServerStatus }) {
  const { name, state, tools, trouble, notices, server: says } = server;
  const { busy, problem, run } = useAction();
  return (
    <div class="tool card" data-testid="mcp-server" data-status={trouble === null ? "success" : "error"}>
      <h3>
        <span class="tool-status">
          <Icon name={trouble === null ? "check" : "alert"} size={16} />
        </span>
        {name}
        <small dir="auto">
          {state}, {tools.length === 1 ? "1 tool" : `${tools.length} tools`}
          {says === "" ? "" : `, ${says}`}
        </small>
      </h3>
      {[...(trouble === null ? [] : [trouble]), ...notices].map((text) => (
        <p class="tool-reason" key={text} dir="auto">
          {text}
        </p>
      ))}
      <button type="button" class="quiet small edged" disabled={busy} onClick={() => void run(() => testServer(name))}>
        Test {name}
      </button>
      <Problem text={problem} />
    </div>
  );
}
