/** One MCP server: how it is and what it brings; tried, changed, switched off and on, and removed here. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { McpServerStatus } from "../../../../src/contracts/mcp.ts";
import { changeServer, serverSettings } from "../../../state/servers-state.ts";
import { testServer } from "../../../state/system-state.ts";
import { Icon } from "../../icons.tsx";
import { AskFirst } from "../../parts/ask-first.tsx";
import { Problem, useAction } from "../../parts/use-action.tsx";
import { ServerForm } from "./server-form.tsx";
import { ServerTools } from "./server-tools.tsx";

interface Props {
  readonly server: McpServerStatus;
  readonly onRemoved: () => void;
}

export function ServerItem({ server, onRemoved }: Props) {
  const { name, state, tools, trouble, notices, server: says } = server;
  const isChanging = useSignal(false);
  const title = useRef<HTMLHeadingElement>(null);
  const settings = serverSettings.value?.[name] ?? null;
  const isWell = trouble === null;
  return (
    <div class="tool card" data-testid="mcp-server" data-server={name} data-status={isWell ? "success" : "error"}>
      <h3 ref={title} tabindex={-1}>
        <span class="tool-status">
          <Icon name={isWell ? "check" : "alert"} size={16} />
        </span>
        {name}
        <small dir="auto">
          {state}
          {state === "off" ? "" : `, ${tools.length === 1 ? "1 tool" : `${tools.length} tools`}`}
          {says === "" ? "" : `, ${says}`}
        </small>
      </h3>
      {[...(trouble === null ? [] : [trouble]), ...notices].map((text) => (
        <p class="tool-reason" key={text} dir="auto">
          {text}
        </p>
      ))}
      {tools.length > 0 && !isChanging.value && (
        <details>
          <summary>{`Tools of ${name}`}</summary>
          <ServerTools server={{ ...server, notices: [] }} />
        </details>
      )}
      {isChanging.value && settings ? (
        <ServerForm
          name={name}
          before={settings}
          onDone={() => {
            isChanging.value = false;
            title.current?.focus();
          }}
        />
      ) : (
        <Buttons server={server} onChange={() => (isChanging.value = true)} onRemoved={onRemoved} />
      )}
    </div>
  );
}

function Buttons({ server, onChange, onRemoved }: Props & { readonly onChange: () => void }) {
  const { name, state } = server;
  const { busy, problem, run } = useAction();
  const isOff = state === "off";
  const path = ["mcp", "servers", name];
  return (
    <>
      <AskFirst
        verb="Remove"
        to={name}
        question={`Take ${name} out of the settings? Its tools are gone at once. Files that it wrote stay in programs/mcp-${name}/ of the state directory.`}
        act={() => changeServer(name, { path })}
        onDone={onRemoved}
      >
        {!isOff && (
          <button
            type="button"
            class="quiet small edged"
            disabled={busy}
            aria-label={`Test ${name}`}
            onClick={() => void run(() => testServer(name))}
          >
            Test
          </button>
        )}
        <button
          type="button"
          class="quiet small edged"
          disabled={busy || serverSettings.value === null}
          aria-label={`Change ${name}`}
          onClick={onChange}
        >
          Change
        </button>
        <button
          type="button"
          class="quiet small edged"
          disabled={busy}
          aria-label={`Switch ${isOff ? "on" : "off"} ${name}`}
          onClick={() => void run(() => changeServer(name, { path: [...path, "enabled"], value: isOff }))}
        >
          Switch {isOff ? "on" : "off"}
        </button>
      </AskFirst>
      <Problem text={problem} />
    </>
  );
}
