/** A secret inside a refusal does not reach the record, whether the call was refused at once or after it had waited. */
import { expect, test } from "bun:test";
import type { Principal } from "../../contracts/ids.ts";
import { OWNER, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";

const SECRET = "s3cret-value";

test("a refused call whose reason holds a secret is stored without it", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  world.hooks.on("before_tool_call", () => ({ block: `the token ${SECRET} is not for this` }), "guard");
  expect(await world.call({ text: "x" })).toMatchObject({ kind: "refused" });
  expect(world.last()?.end).toMatchObject({ status: "blocked", output: "the token [redacted] is not for this" });
  expect(JSON.stringify(world.rows)).not.toContain(SECRET);
});

test("a call that waited for an approval and is refused with a secret in the reason is stored without it", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  const principal = SECRET as Principal;
  world.rules.now = policy({ approvals: { ask: ["echo"], never: [] } });
  const answer = Promise.withResolvers<"once">();
  world.approvals.answer = answer.promise;
  const outcome = world.call({ text: "x" }, { context: { ...OWNER, principal } });
  await world.clock.advance(0);
  world.rules.now = { ...world.rules.now, principals: { [principal]: { deny: ["echo"] } } };
  answer.resolve("once");
  expect(await outcome).toMatchObject({ kind: "refused", message: expect.stringContaining(SECRET) });
  expect(world.last()?.end?.output).toContain('tools.principals["[redacted]"].deny names it');
});

test("a secret that is the name of a parameter, or stands under a secret name, is stored masked", async () => {
  const world = toolWorld([tool(async () => says("x"), { parameters: { type: "object" } })]);
  expect(await world.call({ [`x-${SECRET}`]: 1, deep: [{ apiKey: "plain", [SECRET]: SECRET }] })).toMatchObject({
    kind: "ok",
  });
  expect(world.last()?.intent.input).toEqual({
    "x-[redacted]": 1,
    deep: [{ apiKey: "[redacted]", "[redacted]": "[redacted]" }],
  });
});
