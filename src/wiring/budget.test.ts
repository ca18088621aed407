/** How the owner hears of a budget: in the chat where they were last, once, whatever happens in between. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../config/index.ts";
import type { AgentId, Principal, SessionKey } from "../contracts/ids.ts";
import { createEvents } from "../observe/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { openGatewayBudget } from "./budget.ts";

const DEN = "agent:default:webchat:dm:den" as SessionKey;

test("a limit that is reached is said in the owner's chat once, also when the gateway is started again", async () => {
  const { config } = checkConfigText(JSON.stringify({ budget: { dailyUsd: 1 } }), () => undefined);
  if (!config) throw new Error("not valid");
  const clock = createFakeClock();
  await using real = await realStore(clock);
  const log = recordingLog();
  const events = createEvents({ log });
  const seen: string[] = [];
  let told = Promise.withResolvers<void>();
  events.on("status", ({ what }) => {
    seen.push(what);
    told.resolve();
  });
  const to = { channel: "webchat", account: "default", chat: "den" };
  const home = { sessionKey: DEN, agentId: "default" as AgentId, to, scope: "dm" } as const;
  const parts = {
    ...{ clock, log, events, outbox: () => ({ wake: () => void seen.push("outbox") }) },
    homes: () => ({ ofOwner: async () => home }),
  };
  const work = { agentId: "default" as AgentId, principal: "operator" as Principal, origin: "chat" } as const;
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 2 };
  const said = async (store = real.store) => (await store.sessions.transcript(DEN, { limit: 10 })).items;

  const budget = await openGatewayBudget({ ...parts, store: real.store }, () => config);
  await budget.record(budget.bill(work, { id: "t1", model: "m", usage }));
  await told.promise;
  expect((await said()).map(({ kind, text }) => [kind, text.slice(0, 25)])).toEqual([
    ["notice", "A daily budget is used up"],
  ]);
  expect(seen).toEqual(["outbox", "budget"]);

  told = Promise.withResolvers<void>();
  await clock.advance(60_000);
  const store = await real.reopen();
  const again = await openGatewayBudget({ ...parts, store }, () => config);
  expect(again.ask(work).may).toBe(false);
  await told.promise;
  expect(await said(store)).toHaveLength(1);
});
