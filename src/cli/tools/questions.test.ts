/** Answering what a running turn asks, from a terminal. */
import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";

const QUESTION = {
  id: "q1",
  principal: "operator",
  sessionKey: "agent:default:webchat:dm:1",
  expiresAt: 0,
  question: { kind: "select", title: "Which \u202eone?", options: ["tea", "coffee"] },
};

test("list shows each question whole, with hidden characters written out, and says so when there is none", async () => {
  await using fx = await cliFixture();
  let items: unknown[] = [QUESTION];
  await using _gateway = await fakeGateway(fx.home, () => Response.json({ items }));
  expect(await fx.run("questions", "list")).toBe(0);
  expect(fx.out()).toBe(
    "q1 for operator in agent:default:webchat:dm:1, 0 s left\nWhich \\u202eone?\n- tea\n- coffee\n\n",
  );
  items = [];
  expect(await fx.run("questions", "list")).toBe(0);
  expect(fx.out()).toContain("No question is open.\n");
});

test.each<[readonly string[], unknown]>([
  [["green", "tea"], "green tea"],
  [["--yes"], true],
  [["--no"], false],
  [["--dismiss"], null],
])("answer %j sends %j", async (args, answer) => {
  await using fx = await cliFixture();
  const seen: unknown[] = [];
  await using _gateway = await fakeGateway(fx.home, async (request, url) => {
    seen.push([url.pathname, await request.json()]);
    return Response.json({ said: "Thank you." });
  });
  expect(await fx.run("questions", "answer", "q1", ...args)).toBe(0);
  expect([fx.out(), seen]).toEqual(["Thank you.\n", [["/api/questions/q1", { answer }]]]);
});
