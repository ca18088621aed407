/** Errors that were thrown in a turn, and what its chat is told. */
import { expect, test } from "bun:test";
import { ERRORS, GatewayError } from "../../contracts/errors.ts";
import { endOfError } from "./thrown-error.ts";

const full = Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
const quota = Object.assign(new Error("disk quota exceeded"), { code: "EDQUOT" });
const told = (error: unknown) => {
  const { error: recorded, reply } = endOfError(error);
  return { code: recorded?.code, text: reply.map(({ message }) => message.text).join("") };
};

test.each([
  ["a write of the gateway itself", full],
  ["a write beyond a quota", quota],
  ["the start of an agent", new GatewayError("agent_unavailable", "it did not start", { cause: full })],
])("a full disk is called a full disk, when it stops %s", (_what, error) => {
  expect(told(error)).toEqual({ code: "agent_disk_full", text: ERRORS.agent_disk_full.say });
});

test("a message that was accepted is never told that it was not, when the database goes away during its turn", () => {
  const { code, text } = told(new GatewayError("store_failed", "read ECONNRESET", { cause: full }));
  expect(code).toBe("store_failed");
  expect(text).not.toContain("not accepted");
  expect(text).toContain("database");
});

test("other errors keep their code and their words, and unknown ones are internal", () => {
  expect(told(new GatewayError("pool_exhausted", "all busy", { say: "Later." }))).toEqual({
    code: "pool_exhausted",
    text: "Later.",
  });
  expect(told(new Error("oops"))).toEqual({ code: "internal", text: ERRORS.internal.say });
});
