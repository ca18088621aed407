/** Conversations with a model, a memory and a name of their own, in a whole gateway with real pi. What the provider receives is the proof. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { SessionSummary } from "../src/contracts/chat.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import type { UsageSum } from "../src/contracts/store/usage.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { agentPids, asked, endpoint, eventually, keyOf, runs, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const OTHER_KEY = "the-other-key-7781";
/** Longer than what pi leaves as it is when it summarises. */
const LONG = "a long story about words ".repeat(4_000);

let provider: FakeProvider;
let other: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;
let reply: (request: ProviderRequest, index: number) => FakeReply = () => says("noted");

const isSummary = (request: ProviderRequest): boolean => JSON.stringify(request.messages).includes("<conversation>");

function config() {
  const base = endpoint(provider);
  const models = ["fake-1", "fake-2"].map((id) => ({ id, reasoning: true, contextWindow: 64_000 }));
  return {
    agent: { ...base.agent, pool: { min: 0, max: 1 } },
    roles: { owners: ["telegram:user:41"], members: [] },
    models: {
      providers: {
        fake: { ...base.models.providers.fake, models },
        other: { baseUrl: other.baseUrl, apiKey: OTHER_KEY, models: [{ id: "far-1" }] },
      },
    },
  };
}

beforeAll(async () => {
  provider = await startFakeProvider((request, index) => reply(request, index));
  other = await startFakeProvider(() => says("from afar"));
  home = await tempHome();
  gateway = await startGatewayProcess({ home: home.path, config: config() });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

/** The gateway dies and another one takes its place, with all that was said before. */
async function dieAndRise(meanwhile: () => void = () => undefined): Promise<void> {
  await gateway.kill();
  meanwhile();
  gateway = await startGatewayProcess({ home: home.path });
}

const say = async (text: string, session: string): Promise<string> => {
  const { body } = await gateway.chat(text, { session });
  return body.content ?? JSON.stringify(body);
};
/** What everything has cost, as the gateway's books have it. */
const books = async (): Promise<UsageSum> =>
  ((await (await gateway.fetch("/api/usage?from=2000-01-01")).json()) as { total: UsageSum }).total;
const summary = async (session: string): Promise<SessionSummary> =>
  (
    (await (await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf(session))}`)).json()) as {
      session: SessionSummary;
    }
  ).session;
const shownWith = (words: string): string =>
  (provider.requests.findLast((request) => asked(request).includes(words))?.messages ?? [])
    .filter(({ role }) => role === "user" || role === "assistant")
    .map(({ content }) => textOf(content))
    .join("\n");
const modelAndLevel = (words: string) => {
  const body = provider.requests.findLast((request) => asked(request).includes(words))?.body;
  return [body?.["model"], body?.["reasoning_effort"]];
};

describe("a conversation's own model and thinking level", () => {
  test("hold for it alone, over a death of its process and of the gateway, and so do its name and the roles that were given", async () => {
    await say("hello", "plain");
    await say("/status", "clever");
    await say("plans for Friday", "clever");
    expect((await summary("clever")).title).toBe("plans for Friday");
    await say("/name The big plan", "clever");
    expect(await say("/model fake-2", "clever")).toStartWith("Model: fake/fake-2, for this conversation");
    expect(await say("/think low", "clever")).toStartWith("Thinking: low");
    expect(await say("/role telegram:user:42 member", "clever")).toBe(
      "telegram:user:42 is a member from the next message on.",
    );
    const takeTurns = async (round: string) => {
      for (const session of ["clever", "plain", "clever"]) {
        await say(`${round} in ${session}`, session);
        expect([round, ...modelAndLevel(`${round} in ${session}`)]).toEqual(
          session === "clever" ? [round, "fake-2", "low"] : [round, "fake-1", "medium"],
        );
      }
    };
    await takeTurns("first");
    const pids = agentPids(home.path);
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await eventually(
      "the agents have ended",
      () => pids.filter(runs),
      (still) => still.length === 0,
    );
    await takeTurns("after its process died");
    await dieAndRise();
    expect((await summary("clever")).title).toBe("The big plan");
    await takeTurns("after the gateway died");
    const shown = await say("/role", "clever");
    expect(shown).toStartWith("You are an owner here (`operator`).\n- Why: owner: the operator is always an owner");
    expect(shown).toContain("- telegram:user:41: owner (by the configuration)");
    expect(shown).toContain("- telegram:user:42: member (given from a chat)");
    expect(await say("/sessions big", "clever")).toStartWith("1. The big plan: ");
    await say("/new", "clever");
    await say("fresh start", "clever");
    expect(modelAndLevel("fresh start")).toEqual(["fake-2", "low"]);
    await say("/model default", "clever");
    await say("/think default", "clever");
    await say("back to normal", "clever");
    expect(modelAndLevel("back to normal")).toEqual(["fake-1", "medium"]);
  });

  test("of another provider get that provider's key and no other's", async () => {
    await say("hello", "far");
    expect(await say("/model far-1", "far")).toStartWith("Model: other/far-1");
    expect(await say("who are you?", "far")).toBe("from afar");
    expect(other.requests.map(({ authorization }) => authorization)).toEqual([`Bearer ${OTHER_KEY}`]);
    expect(provider.requests.some(({ authorization }) => authorization.includes(OTHER_KEY))).toBe(false);
    expect(await say("/think high", "far")).toBe(
      "other/far-1 does not think before it answers, so nothing was changed.",
    );
  });

  test("are chosen among what pi offers; what it does not offer is refused with the nearest name", async () => {
    await say("hello", "choosy");
    const list = await say("/model", "choosy");
    for (const name of ["fake/fake-1 (now)", "fake/fake-2", "other/far-1"]) expect(list).toContain(`- ${name}`);
    expect(await say("/model fake/fake-3", "choosy")).toContain("Did you mean fake/fake-1?");
    expect(await say("/model openai/gpt-5", "choosy")).toContain("Set OPENAI_API_KEY");
    const post = (body: object) =>
      gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("choosy"))}/model`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await post({ model: "fake/fake-3" })).status).toBe(422);
    expect(await (await post({ model: "fake/fake-2", thinking: "high" })).json()).toEqual({
      model: "fake/fake-2",
      thinking: "high",
    });
    await say("after the program", "choosy");
    expect(modelAndLevel("after the program")).toEqual(["fake-2", "high"]);
  });
});

describe("/resume", () => {
  test("gives the model back what was said before /new, and nothing of what came after", async () => {
    await say("my cat is called Mog", "pets");
    await say("/new", "pets");
    await say("my dog is called Rex", "pets");
    expect(await say("/resume", "pets")).toMatch(/^1\. my cat is called Mog: 1 answer/m);
    expect(await say("/resume mog", "pets")).toStartWith("Back in: my cat is called Mog");
    await say("what do I have?", "pets");
    expect(shownWith("what do I have?")).toContain("Mog");
    expect(shownWith("what do I have?")).not.toContain("called Rex");
    await say("/resume rex", "pets");
    await say("and now?", "pets");
    expect(shownWith("and now?")).toContain("Rex");
    expect(shownWith("and now?")).not.toContain("called Mog");
  });

  test("takes up in one chat what was begun in another", async () => {
    await say("the password is swordfish", "first-chat");
    await say("hello", "second-chat");
    expect(await say("/resume swordfish", "second-chat")).toStartWith("Back in: the password is swordfish");
    await say("which password?", "second-chat");
    expect(shownWith("which password?")).toContain("swordfish");
    await say("do you still know here?", "first-chat");
    expect(shownWith("do you still know here?")).not.toContain("swordfish");
  });
});

describe("the cost of a conversation", () => {
  test("is what the provider charged: tools, retries, a summary that was asked for and one that was not", async () => {
    const before = provider.charged();
    const booked = await books();
    let failures = 0;
    reply = (request) => {
      if (isSummary(request)) return says("They told stories.");
      const words = asked(request);
      if (words.includes("status") && request.messages.at(-1)?.role !== "tool")
        return { kind: "tools", calls: [{ name: "session_status", input: {} }] };
      if (words.includes("shaky") && failures++ < 2) return { kind: "status", status: 529, message: "overloaded" };
      if (words.includes("nearly full"))
        return { kind: "text", pieces: ["long"], usage: { inputTokens: 60_000, outputTokens: 7 } };
      return says("noted");
    };
    const summaries = provider.requests.filter(isSummary).length;
    await say("what is your status?", "costly");
    await say(`one ${LONG}`, "costly");
    await say(`two ${LONG}`, "costly");
    expect(await say("/compact", "costly")).toMatch(/^Summarised: about \d+(\.\d)?k? tokens before, /);
    expect(provider.requests.filter(isSummary)).toHaveLength(summaries + 1);
    await say("shaky?", "costly");
    await say(`three ${LONG}`, "costly");
    await say("nearly full", "costly");
    expect(provider.requests.filter(isSummary).length).toBeGreaterThan(summaries + 1); // pi did it by itself
    reply = () => says("noted");
    const charged = provider.charged();
    const { usage } = await summary("costly");
    expect([usage.inputTokens, usage.outputTokens]).toEqual([
      charged.inputTokens - before.inputTokens,
      charged.outputTokens - before.outputTokens,
    ]);
    const now = await books();
    expect([now.inputTokens - booked.inputTokens, now.outputTokens - booked.outputTokens]).toEqual([
      usage.inputTokens,
      usage.outputTokens,
    ]);
  });

  test("counts an attempt that a crash interrupted", async () => {
    const before = provider.charged();
    const booked = await books();
    let hang = true;
    reply = (request) => {
      if (request.messages.at(-1)?.role === "tool") return hang ? { kind: "hang" } : says("done at last");
      return { kind: "tools", calls: [{ name: "session_status", input: {} }] };
    };
    const waiting = provider.requests.length;
    void gateway.chat("look it up", { session: "crashed" }).catch(() => undefined); // its connection breaks with the gateway
    await provider.arrived(waiting + 2);
    await dieAndRise(() => void (hang = false));
    await eventually(
      "the interrupted turn is over",
      () => summary("crashed"),
      ({ messages }) => messages === 2,
    );
    reply = () => says("noted");
    const { usage } = await summary("crashed");
    expect(usage.inputTokens).toBe(provider.charged().inputTokens - before.inputTokens);
    const now = await books();
    expect([now.inputTokens - booked.inputTokens, now.outputTokens - booked.outputTokens]).toEqual([
      usage.inputTokens,
      usage.outputTokens,
    ]);
  });
});

describe("/compact", () => {
  test("that a crash interrupts is done once after it, and the conversation goes on", async () => {
    let hang = true;
    reply = (request) => {
      if (!isSummary(request)) return says("noted");
      return hang ? { kind: "hang" } : says("They told stories.");
    };
    for (const text of [`one ${LONG}`, `two ${LONG}`, "three"]) await say(text, "long");
    const summaries = provider.requests.filter(isSummary).length;
    void gateway.chat("/compact mind the names", { session: "long" }).catch(() => undefined); // as above
    await eventually(
      "one more summary",
      () => provider.requests.filter(isSummary).length,
      (count) => count === summaries + 1,
    );
    await dieAndRise(() => void (hang = false));
    await eventually(
      "the conversation goes on after the summary",
      () => summary("long"),
      ({ messages }) => messages === 8,
    );
    await say("what was it about?", "long");
    reply = () => says("noted");
    const shown = shownWith("what was it about?");
    expect([shown.includes("They told stories."), shown.includes(`one ${LONG}`)]).toEqual([true, false]);
    const focus = provider.requests.filter(isSummary).at(-1);
    expect(JSON.stringify(focus?.messages)).toContain("mind the names");
    expect(await say("/compact", "empty")).toStartWith("There is nothing to summarise yet");
  });
});
