/** The end of a tool that went on after its turn: who is woken by it, and who hears of it later. */
import { expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import type { SystemEvent, Wake } from "../contracts/automation/system-event.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import { secret } from "../kit/secret.ts";
import { NO_TURN } from "../contracts/tools/tool.ts";
import { createRedactor } from "../observe/index.ts";
import { originOf } from "../tools/index.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { type BackgroundEndDeps, reportBackgroundEnd } from "./background-end.ts";

const ANN = "telegram:user:7" as Principal;
const SESSION = "agent:default:telegram:dm:7" as SessionKey;
const CALLER: Caller = {
  principal: ANN,
  role: "member",
  cause: "chat",
  turnId: "t1" as TurnId,
  agentId: "default" as AgentId,
  sessionKey: SESSION,
  origin: { channel: "telegram", account: "default", chat: "7" },
};
const END = {
  id: "call-1",
  tool: "dig",
} as const;

const SECRET = "0p3rator-Qx7vLm2Kd9Tz4Rb8";
const redactor = createRedactor();
redactor.add(secret(SECRET));

type Put = {
  readonly event: Pick<SystemEvent, "id" | "kind" | "text"> & { readonly real?: string };
  readonly wake: Wake | undefined;
};

/** `role`: what the caller has in this chat by now; null: nothing any more. */
async function told(
  role: Role | null,
  caller: Caller = CALLER,
  { fail = false, text = "a coin", kept }: { fail?: boolean; text?: string; kept?: string } = {},
) {
  const put: Put[] = [];
  const log = recordingLog();
  const deps = {
    log,
    mask: redactor.mask,
    sessionChats: { at: async () => ({ sessionKey: SESSION, agentId: "default", to: CALLER.origin, scope: "dm" }) },
    roleOf: () => role,
    systemEvents: {
      async put(event: Put["event"], { wake }: { wake?: Wake }) {
        if (fail) throw new Error("the disk is full");
        put.push({ event, wake });
      },
    },
  } as unknown as BackgroundEndDeps;
  const result = { content: [{ type: "text", text }] } as const;
  const outcome = { kind: "ok", result, ...(kept === undefined ? {} : { kept }) } as const;
  await reportBackgroundEnd(deps, { ...END, caller, outcome });
  return { put, log };
}

test("a caller who may use the gateway is woken, with the role they have now", async () => {
  const { put } = await told("guest");
  expect(put).toMatchObject([
    { event: { id: "tool:call-1", kind: "news" }, wake: { principal: ANN, role: "guest", text: expect.any(String) } },
  ]);
});

test("a caller who may not use the gateway any more wakes nobody; the end is part of the next turn", async () => {
  const { put } = await told(null);
  expect(put.map(({ event, wake }) => [event.id, wake])).toEqual([["tool:call-1", undefined]]);
});

test.each(["api", "mcp"] as const)(
  "a program that called from outside of chats (%s) is not told: it asks again with its call id",
  async (via) => {
    const channel = via === "mcp" ? "mcp" : "telegram";
    const caller = { ...CALLER, turnId: NO_TURN, origin: { ...CALLER.origin, channel } };
    expect([originOf(caller), (await told("owner", caller)).put]).toEqual([via, []]);
  },
);

test("an end that cannot be stored is said in the log, and nobody else is disturbed", async () => {
  const { log } = await told("owner", CALLER, { fail: true });
  expect(log.lines).toMatchObject([{ level: "warn", fields: { tool: "dig", toolCallId: "call-1" } }]);
});

test("an end that is too long is cut between secrets", async () => {
  const { put } = await told("owner", CALLER, { text: `${"x".repeat(3_990)}${SECRET}` });
  expect(put[0]?.event.text).toEndWith(`has finished.\n${"x".repeat(3_990)}`);
});

test("an end that a plugin wants to be kept as another text is kept as that, and the real one is told", async () => {
  const { put } = await told("owner", CALLER, { text: "a coin", kept: "something round" });
  expect(put[0]?.event.text).toEndWith("has finished.\nsomething round");
  expect(put[0]?.event.real).toEndWith("has finished.\na coin");
});
