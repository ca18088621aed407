import { expect, test } from "bun:test";
import { ERRORS } from "../contracts/errors.ts";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const TURN = {
  turn: {
    turnId: "turn_1",
    sessionKey: "agent:default:webchat:dm:a",
    agentId: "default",
    outcome: "failed",
    attempt: 1,
    model: "demo",
    errorCode: "agent_empty",
    usage: { inputTokens: 1_200, outputTokens: 34, costUsd: 0.25 },
    acceptedAt: 1_000,
    begunAt: 2_000,
    endedAt: 3_500,
  },
  spans: [
    { name: "queued", startMs: 0, ms: 1_000 },
    {
      name: "model:demo",
      startMs: 1_000,
      ms: 1_500,
      note: "answered",
      children: [{ name: "first_token", startMs: 1_000, ms: 20 }],
    },
  ],
  deliveredAt: null,
};
const CALL = {
  id: "c1",
  kind: "tool",
  at: 2_500,
  ms: 4,
  outcome: "failed",
  name: "echo",
  note: "no\u001b[2J",
  turnId: "turn_1",
};

async function world(answer: object) {
  const asked: string[] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, async (_request, { pathname, search }) => {
    asked.push(`${pathname}${search}`);
    return Response.json(answer);
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

test("pi-gw turns lists turns, as lines or as JSON", async () => {
  await using fx = await world({ items: [TURN] });
  expect(await fx.run("turns", "--outcome", "failed")).toBe(0);
  expect(fx.asked).toEqual(["/api/turns?outcome=failed&limit=20"]);
  expect(fx.out()).toBe(
    "TURN    BEGUN                     END     TIME   USED                   SESSION                     WHY\n" +
      "turn_1  1970-01-01T00:00:02.000Z  failed  2.5 s  1,234 tokens, $0.2500  agent:default:webchat:dm:a  The assistant ended without an answer.\n",
  );
  await using json = await world({ items: [TURN] });
  await json.run("turns", "--json");
  expect(JSON.parse(json.out())).toEqual(TURN);
});

test("pi-gw turns show draws where the time of a turn went", async () => {
  await using fx = await world(TURN);
  expect(await fx.run("turns", "show", "turn_1")).toBe(0);
  expect(fx.asked).toEqual(["/api/turns/turn_1"]);
  expect(fx.out()).toContain(
    "turn     turn_1, failed\nwhy      The assistant ended without an answer. (agent_empty)\n",
  );
  const bars = fx.out().trimEnd().split("\n").slice(6);
  expect(bars).toEqual([
    `${"queued".padEnd(44)} ${"█".repeat(12).padEnd(30)} 1.0 s`,
    `${"model:demo".padEnd(44)} ${" ".repeat(12)}${"█".repeat(18)} 1.5 s  answered`,
    `${"  first_token".padEnd(44)} ${`${" ".repeat(12)}█`.padEnd(30)} 20 ms`,
  ]);
});

test("pi-gw turns says in a sentence why a turn failed, whatever the code is", async () => {
  const codes = Object.keys(ERRORS);
  const items = codes.map((errorCode) => ({ ...TURN, turn: { ...TURN.turn, turnId: "one", errorCode } }));
  await using fx = await world({ items });
  await fx.run("turns");
  const [, ...lines] = fx.out().trimEnd().split("\n");
  expect(lines.map((line) => line.split("webchat:dm:a  ")[1])).toEqual(Object.values(ERRORS).map(({ say }) => say));
  await using later = await world({ items: [{ ...TURN, turn: { ...TURN.turn, errorCode: "of_tomorrow" } }] });
  await later.run("turns");
  expect(later.out()).toContain("It failed. Another version noted why: of_tomorrow.");
});

test("pi-gw activity lists what happened and says how far back it looked", async () => {
  await using fx = await world({ items: [CALL], next: "x", searchedTo: 1_000 });
  expect(await fx.run("activity", "--kind", "tool", "--text", "no plant")).toBe(0);
  expect(fx.asked).toEqual(["/api/activity?kind=tool&q=no+plant&limit=20"]);
  const [head, line = "", note] = fx.out().trimEnd().split("\n");
  expect(head).toMatch(/^AT +KIND +END +TIME +NAME +NOTE +TURN$/);
  expect(line).toStartWith("1970-01-01T00:00:02.500Z  tool  failed  4 ms  echo");
  expect(line).not.toContain("\u001b");
  expect(note).toBe("Searched back to 1970-01-01T00:00:01.000Z; nothing older was looked at.");
  await using none = await world({ items: [] });
  await none.run("activity");
  expect(none.out()).toBe("Nothing was found.\n");
});
