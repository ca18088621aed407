/** What is wrong with a value is said in words that name the field, and the choice there is. */
import { expect, test } from "bun:test";
import { Type } from "typebox";
import { checked } from "./checked.ts";

const words = (...names: readonly string[]) => Type.Union(names.map((name) => Type.Literal(name)));
const Job = checked(
  Type.Object(
    {
      delivery: words("announce", "direct", "silent"),
      by: Type.Optional(Type.Enum(["day", "agent"])),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 5 })),
      schedule: Type.Optional(Type.Object({ kind: words("cron", "at") }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  ),
);

test.each([
  [{ delivery: "loud" }, "`delivery` must be one of: announce, direct, silent."],
  [{ delivery: "direct", by: "week" }, "`by` must be one of: day, agent."],
  [{ delivery: "direct", schedule: { kind: "soon" } }, "`schedule.kind` must be one of: cron, at."],
  [{ delivery: "direct", timeoutMs: 1 }, "`timeoutMs` must be >= 5."],
  [{ delivery: "direct", surprise: 1 }, "There is no field `surprise` here."],
])("%j is refused: %s", async (value, say) => {
  expect(await Job.parse(value).catch((error: { say?: string }) => error.say)).toBe(say);
});
