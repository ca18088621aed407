/** Words that wake a session: whose rights they have, where they go, and what is refused before anything is stored. */
import { describe, expect, test } from "bun:test";
import type { SystemEvents } from "../contracts/automation/system-event.ts";
import type { SessionChat } from "../contracts/channels/session-chats.ts";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { createTellMain, createWake } from "./wake.ts";

const ANN = "telegram:user:7" as Principal;
const OWNERS = "agent:default:api:dm:operator" as SessionKey;
const HERS = "agent:default:telegram:dm:7" as SessionKey;

function world() {
  const put: unknown[] = [];
  const deps = {
    ids: createSeqIds(),
    sessionChats: {
      at: async (sessionKey: SessionKey) => (sessionKey === HERS ? ({ sessionKey } as SessionChat) : null),
      ofOwner: async () => ({ sessionKey: OWNERS }) as SessionChat,
    },
    systemEvents: {
      put: async ({ sessionKey, source, kind, text }: Record<string, unknown>, { wake = null }: { wake?: unknown }) =>
        void put.push([sessionKey, source, kind, text, wake]),
    } as unknown as SystemEvents,
  };
  return { put, wake: createWake(deps), tellMain: createTellMain(deps) };
}
const by = (sessionKey?: SessionKey) =>
  ({ principal: ANN, role: "member", ...(sessionKey === undefined ? {} : { sessionKey }) }) as never;

describe("a wake", () => {
  test("is a task with the rights of its caller, in the session that was named", async () => {
    const { put, wake } = world();
    expect(await wake({ text: "tea", mode: "now" }, by(HERS))).toEqual({ kind: "ok", sessionKey: HERS });
    expect(put).toEqual([[HERS, "wake", "task", "tea", { principal: ANN, role: "member" }]]);
  });

  test.each([undefined, "agent:default:telegram:dm:none" as SessionKey])(
    "goes to the owner's session when the session %p is not there",
    async (sessionKey) => {
      const { put, wake } = world();
      expect(await wake({ text: "tea", mode: "now" }, by(sessionKey))).toEqual({ kind: "ok", sessionKey: OWNERS });
      expect(put).toHaveLength(1);
    },
  );

  test("for the next turn wakes nobody", async () => {
    const { put, wake } = world();
    await wake({ text: "tea", mode: "next-heartbeat" }, by(HERS));
    expect(put).toEqual([[HERS, "wake", "task", "tea", null]]);
  });
});

test("a part of the gateway tells news, never a task, with the operator's rights", async () => {
  const { put, tellMain } = world();
  expect(await tellMain("plugin weather", { text: "rain", mode: "now" })).toEqual({ kind: "ok", sessionKey: OWNERS });
  expect(put).toEqual([[OWNERS, "plugin weather", "news", "rain", { principal: "operator", role: "owner" }]]);
});

test.each([
  ["", "refused"],
  [" \n", "refused"],
  ["x".repeat(8_001), "refused"],
  ["x".repeat(8_000), "ok"],
])("words of a wake are checked before anything is stored, on both ways", async (text, kind) => {
  const { put, wake, tellMain } = world();
  const kinds = [(await wake({ text, mode: "now" }, by(HERS))).kind, (await tellMain("x", { text, mode: "now" })).kind];
  expect([kinds, put.length] as unknown).toEqual([[kind, kind], kind === "ok" ? 2 : 0]);
});
