import { describe, expect, test } from "bun:test";
import type { AgentId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { UnaskedMessage } from "../../contracts/store/session-chats.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createCronChannel, deliveryOf } from "./cron-channel.ts";
import { outcomeOf } from "./outcome.ts";
import { readRunAddress, toRunAddress } from "./run-address.ts";

const reply: Pick<OutboxRow, "part" | "outcome" | "message"> = {
  part: 0,
  outcome: "done",
  message: { kind: "reply", text: "x" },
};
const file = { mediaId: "m", name: "n", mimeType: "t", bytes: 1 } as never;

describe("the words of a run", () => {
  type Case = Partial<typeof reply> & {
    readonly delivery?: "announce" | "direct" | "silent";
    readonly posted?: boolean;
  };
  test.each<[string, Case, string]>([
    ["are announced", { delivery: "announce" }, "announce"],
    ["are said as they are", { delivery: "direct" }, "direct"],
    ["are kept", { delivery: "silent" }, "nothing"],
    ["are kept when the agent has sent something", { delivery: "announce", posted: true }, "nothing"],
    ["that the agent sent itself are said as they are", { part: -3, delivery: "announce", posted: true }, "direct"],
    ["that the agent sent itself are kept in a silent job", { part: -3, delivery: "silent" }, "nothing"],
    ["of a failed run are kept", { outcome: "failed", delivery: "direct" }, "nothing"],
    ["of the gateway itself are kept", { message: { kind: "notice", text: "x" }, delivery: "direct" }, "nothing"],
    ["with files are said as they are", { message: { kind: "reply", text: "x", attachments: [file] } }, "direct"],
  ])("%s", (_name, { delivery = "announce", posted = false, ...more }, expected) => {
    expect(deliveryOf({ ...reply, ...more }, { delivery }, posted)).toBe(expected as "direct");
  });
});

test("the address of a run says all that is needed when its job is gone, and nothing else is taken for one", () => {
  const address = { jobId: "tea", delivery: "direct", session: "agent:default:webchat:dm:1" as SessionKey } as const;
  for (const channel of ["cron", "hook"] as const) {
    expect(readRunAddress(toRunAddress(address, channel))).toEqual(address);
    const posted = { ...address, webhook: "ops" };
    expect(readRunAddress(toRunAddress(posted, channel))).toEqual(posted);
  }
  const written = toRunAddress(address, "cron");
  expect(readRunAddress({ ...written, channel: "webchat" })).toBeNull();
  expect(readRunAddress({ ...written, thread: "loud:tea" })).toBeNull();
});

describe("words that are to be posted as well", () => {
  const chat = "agent:default:webchat:dm:1" as SessionKey;
  async function said(more: Partial<OutboxRow>, delivery: "direct" | "silent" = "silent") {
    const sayings: UnaskedMessage[] = [];
    const place = { sessionKey: chat, agentId: "default" as AgentId, scope: "dm" } as const;
    const channel = createCronChannel(
      {
        clock: createFakeClock(),
        sessionChatStore: {
          speakerOf: async () => ({ principal: "operator" as Principal, role: "owner", agentId: place.agentId }),
          hasPosted: async () => false,
          say: async (words) => sayings.push(words) > 0,
        },
        sessionChats: { at: async () => ({ ...place, to: { channel: "webchat", account: "default", chat: "1" } }) },
        systemEvents: { put: async () => undefined },
        outbox: { wake: () => undefined },
        recent: async () => [],
        targetSession: (agent, target) => `agent:${agent}:webhook:${target}` as SessionKey,
      },
      "cron",
    );
    const to = toRunAddress({ jobId: "tea", delivery, session: chat, webhook: "ops" }, "cron");
    const row = { id: "t1:0", turnId: "t1" as TurnId, sessionKey: chat, to, createdAt: 1, ...reply, ...more };
    await channel.send(row as OutboxRow, new AbortController().signal);
    return sayings;
  }

  test("go to the place under an id of their own, however they are delivered otherwise", async () => {
    const target = {
      turnId: "posted-t1:0" as TurnId,
      sessionKey: "agent:default:webhook:ops" as SessionKey,
      to: { channel: "webhook", account: "default", chat: "ops", thread: "job tea" },
      reply: [{ part: 0, message: reply.message }],
    };
    expect(await said({})).toMatchObject([target]);
    expect(await said({}, "direct")).toMatchObject([target, { sessionKey: chat }]);
  });

  test.each<[string, Partial<OutboxRow>]>([
    ["a failed run", { outcome: "failed" }],
    ["the gateway itself", { message: { kind: "notice", text: "x" } }],
    ["a tool in the middle", { part: -2 }],
  ])("are not those of %s", async (_whose, more) => {
    expect(await said(more)).toEqual([]);
  });
});

describe("news of a heartbeat", () => {
  const chat = "agent:default:webchat:dm:1" as SessionKey;
  const DAY = 86_400_000;
  async function saidAfter(
    said: { readonly text: string; readonly at: number },
    jobId: string,
    message = reply.message,
  ) {
    const sayings: UnaskedMessage[] = [];
    const place = { sessionKey: chat, agentId: "default" as AgentId, scope: "dm" } as const;
    const channel = createCronChannel(
      {
        clock: createFakeClock(10 * DAY),
        sessionChatStore: {
          speakerOf: async () => ({ principal: "operator" as Principal, role: "owner", agentId: place.agentId }),
          hasPosted: async () => false,
          say: async (words) => sayings.push(words) > 0,
        },
        sessionChats: { at: async () => ({ ...place, to: { channel: "webchat", account: "default", chat: "1" } }) },
        systemEvents: { put: async () => undefined },
        outbox: { wake: () => undefined },
        recent: async () => [said],
        targetSession: (agent, target) => `agent:${agent}:webhook:${target}` as SessionKey,
      },
      "cron",
    );
    const to = toRunAddress({ jobId, delivery: "direct", session: chat }, "cron");
    const row = { id: "t1:0", turnId: "t1" as TurnId, sessionKey: chat, to, createdAt: 1, ...reply, message };
    await channel.send(row as OutboxRow, new AbortController().signal);
    return sayings.length;
  }

  test("that were said in the chat within a day are not said again; older ones, others, files and those of a job are", async () => {
    const now = 10 * DAY;
    expect(await saidAfter({ text: " x\n", at: now - 1 }, "heartbeat")).toBe(0);
    expect(await saidAfter({ text: "x", at: now - DAY - 1 }, "heartbeat")).toBe(1);
    expect(await saidAfter({ text: "y", at: now - 1 }, "heartbeat")).toBe(1);
    expect(await saidAfter({ text: "x", at: now - 1 }, "tea")).toBe(1);
    expect(await saidAfter({ text: "x", at: now - 1 }, "heartbeat", { ...reply.message, attachments: [file] })).toBe(1);
  });
});

test.each([
  [{ outcome: "done", errorCode: null }, false, { kind: "ran" }],
  [{ outcome: "failed", errorCode: "provider_down" }, false, { kind: "failed", again: true }],
  [{ outcome: "failed", errorCode: "provider_auth" }, false, { kind: "failed", again: false }],
  [{ outcome: "aborted", errorCode: null }, false, { kind: "failed", again: false }],
  [{ outcome: "aborted", errorCode: null }, true, { kind: "failed", again: true }],
] as const)("a turn that ended with %j means %p %j", (result, timedOut, expected) => {
  expect(outcomeOf(result, timedOut)).toMatchObject(expected);
});
