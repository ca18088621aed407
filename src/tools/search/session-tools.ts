/** Tools that are switched on for sessions: kept in the store, so that they outlast processes and the gateway; in memory for those at work. */
import type { SessionKey } from "../../contracts/ids.ts";
import type { SessionTool, SessionToolChange, SessionToolStore } from "../../contracts/store/session-tools.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";

export interface SessionTools {
  /** In the order in which they came. */
  of(sessionKey: SessionKey): Promise<readonly string[]>;
  /** Resolves when it is stored: what a model is told that it can call, it can call after a restart too. */
  switchOn(sessionKey: SessionKey, tools: readonly string[]): Promise<void>;
  /** It was called there. Stored a little later; never rejects. */
  noteUse(sessionKey: SessionKey, tool: string): void;
  /** Called with the session whose tools are others now. */
  onChange(listener: (sessionKey: SessionKey) => void): Disposable;
}

interface SessionToolsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: SessionToolStore;
}

/** Of one session. Of more, those that were neither found nor called for the longest time are switched off. */
export const MAX_SESSION_TOOLS = 60;
const MAX_SESSIONS = 500;
/** A call of a tool that is on already is written down this often. */
const USE_NOTED_EVERY_MS = 3_600_000;

export function createSessionTools({ clock, log, store }: SessionToolsDeps): SessionTools {
  const known = new Map<SessionKey, readonly SessionTool[]>();
  const listeners = new Set<(sessionKey: SessionKey) => void>();
  let queue: Promise<unknown> = Promise.resolve();

  const remember = (key: SessionKey, tools: readonly SessionTool[]): void => {
    known.delete(key); // the last one is the newest
    known.set(key, tools);
    const oldest = known.size > MAX_SESSIONS ? known.keys().next() : null;
    if (oldest && !oldest.done) known.delete(oldest.value);
  };
  const toolsOf = async (key: SessionKey): Promise<readonly SessionTool[]> => {
    const read = known.has(key) ? [] : await store.list(key);
    const tools = known.get(key) ?? read; // a change may have been quicker, and then what was read is older
    remember(key, tools);
    return tools;
  };
  /** One at a time: each builds on what the one before has left. */
  const change = (key: SessionKey, names: readonly string[]): Promise<void> => {
    const next = queue.then(async () => {
      const before = await toolsOf(key);
      const { tools, on, off } = switchedOn(before, names, clock.now());
      if (on.length + off.length === 0) return;
      await store.save(key, { on, off });
      remember(key, tools);
      if (tools.length === before.length && off.length === 0) return;
      for (const listener of listeners) listener(key);
    });
    queue = next.catch(() => undefined); // whoever asked for it sees the failure
    return next;
  };

  return {
    of: async (key) => (await toolsOf(key)).map(({ tool }) => tool),
    switchOn: change,
    noteUse(key, tool) {
      const now = known.get(key)?.find((one) => one.tool === tool);
      if (now && clock.now() - now.at < USE_NOTED_EVERY_MS) return;
      background(log, "a tool of a session was not noted", () => change(key, [tool]));
    },
    onChange(listener) {
      const own = (key: SessionKey): void => listener(key);
      listeners.add(own);
      return { [Symbol.dispose]: () => void listeners.delete(own) };
    },
  };
}

interface SwitchedOn extends SessionToolChange {
  readonly tools: readonly SessionTool[];
}

/** New ones come last; those that are on keep their place. Pure. */
export function switchedOn(before: readonly SessionTool[], names: readonly string[], at: number): SwitchedOn {
  const wanted = [...new Set(names)].slice(0, MAX_SESSION_TOOLS);
  let last = before.at(-1)?.position ?? 0;
  const known = new Map(before.map((one) => [one.tool, one]));
  const on = wanted.map((tool) => ({ tool, position: known.get(tool)?.position ?? ++last, at }));
  for (const one of on) known.set(one.tool, one);
  const all = [...known.values()];
  const tooMany = all.length - MAX_SESSION_TOOLS;
  const others = all.filter(({ tool }) => !wanted.includes(tool)).toSorted((a, b) => a.at - b.at);
  const off = others.slice(0, Math.max(0, tooMany)).map(({ tool }) => tool);
  const tools = all.filter(({ tool }) => !off.includes(tool)).toSorted((a, b) => a.position - b.position);
  return { tools, on, off };
}
