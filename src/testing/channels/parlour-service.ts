/** The other side of Parlour: who said what, what is shown, and every way to misbehave. Nothing of it knows the gateway. */
import { deferred, orAborted } from "../../kit/deferred.ts";
import { LIMITED_MS, type PlatformUpdate, type Trouble } from "../contracts/channel-contract.ts";

export interface ParlourUpdate {
  readonly seq: number;
  readonly id: string;
  readonly kind: PlatformUpdate["kind"];
  readonly by: string;
  readonly chat: string;
  readonly group: boolean;
  readonly text: string;
}

type Posted =
  | { readonly kind: "posted"; readonly id: string }
  | { readonly kind: "limited"; readonly retryAfterMs: number }
  | { readonly kind: "gone" }
  | { readonly kind: "cut" };

export interface Parlour {
  // what the channel calls
  connect(): Disposable;
  /** What was not confirmed, oldest first. */
  updates(): Promise<readonly ParlourUpdate[]>;
  confirm(seq: number): void;
  /** Resolves when there is something new. */
  changed(): Promise<void>;
  post(chat: string, text: string, signal: AbortSignal): Promise<Posted>;
  /** Null takes it back. False: the channel has no such message there. */
  change(chat: string, id: string, text: string | null): boolean;
  // what a test does and looks at
  say(update: Omit<ParlourUpdate, "seq">): void;
  confirmed(id: string): boolean;
  shown(chat: string): readonly string[];
  readonly calls: string[];
  trouble: Trouble | null;
  connections(): number;
}

export function createParlour(): Parlour {
  const updates: ParlourUpdate[] = [];
  const messages = new Map<string, { readonly chat: string; text: string }>();
  const calls: string[] = [];
  let confirmedSeq = 0;
  let connections = 0;
  let bell = deferred<void>();
  const never = <T>() => new Promise<T>(() => undefined);
  const service: Parlour = {
    calls,
    trouble: null,
    connect() {
      connections++;
      return { [Symbol.dispose]: () => void connections-- };
    },
    updates: async () =>
      service.trouble === "silent" ? waitFor(service) : updates.filter(({ seq }) => seq > confirmedSeq),
    confirm(seq) {
      confirmedSeq = Math.max(confirmedSeq, seq);
    },
    changed: () => bell.promise,
    async post(chat, text, signal) {
      const { trouble } = service;
      if (trouble === "silent") return orAborted(never(), signal);
      if (trouble === "limited") return { kind: "limited", retryAfterMs: LIMITED_MS };
      if (trouble === "gone") return { kind: "gone" };
      calls.push(`post ${chat} ${text}`);
      const id = String(messages.size + 1);
      messages.set(id, { chat, text });
      return trouble === "cut" ? { kind: "cut" } : { kind: "posted", id };
    },
    change(chat, id, text) {
      const found = messages.get(id);
      if (found?.chat !== chat) return false;
      if (text === null) messages.delete(id);
      else found.text = text;
      return true;
    },
    say(update) {
      updates.push({ ...update, seq: updates.length + 1 });
      bell.resolve();
      bell = deferred();
    },
    confirmed: (id) => updates.some((one) => one.id === id && one.seq <= confirmedSeq),
    shown: (chat) => [...messages.values()].filter((one) => one.chat === chat).map(({ text }) => text),
    connections: () => connections,
  };
  return service;
}

/** A silent service answers nothing for as long as it is silent. */
async function waitFor(service: Parlour): Promise<readonly ParlourUpdate[]> {
  while (service.trouble === "silent") await new Promise((resolve) => setImmediate(resolve));
  return service.updates();
}
