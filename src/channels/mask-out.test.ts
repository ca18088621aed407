/** Every way of a text through a channel, by the methods a channel has: none passes with a secret. */
import { expect, test } from "bun:test";
import type { Channel } from "../contracts/channel.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import type { MediaId, Principal, SessionKey } from "../contracts/ids.ts";
import { NO_MASK } from "../kit/secret.ts";
import { maskOut } from "./mask-out.ts";

const SECRET = "operator-token-42";
const mask = { ...NO_MASK, text: (text: string) => text.replaceAll(SECRET, "[redacted]") };
const NEVER = new AbortController().signal;
const target = { to: { channel: "app", account: "a", chat: "1" }, sessionKey: "s" as SessionKey, messageId: "5" };
const file = { mediaId: "m" as MediaId, name: `${SECRET}.png`, mimeType: "image/png", bytes: 1 };
const part = {
  id: "t:0",
  message: { text: `it is ${SECRET}`, kind: "reply", attachments: [file] },
} as unknown as OutboxRow;

/** What each method of a channel is given to show; null: nothing that a model has said. A new method has to say here what it shows. */
const SHOWN: Readonly<Record<keyof Channel, ((channel: Channel) => unknown) | null>> = {
  send: (channel) => channel.send(part, NEVER),
  edit: (channel) => channel.edit?.(target, `now ${SECRET}`, NEVER),
  react: (channel) => channel.react?.(target, { emoji: [SECRET], remove: false }, NEVER),
  messages: async (channel) => {
    await channel.messages?.delivered(part, NEVER); // both count the messages of a part as it is sent
    await channel.messages?.skip(part, NEVER);
  },
  questions: (channel) => {
    const asked = { id: "q", to: target.to, of: "ann" as Principal, sessionKey: target.sessionKey };
    return channel.questions?.show({ ...asked, text: `use ${SECRET}?`, labels: [SECRET, "no"] }, NEVER);
  },
  id: null,
  canRefuse: null,
  repeat: null,
  dedupeMs: null,
  whenLost: null,
  ready: null,
  delete: null,
  pin: null,
  ownIds: null, // they carry ids
  health: null, // for the owner: status.ts masks it
};

function recording(): { readonly channel: Channel; readonly seen: unknown[] } {
  const seen: unknown[] = [];
  const note = (...given: unknown[]) => void seen.push(given.slice(0, -1));
  const channel: Channel = {
    id: "app",
    canRefuse: true,
    repeat: "safe",
    ready: () => true,
    health: () => ({ ok: true, detail: "" }),
    async send(...given) {
      note(this.id, ...given);
      return {};
    },
    async edit(...given) {
      note(this.id, ...given);
      return { kind: "done" };
    },
    async react(...given) {
      note(this.id, ...given);
      return { kind: "done" };
    },
    messages: {
      async delivered(...given) {
        note(...given);
        return 0;
      },
      async skip(...given) {
        note(...given);
        return false;
      },
    },
    questions: {
      maxButtons: 5,
      maxLabelChars: 20,
      async show(...given) {
        note(this.maxButtons, ...given);
        return { messageId: null, close: async () => undefined };
      },
    },
  };
  return { channel, seen };
}

test.each(Object.entries(SHOWN).flatMap(([name, show]) => (show ? [[name, show] as const] : [])))(
  "a channel that is given something by %s gets no secret with it",
  async (_name, show) => {
    const { channel, seen } = recording();
    await show(maskOut({ mask }, channel));
    expect(seen.length).toBeGreaterThan(0);
    for (const one of seen) {
      expect(JSON.stringify(one)).not.toContain(SECRET);
      expect(JSON.stringify(one)).toContain("[redacted]");
    }
  },
);

test("a channel keeps what it is and what it cannot do", () => {
  const { channel } = recording();
  const { edit: _edit, react: _react, questions: _questions, ...bare } = channel;
  const masked = maskOut({ mask }, bare as Channel);
  expect([masked.id, masked.repeat, masked.ready(), masked.health().ok]).toEqual(["app", "safe", true, true]);
  expect([masked.edit, masked.react, masked.questions]).toEqual([undefined, undefined, undefined]);
  expect(maskOut({ mask }, channel).questions?.maxButtons).toBe(5);
});
