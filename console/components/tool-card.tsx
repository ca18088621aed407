/** One tool call: folded to a line, open to what went in and came out. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ToolStatus } from "../../src/contracts/chat.ts";
import { took } from "../net/error-text.ts";
import { pretty } from "../text/pretty.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Verbatim } from "./parts/verbatim.tsx";

interface ToolCall {
  readonly tool: string;
  readonly status: ToolStatus;
  readonly input?: unknown;
  /** What the caller wrote, where the tool ran with something else. */
  readonly asked?: unknown;
  /** Newest line of what it says while it runs. */
  readonly progress?: string;
  readonly output?: string;
  readonly ms?: number;
}

const LOOKS: Readonly<Record<ToolStatus, { readonly icon: IconName; readonly word: string }>> = {
  running: { icon: "spinner", word: "running" },
  pending: { icon: "clock", word: "waiting for approval" },
  success: { icon: "check", word: "done" },
  error: { icon: "alert", word: "failed" },
  blocked: { icon: "blocked", word: "not allowed" },
  unknown: { icon: "unknown", word: "outcome unknown" },
};
const SHOWN_CHARS = 2_000;

interface Props {
  readonly call: ToolCall;
  /** When it was called, where the conversation around it does not say so. */
  readonly at?: ComponentChildren;
  /** Besides what went in and came out. */
  readonly more?: ComponentChildren;
}

export function ToolCard({ call, at, more }: Props) {
  const [open, setOpen] = useState(false);
  const look = LOOKS[call.status];
  return (
    <div class="tool" data-testid="tool-card" data-status={call.status}>
      <button type="button" class="tool-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="tool-status">
          <Icon name={look.icon} size={16} />
        </span>
        <code class="tool-name">{call.tool}</code>
        <span class="tool-word">{look.word}</span>
        {call.status === "running" && call.progress && (
          <span class="tool-progress" data-testid="tool-progress" dir="auto">
            {call.progress}
          </span>
        )}
        {call.ms !== undefined && <span class="tool-ms">{took(call.ms)}</span>}
        {at}
        <Icon name="chevron" size={16} />
      </button>
      {open && (
        <div class="tool-body">
          {more}
          {call.asked !== undefined && <Value label="Input as written" text={pretty(call.asked)} />}
          <Value label="Input" text={pretty(call.input)} />
          <Value label="Output" text={call.output === undefined ? "" : pretty(call.output)} />
        </div>
      )}
    </div>
  );
}

function Value({ label, text }: { readonly label: string; readonly text: string }) {
  const [all, setAll] = useState(false);
  const long = text.length > SHOWN_CHARS;
  return (
    <section>
      <h3 class="label">{label}</h3>
      {text ? (
        <Verbatim name={label}>{long && !all ? `${text.slice(0, SHOWN_CHARS)}…` : text}</Verbatim>
      ) : (
        <p class="faint">nothing yet</p>
      )}
      {long && (
        <button type="button" class="quiet small" onClick={() => setAll(!all)}>
          {all ? "Show less" : `Show all ${text.length.toLocaleString()} characters`}
        </button>
      )}
    </section>
  );
}
