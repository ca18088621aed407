/** The newest lines of the log, by level and words, followed while somebody looks. */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { LogEntry } from "../../../src/contracts/system-api.ts";
import { logs, readLogLines } from "../../state/system-state.ts";
import { FindField } from "../parts/find-field.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";
import { dateText } from "../../text/dates.ts";

const AGAIN_MS = 2_000;
const TYPED_MS = 250;
/** This close to the end counts as being there. */
const AT_END_PX = 60;
const LEVELS = { debug: "Everything", info: "Info and above", warn: "Warnings and errors", error: "Errors" } as const;

export function LogsView() {
  const level = useSignal<string>("info");
  const typed = useSignal("");
  const module = useSignal("");
  const follow = useSignal(true);
  useEffect(() => {
    const read = () => void readLogLines(level.value, module.value, typed.value);
    const first = setTimeout(read, TYPED_MS);
    const again = follow.value ? setInterval(read, AGAIN_MS) : undefined;
    return () => {
      clearTimeout(first);
      clearInterval(again);
    };
  }, [level.value, module.value, typed.value, follow.value]);
  return (
    <ViewFrame name="System" testId="logs-view" tabs={SYSTEM_TABS}>
      <h2 class="hidden">Logs</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Narrow the log">
        <select aria-label="Level" value={level.value} onChange={(event) => (level.value = event.currentTarget.value)}>
          {Object.entries(LEVELS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        <select
          aria-label="Module"
          value={module.value}
          onChange={(event) => (module.value = event.currentTarget.value)}
        >
          <option value="">Any module</option>
          {modulesWith(module.value).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <FindField
          name="Find in the log"
          placeholder="Words or request id"
          value={typed.value}
          onTyped={(text) => (typed.value = text)}
        />
        <button
          type="button"
          class={`quiet small edged${follow.value ? " chosen" : ""}`}
          aria-pressed={follow.value}
          onClick={() => (follow.value = !follow.value)}
        >
          Follow
        </button>
      </form>
      <Lines />
    </ViewFrame>
  );
}

/** Those that the newest lines name, and the one that is chosen. */
function modulesWith(chosen: string): readonly string[] {
  const now = logs.value;
  const seen = now === null || now === "failed" ? [] : now.modules;
  return chosen === "" || seen.includes(chosen) ? seen : [chosen, ...seen];
}

function Lines() {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const now = logs.value;
  useLayoutEffect(() => {
    const element = box.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [now]);
  if (now === null) return <p class="list-note">Reading…</p>;
  if (now === "failed") return <p class="list-note">The log could not be read. Is the gateway connected?</p>;
  const onScroll = (event: Event) => {
    const { scrollHeight, scrollTop, clientHeight } = event.currentTarget as HTMLElement;
    atEnd.current = scrollHeight - scrollTop - clientHeight < AT_END_PX;
  };
  return (
    <>
      {now.lines.length === 0 && (
        <p class="list-note">No line matches among the newest {now.searched.toLocaleString()}.</p>
      )}
      <div
        class="log-lines"
        ref={box}
        tabindex={0}
        role="region"
        aria-label="Log"
        onScroll={onScroll}
        data-testid="log"
      >
        {now.lines.map((entry, index) => (
          <Line key={`${entry.time} ${index}`} entry={entry} />
        ))}
      </div>
    </>
  );
}

function Line({ entry: { time, level, msg, fields } }: { readonly entry: LogEntry }) {
  const more = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return (
    <p data-level={level}>
      <time dateTime={time} title={time}>
        {dateText(new Date(time), "second")}
      </time>
      <b>{level}</b>
      <span>{msg}</span>
      <span class="log-fields">{more.join("  ")}</span>
    </p>
  );
}
