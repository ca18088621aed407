import { expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createAttempts, isStrongSecret } from "./attempts.ts";

const guess = (kind: "password" | "token", client: string) => ({ kind, client, right: false, strong: false });
/** Each in a network of its own. */
const v6 = (at: number) => `2001${at.toString(16).padStart(8, "0")}0001/64`;

test("a locked password stays locked, however many wrong attempts of other kinds come from however many addresses", () => {
  const attempts = createAttempts({ clock: createFakeClock(), log: recordingLog() });
  for (let at = 0; at < 10; at++) attempts.judge(guess("password", v6(0)));
  expect(attempts.judge({ ...guess("password", v6(0)), right: true }).kind).toBe("locked");
  for (let at = 1; at < 12_000; at++) attempts.judge(guess("token", v6(at)));
  expect(attempts.judge({ ...guess("password", v6(0)), right: true }).kind).toBe("locked");
});

test.each([
  ["q7Vd0mZpXr3nT8sKc1Yw5LhGb2Fj6Ru9EiAo4NxPzMk", true],
  ["0123456789abcdef012345", true],
  ["a-token-of-at-least-22-characters", true],
  ["0123456789abcdef01234", false],
  ["abcdefgabcdefgabcdefga", false],
  ["a".repeat(64), false],
  ["", false],
])("the secret %p counts as strong: %p", (value, strong) => {
  expect(isStrongSecret(value)).toBe(strong);
});
