/** A state directory in which things have happened: turns of several people, agents and models over some days, for the views of the web console. */
import type { AgentId, InboxId, Principal, SessionKey, TurnId } from "../src/contracts/ids.ts";
import type { Store } from "../src/contracts/store.ts";
import type { UsageOrigin } from "../src/contracts/store/usage.ts";
import { systemClock } from "../src/kit/clock.ts";
import { systemIds } from "../src/kit/ids.ts";
import { silentLog } from "../src/kit/log.ts";
import { openStore } from "../src/store/index.ts";
import { job } from "../src/testing/automation/job-fixture.ts";
import { ended, fire } from "../src/testing/contracts/automation/job-contract.ts";
import { storeUrlOf } from "../src/testing/postgres/home-database.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface Said {
  readonly text: string;
  readonly hoursAgo: number;
  readonly by: readonly [channel: string, principal: string, name: string];
  readonly agent: string;
  readonly model: string;
  readonly origin: UsageOrigin;
  readonly costUsd: number;
  readonly tool?: readonly [name: string, input: unknown, status: "success" | "error"];
  readonly fails?: string;
}

const OWNER = ["webchat", "operator", "Owner"] as const;
const ADA = ["telegram", "telegram:user:11", "Ada"] as const;
const LARGE = "anthropic/claude-opus-4-8";
const SMALL = "openai/gpt-5.4-mini";

/** Newest first. What is said contains markup, which must be shown as it is. */
export const SAID: readonly Said[] = [
  {
    text: "Which <b>plants</b> need water today?",
    hoursAgo: 1,
    by: OWNER,
    agent: "default",
    model: LARGE,
    origin: "chat",
    costUsd: 0.084,
    tool: ["web_search", { query: "ficus" }, "success"],
  },
  {
    text: "Summarise the report on page 3",
    hoursAgo: 3,
    by: ADA,
    agent: "papers",
    model: SMALL,
    origin: "chat",
    costUsd: 0.012,
    fails: "provider_down",
  },
  {
    text: "Run the tests again",
    hoursAgo: 5,
    by: OWNER,
    agent: "default",
    model: LARGE,
    origin: "chat",
    costUsd: 0.31,
    tool: ["bash", { command: "npm test" }, "error"],
  },
  {
    text: "مرحبا، ما حال الطقس؟",
    hoursAgo: 26,
    by: ADA,
    agent: "default",
    model: SMALL,
    origin: "group",
    costUsd: 0.02,
  },
  {
    text: "Translate this letter",
    hoursAgo: 30,
    by: ADA,
    agent: "papers",
    model: SMALL,
    origin: "chat",
    costUsd: 0.05,
  },
  { text: "Plan the week", hoursAgo: 50, by: OWNER, agent: "default", model: LARGE, origin: "cron", costUsd: 0.22 },
  {
    text: "Look at the mail",
    hoursAgo: 75,
    by: OWNER,
    agent: "default",
    model: SMALL,
    origin: "heartbeat",
    costUsd: 0.004,
  },
];

/** The ids are `seed-1`, `seed-2`, … in their order. */
export async function seedViews(home: string, said: readonly Said[] = SAID): Promise<void> {
  await using store = await openStore(
    { clock: systemClock, ids: systemIds, log: silentLog },
    { home, url: await storeUrlOf(home) },
  );
  const now = systemClock.now();
  for (const [index, one] of said.entries().toArray().toReversed()) await addTurn(store, `seed-${index + 1}`, one, now);
  await store.pairings.put({
    id: "pair-ada",
    channel: "telegram",
    account: "default",
    principal: "telegram:user:11" as Principal,
    name: "Ada",
    digest: "none",
    state: "approved",
    createdAt: now - 90 * HOUR_MS,
    expiresAt: now - 89 * HOUR_MS,
    decidedAt: now - 90 * HOUR_MS,
    decidedBy: "operator" as Principal,
  });
  const water = job({ id: "water-plants", createdAt: now - HOUR_MS, nextAt: now - HOUR_MS });
  await store.jobs.add(water);
  await store.jobs.fire([fire(water, { nextAt: now + HOUR_MS })]);
  const failed = { status: "failed", reason: "The model did not answer.", at: now } as const;
  await store.jobs.end(`run-water-plants-${water.nextAt}`, ended({ ...water, nextAt: now + HOUR_MS }, failed));
}

async function addTurn(store: Store, id: string, said: Said, now: number): Promise<void> {
  const { text, by, agent, model, origin, costUsd, tool, fails } = said;
  const [channel, principal, name] = by;
  const at = now - said.hoursAgo * HOUR_MS;
  const turnId = id as TurnId;
  const sessionKey = `agent:${agent}:${channel}:dm:${id}` as SessionKey;
  const agentId = agent as AgentId;
  const to = { channel, account: "default", chat: id };
  const sender = { principal: principal as Principal, name };
  const message = {
    eventId: id,
    fingerprint: id,
    address: to,
    scope: "dm",
    sender,
    text,
    quoted: [],
    attachments: [],
    mentioned: true,
    receivedAt: at,
  } as const;
  await store.inbox.accept({ id: id as InboxId, sessionKey, agentId, role: "owner", priority: 10, message });
  await store.turns.begin({ turnId, sessionKey, agentId, inboxIds: [id as InboxId], at: at + 400 });
  if (tool) {
    const [called, input, status] = tool;
    await store.toolCalls.intend({
      id: `call-${id}`,
      callId: id,
      scope: `turn:${id}`,
      turnId,
      sessionKey,
      principal: sender.principal,
      tool: called,
      origin: "chat",
      path: "pipe",
      paramsHash: id,
      input,
      idempotent: true,
      waiting: false,
      at: at + 1_500,
    });
    await store.toolCalls.settle(`call-${id}`, {
      status,
      output: status === "error" ? "2 tests failed" : "found",
      ms: 640,
    });
  }
  const usage = {
    inputTokens: Math.round(costUsd * 40_000),
    cachedTokens: 0,
    outputTokens: Math.round(costUsd * 4_000),
    costUsd,
  };
  await store.turns.finish({
    turnId,
    attempt: 1,
    outcome: fails ? "failed" : "done",
    reply: [
      {
        part: 0,
        message: { text: fails ? "The model did not answer." : `Answer to: ${text}`, kind: fails ? "notice" : "reply" },
      },
    ],
    to,
    usage,
    model,
    settledBytes: 10,
    spans: spansOf(said),
    spent: {
      id,
      day: new Date(at).toISOString().slice(0, 10),
      agentId,
      principal: sender.principal,
      origin,
      model,
      usage,
    },
    at: at + 4_200,
    ...(fails ? { error: { code: fails, detail: "no answer" } } : {}),
  });
  await store.outbox.markSent(`${id}:0`, at + 4_450);
}

function spansOf({ model, tool, fails }: Said) {
  const note = fails
    ? "failed 529, sent again 2 times, 0 tokens in, 0 out"
    : "answered 200, 3360 tokens in (1200 cached), 336 out";
  const first = [{ name: "first_token", startMs: 430, ms: 620 }];
  return [
    { name: "queued", startMs: 0, ms: 400 },
    { name: "lease", startMs: 400, ms: 30 },
    { name: "first_token", startMs: 430, ms: 620 },
    { name: `model:${model}`, startMs: 430, ms: 1_050, note, children: first },
    { name: "generate", startMs: 1_050, ms: 3_150 },
    ...(tool
      ? [
          { name: `tool:${tool[0]}`, startMs: 1_500, ms: 640 },
          { name: `model:${model}`, startMs: 2_150, ms: 2_040, note },
        ]
      : []),
  ];
}
