/** Plugins and MCP servers: which run, what they bring, and why not when they do not. MCP servers are added and changed here. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PluginStatus } from "../../../src/contracts/plugin.ts";
import { status } from "../../state/console-state.ts";
import { readServers } from "../../state/servers-state.ts";
import { soon } from "../../state/soon.ts";
import { plugins, reloadPlugin, servers } from "../../state/system-state.ts";
import { Icon } from "../icons.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { ServerForm } from "./servers/server-form.tsx";
import { ServerItem } from "./servers/server-item.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";

/** A server that starts is looked at again after so long. */
const STARTING_MS = 1_000;

export function ExtensionsView() {
  useEffect(() => void readServers(), [status.value]);
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
          keyOf={({ id }) => id}
        >
          {(plugin) => <OnePlugin plugin={plugin} />}
        </List>
      </section>
      <Servers />
    </ViewFrame>
  );
}

function Servers() {
  const isAdding = useSignal(false);
  const add = useRef<HTMLButtonElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const now = servers.value;
  const isStarting = Array.isArray(now) && now.some(({ state }) => state === "starting");
  useEffect(() => {
    if (isStarting) soon("starting MCP servers", STARTING_MS, () => void readServers());
  }, [now]);
  const toTitle = (): void => title.current?.focus();
  return (
    <section class="part">
      <h2 ref={title} tabindex={-1}>
        MCP servers
      </h2>
      <List
        items={servers.value}
        none={
          <>
            No MCP server is set up. A server brings tools: files, a calendar, a browser.{" "}
            <a href="/docs/mcp-servers" target="_blank" rel="noopener">
              About MCP servers
            </a>
          </>
        }
        name="MCP servers"
        keyOf={({ name }) => name}
      >
        {(server) => <ServerItem server={server} onRemoved={toTitle} />}
      </List>
      {isAdding.value ? (
        <ServerForm
          name={null}
          before={null}
          onDone={(saved) => {
            isAdding.value = false;
            if (saved !== null) toTitle();
            else requestAnimationFrame(() => add.current?.focus());
          }}
        />
      ) : (
        <button type="button" class="quiet edged add-server" ref={add} onClick={() => (isAdding.value = true)}>
          Add an MCP server
        </button>
      )}
    </section>
  );
}

interface ListProps<T> {
  readonly items: readonly T[] | null | "failed";
  readonly none: ComponentChildren;
  readonly name: string;
  readonly keyOf: (item: T) => string;
  readonly children: (item: T) => preact.JSX.Element;
}

function List<T>({ items, none, name, keyOf, children }: ListProps<T>) {
  if (items === null) return <p class="about">Reading…</p>;
  if (items === "failed") return <p class="about">This could not be read. Is the gateway connected?</p>;
  if (items.length === 0) return <p class="about">{none}</p>;
  return (
    <ul class="tool-list" aria-label={name}>
      {items.map((item) => (
        <li key={keyOf(item)}>{children(item)}</li>
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
