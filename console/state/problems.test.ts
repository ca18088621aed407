import { expect, test } from "bun:test";
import type { GatewayStatus } from "../../src/contracts/wire.ts";
import { healthText, problemsOf } from "./problems.ts";

const statusWith = (change: Partial<Pick<GatewayStatus, "notices" | "channels">>) =>
  ({ notices: [], channels: [{ id: "webchat", ok: true, detail: "" }], ...change }) as unknown as GatewayStatus;

test("a gateway that answers and has nothing to say has no problems", () => {
  expect(problemsOf(statusWith({}), false)).toEqual([]);
  expect(problemsOf(null, false)).toEqual([]);
  expect([healthText([], true), healthText([], false)]).toEqual(["All well", "Connecting"]);
});

test("a lost connection, notices of the gateway and a broken channel are one list, in this order", () => {
  const broken = { id: "telegram", ok: false, detail: "the token was refused" };
  const problems = problemsOf(statusWith({ notices: ["The disk is full."], channels: [broken] }), true);
  expect(problems.map(({ kind }) => kind)).toEqual(["offline", "notice", "channel"]);
  expect(problems[2]?.text).toBe("The channel telegram is not connected: the token was refused");
  expect(healthText(problems, true)).toBe("Reconnecting");
  expect(healthText(problems.slice(1), true)).toBe("2 problems");
  expect(healthText(problems.slice(2), true)).toBe("1 problem");
});
