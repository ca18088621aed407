/** Commands that change a conversation, on a real store: its model, its name, which conversation it is, and who may do what. */
import { describe, expect, test } from "bun:test";
import type { AgentModel, Caller, Compaction } from "../contracts/agent.ts";
import type { CommandContext } from "../contracts/command.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AgentId, InboxId, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import { systemClock } from "../kit/clock.ts";
import { OFFERED, testCommandDeps, testModels, testRoles } from "../testing/command-fixture.ts";
import { inbound } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { builtinCommands, createCommandRegistry } from "./index.ts";
import { pickModel } from "./session-models.ts";

const never = new AbortController().signal;
const KEY = "agent:default:webchat:dm:1" as SessionKey;
const AGENT = "default" as AgentId;
const USAGE = { inputTokens: 1, outputTokens: 1, costUsd: 0 };

async function world(models = testModels(systemClock)) {
  const real = await realStore(systemClock);
  const log = recordingLog();
  const roles = testRoles();
  const { store } = real;
  const commands = createCommandRegistry(builtinCommands(testCommandDeps(store, { log, models, roles })));
  let count = 0;
  /** One message and its answer. */
  const talk = async (text: string, sessionKey: SessionKey = KEY) => {
    const [id, turnId] = [`in${++count}` as InboxId, `t${count}` as TurnId];
    const message = inbound(text);
    await store.inbox.accept({ id, sessionKey, agentId: AGENT, role: "owner", priority: 1, message });
    await store.turns.begin({ turnId, sessionKey, agentId: AGENT, inboxIds: [id], at: count });
    const reply = [{ part: 0, message: { text: "ok", kind: "reply" as const } }];
    const end = { turnId, attempt: 1, outcome: "done", reply, to: message.address, usage: USAGE } as const;
    await store.turns.finish({ ...end, model: "fake/one", settledBytes: 100 * count, at: 1_000 + count });
  };
  const ask = async (text: string, more: Partial<CommandContext> = {}, role: Role = "owner"): Promise<string> => {
    const message = inbound(text);
    const found = commands.find(message);
    const turnId = `c${++count}` as TurnId;
    const context = { sessionKey: KEY, sessionFile: "file", agentId: AGENT, turnId, role, message, ...more };
    return found ? commands.answer(found, context, never) : "";
  };
  const session = async () => store.sessions.get(KEY);
  return { ask, talk, session, store, roles, log, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

describe("/model", () => {
  test("shows what is in force and what can be chosen, and marks the one it is", async () => {
    await using fx = await world();
    await fx.talk("hello");
    const shown = await fx.ask("/model");
    expect(shown).toStartWith("Model: fake/one.\n\nYou can choose:\n- fake/one (now)\n- fake/two-large\n- local/small");
    expect(shown).toContain("There are keys for groq too");
    await fx.ask("/model two");
    expect(await fx.ask("/model")).toStartWith("Model: fake/two-large, chosen for this conversation.");
    expect(await fx.ask("/status")).toContain("Model: fake/two-large, chosen for this conversation");
  });

  test.each([
    ["fake/two-large", "fake/two-large"],
    ["TWO", "fake/two-large"],
    ["small", "local/small"],
    ["groq/fast", "groq/fast"],
  ])("takes a whole name or a part that only one has: %s", async (words, model) => {
    await using fx = await world();
    await fx.talk("hello");
    expect(await fx.ask(`/model ${words}`)).toStartWith(`Model: ${model}, for this conversation`);
    expect((await fx.session())?.model).toBe(model);
    await fx.ask("/model default");
    expect(await fx.session()).not.toHaveProperty("model");
  });

  test.each([
    ["fake", 'Several models fit "fake": fake/one, fake/two-large. Write more of the name.'],
    ["fake/tow-large", 'There is no model "fake/tow-large" here. Did you mean fake/two-large?'],
    ["two-lagre", 'There is no model "two-lagre" here. Did you mean fake/two-large?'],
    ["opnai/gpt", 'There is no model "opnai/gpt" here. Did you mean openai/…?'],
    ["openai/gpt", "The gateway has no key for openai, so nothing was changed. Set OPENAI_API_KEY in"],
    ["groq/slow", 'There is no model "groq/slow" here. Did you mean groq/fast?'],
  ])("changes nothing when nothing fits, and says what might: %s", async (words, said) => {
    await using fx = await world();
    await fx.talk("hello");
    expect(await fx.ask(`/model ${words}`)).toStartWith(said);
    expect(await fx.session()).not.toHaveProperty("model");
  });

  test("is changed by owners alone, because it changes what an answer costs", async () => {
    await using fx = await world();
    await fx.talk("hello");
    for (const command of ["/model two", "/think off"])
      expect(await fx.ask(command, {}, "member")).toStartWith("Only an owner");
    expect(await fx.session()).not.toHaveProperty("model");
    expect(await fx.ask("/model", {}, "member")).toBe("Model: fake/one.");
  });

  test("says so when no agent can say what there is", async () => {
    const busy = () => Promise.reject(new GatewayError("pool_exhausted", "busy"));
    await using fx = await world(testModels(systemClock, busy));
    await fx.talk("hello");
    expect(await fx.ask("/model two")).toBe("Nothing was changed. All assistants are busy. Try again in a moment.");
  });

  test("prefers a whole id to a part of another name", () => {
    const models = ["a/gpt", "a/gpt-mini"].map((name): AgentModel => ({ name, thinking: ["off"] }));
    expect(pickModel(models, "gpt")).toMatchObject({ kind: "found", model: { name: "a/gpt" } });
    expect(pickModel(OFFERED, "")).toMatchObject({ kind: "several" });
  });
});

describe("/think", () => {
  test("sets a level that the model has, and says which it has otherwise", async () => {
    await using fx = await world();
    await fx.talk("hello");
    expect(await fx.ask("/think high")).toBe("fake/one does not think before it answers, so nothing was changed.");
    await fx.ask("/model two");
    expect(await fx.ask("/think xhigh")).toContain("It has: off, minimal, low, medium, high.");
    expect(await fx.ask("/think hihg")).toStartWith('There is no thinking level "hihg". Did you mean high?');
    expect(await fx.ask("/think HIGH")).toStartWith("Thinking: high, for this conversation");
    expect((await fx.session())?.thinking).toBe("high");
    expect(await fx.ask("/think")).toBe("Thinking: high, chosen for this conversation.");
    await fx.ask("/think default");
    expect(await fx.session()).not.toHaveProperty("thinking");
  });
});

describe("/compact", () => {
  const asks = (result: Compaction) => {
    const asked: string[] = [];
    const compact = async (instructions: string) => (asked.push(instructions), result);
    return { asked, agent: { compact } };
  };
  test.each([
    [
      { kind: "done", tokensBefore: 52_300, tokensAfter: 900, usage: USAGE, model: "m" },
      "about 52.3k tokens before, 900",
    ],
    [{ kind: "nothing" }, "There is nothing to summarise yet"],
    [{ kind: "stopped" }, "Stopped."],
    [{ kind: "failed", code: "provider_auth", detail: "x" }, "The model provider refused the API key."],
  ] as const)("says what became of it: %j", async (result, said) => {
    await using fx = await world();
    const { asked, agent } = asks(result);
    expect(await fx.ask("/compact keep the names", { agent })).toContain(said);
    expect(asked).toEqual(["keep the names"]);
  });
});

describe("/resume", () => {
  test("lists earlier conversations with numbers, and goes back by number or by words", async () => {
    await using fx = await world();
    expect(await fx.ask("/resume")).toStartWith("There is no earlier conversation");
    await fx.talk("about cats");
    await fx.ask("/new");
    await fx.talk("about dogs");
    await fx.ask("/new");
    expect(await fx.ask("/resume")).toMatch(/^1\. about dogs: 1 answer, .* ago\n2\. about cats: 1 answer/);
    expect(await fx.ask("/resume 2")).toStartWith("Back in: about cats (1 answer");
    expect(await fx.ask("/resume")).toStartWith("1. about dogs");
    expect(await fx.ask("/resume dogs")).toStartWith("Back in: about dogs");
    expect(await fx.ask("/resume")).toStartWith("1. about cats");
    expect(await fx.ask("/resume 7")).toStartWith("No earlier conversation fits.");
  });

  test("asks again when several fit", async () => {
    await using fx = await world();
    for (const text of ["red cats", "blue cats", "dogs"]) {
      await fx.talk(text);
      await fx.ask("/new");
    }
    const answer = await fx.ask("/resume cats");
    expect(answer).toStartWith("Several fit. Choose by number:\n\n2. blue cats");
    expect(answer).not.toContain("dogs");
  });

  test("goes back once, however often it runs", async () => {
    await using fx = await world();
    await fx.talk("about cats");
    await fx.ask("/new");
    await fx.talk("about dogs");
    const again = { turnId: "same" as TurnId };
    const first = await fx.ask("/resume 1", again);
    expect(await fx.ask("/resume 1", again)).toBe(first);
    expect(await fx.ask("/resume")).toStartWith("1. about dogs");
  });

  test("in a group finds only what was said in it", async () => {
    await using fx = await world();
    await fx.talk("in the other chat", "agent:default:webchat:dm:2" as SessionKey);
    await fx.talk("here");
    expect(await fx.ask("/resume")).toContain("in the other chat");
    const group = { message: inbound("/resume", { scope: "group" }) };
    expect(await fx.ask("/resume", group)).toStartWith("There is no earlier conversation");
  });
});

test("/name gives a conversation a name that lists show, and takes it back", async () => {
  await using fx = await world();
  await fx.talk("hello there");
  expect(await fx.ask("/name Big plan")).toBe("This conversation is called: Big plan.");
  expect(await fx.ask("/sessions big")).toContain("1. Big plan: ");
  expect(await fx.ask("/name")).toStartWith("This conversation is called: Big plan.");
  expect(await fx.ask("/name default")).toBe("This conversation is called: hello there.");
});

describe("/role", () => {
  test("says what somebody is here and why; owners see who was given a role", async () => {
    await using fx = await world();
    const guest = await fx.ask("/role", {}, "guest");
    expect(guest).toStartWith("You are a guest here (`operator`).\n- Why: guest: the test says so\n- Commands: /help");
    expect(guest).not.toContain("telegram:user:7");
    expect(await fx.ask("/role")).toContain("- telegram:user:7: member (given from a chat)");
  });

  test("is given by owners alone, and every attempt is in the log", async () => {
    await using fx = await world();
    expect(await fx.ask("/role telegram:user:9 owner", {}, "member")).toStartWith("Only an owner");
    expect(fx.roles.asked).toEqual([]);
    expect(await fx.ask("/role telegram:user:9 Member")).toBe("telegram:user:9 is a member from the next message on.");
    expect(await fx.ask("/role telegram:user:9 none")).toContain("has no role from here any more");
    expect(await fx.ask("/role Olga owner")).toStartWith("That is not a person's id.");
    expect(await fx.ask("/role telegram:user:9")).toStartWith("Write an id and a role");
    expect(fx.roles.asked).toHaveLength(3);
    const lines = fx.log.lines.filter(({ words }) => words === "role change asked for");
    expect(lines.map(({ fields }) => [fields?.["principal"], fields?.["role"], fields?.["by"]])).toEqual([
      ["telegram:user:9", "member", "operator"],
      ["telegram:user:9", "none", "operator"],
      ["Olga", "owner", "operator"],
    ]);
  });
});

test("a caller is asked for with the session's own agent and person", async () => {
  const callers: Caller[] = [];
  const models = testModels(systemClock, async ({ caller }) => (callers.push(caller), OFFERED));
  await using fx = await world(models);
  await fx.talk("hello");
  await fx.ask("/model one");
  expect(callers).toMatchObject([{ sessionKey: KEY, agentId: AGENT, principal: "operator", role: "owner" }]);
});
