/** What MCP clients may want to hear of: changed lists of tools, resources and prompts, and transcripts that have grown. Bursts are told once. */
import type { Events } from "../../contracts/events.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import type { McpSurface } from "../../contracts/plugin.ts";
import type { ToolGate } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";

interface ChangeDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly gate: Pick<ToolGate, "onChange">;
  readonly surface: Pick<McpSurface, "onChange">;
}

export interface Changes {
  readonly tools: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
  /** Sessions in which something was said. */
  readonly sessions: readonly SessionKey[];
}

type ListName = "tools" | "resources" | "prompts";

/** A plugin registers its tools one by one. */
const BURST_MS = 50;
/** More than these are said to have changed with the list they are in. */
const MAX_SESSIONS = 1_000;

export function watchChanges(
  { clock, events, gate, surface }: ChangeDeps,
  tell: (changes: Changes) => void,
): Disposable {
  const over = new AbortController();
  const lists = new Set<ListName>();
  const sessions = new Set<SessionKey>();
  let waiting = false;
  const flush = (): void => {
    waiting = false;
    const [tools, resources, prompts] = [lists.has("tools"), lists.has("resources"), lists.has("prompts")];
    const changes = { tools, resources, prompts, sessions: [...sessions] };
    lists.clear();
    sessions.clear();
    tell(changes);
  };
  const touch = (...changed: readonly ListName[]): void => {
    for (const list of changed) lists.add(list);
    if (waiting) return;
    waiting = true;
    clock.sleep(BURST_MS, over.signal).then(flush, () => undefined); // stopped: nobody is left to be told
  };
  const said = ({ sessionKey }: { readonly sessionKey: SessionKey }): void => {
    if (sessions.size < MAX_SESSIONS) sessions.add(sessionKey);
    touch();
  };
  const subscriptions = [
    gate.onChange(() => touch("tools")),
    surface.onChange(() => touch("resources", "prompts")),
    events.on("status", ({ what }) => {
      if (what === "plugins") touch("prompts"); // their commands
      if (what === "sessions") touch("resources");
    }),
    events.on("message", said),
    events.on("turn.ended", said),
  ];
  return {
    [Symbol.dispose]() {
      over.abort(new Error("the MCP door is closed"));
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
    },
  };
}
