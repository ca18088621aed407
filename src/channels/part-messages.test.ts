/** A channel that sends a part as several messages says how far it came; nothing that stands around a channel may hide that. */
import { expect, test } from "bun:test";
import type { Channel, PartMessages } from "../contracts/channel.ts";
import type { OpenChannel, PlatformDeps } from "../contracts/channels/platform.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import { silentLog } from "../kit/log.ts";
import { createChannelRegistry } from "./channel-registry.ts";
import { fenced } from "./plugin-platform.ts";
import { createSwitchboard } from "./switchboard.ts";

const NEVER = new AbortController().signal;
const part = { id: "turn_1:0", to: { channel: "x", account: "two", chat: "c" } } as OutboxRow;

function openChannel(account: string, messages: PartMessages): OpenChannel {
  return {
    id: "x",
    account,
    canRefuse: false,
    repeat: "risky",
    messages,
    send: async () => ({}),
    ready: () => true,
    health: () => ({ ok: true, detail: "" }),
    async [Symbol.asyncDispose]() {},
  };
}

const two = openChannel("two", { delivered: async () => 3, skip: async ({ id }) => id === part.id });
const one = openChannel("one", { delivered: async () => 1, skip: async () => false });

function registryWith(channel: Channel) {
  const channels = createChannelRegistry();
  channels.register(channel);
  return channels;
}

test.each([
  ["the switchboard of its accounts", async () => createSwitchboard("x", [one, two], null)],
  [
    "the fence around a plugin's channel",
    async () => (await fenced({ id: "x", open: async () => [two] }).open({ log: silentLog } as PlatformDeps, NEVER))[0],
  ],
  ["the registry of channels", async () => registryWith(two).get("x")],
] as const)("how far a part has come is known through %s", async (_name, around) => {
  const channel = await around();
  expect(await channel?.messages?.delivered(part, NEVER)).toBe(3);
  expect(await channel?.messages?.skip(part, NEVER)).toBe(true);
});

test("the switchboard does not guess how far a part of an absent account has come", async () => {
  const away = { ...part, to: { ...part.to, account: "gone" } };
  const { messages } = createSwitchboard("x", [one, two], null);
  await expect(messages?.delivered(away, NEVER)).rejects.toThrow("no account gone is open");
  await expect(messages?.skip(away, NEVER)).rejects.toThrow("no account gone is open");
  const questions = { maxButtons: 1, maxLabelChars: 1, show: async () => ({ messageId: null, close: async () => {} }) };
  const asking = createSwitchboard("x", [{ ...one, questions }], null);
  await expect(asking.questions?.show({ to: away.to } as never, NEVER)).rejects.toThrow("no account gone is open");
});
