import { describe, expect, test } from "bun:test";
import type { SessionKey } from "../../contracts/ids.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import { wayOut } from "./cron-channel.ts";
import { outcomeOf } from "./outcome.ts";
import { readRunAddress, toRunAddress } from "./run-address.ts";

const reply: Pick<OutboxRow, "part" | "outcome" | "message"> = {
  part: 0,
  outcome: "done",
  message: { kind: "reply", text: "x" },
};
const file = { mediaId: "m", name: "n", mimeType: "t", bytes: 1 } as never;

describe("the words of a run", () => {
  type Case = Partial<typeof reply> & {
    readonly delivery?: "announce" | "direct" | "silent";
    readonly posted?: boolean;
  };
  test.each<[string, Case, string]>([
    ["are announced", { delivery: "announce" }, "announce"],
    ["are said as they are", { delivery: "direct" }, "direct"],
    ["are kept", { delivery: "silent" }, "nothing"],
    ["are kept when the agent has sent something", { delivery: "announce", posted: true }, "nothing"],
    ["that the agent sent itself are said as they are", { part: -3, delivery: "announce", posted: true }, "direct"],
    ["that the agent sent itself are kept in a silent job", { part: -3, delivery: "silent" }, "nothing"],
    ["of a failed run are kept", { outcome: "failed", delivery: "direct" }, "nothing"],
    ["of the gateway itself are kept", { message: { kind: "notice", text: "x" }, delivery: "direct" }, "nothing"],
    ["with files are said as they are", { message: { kind: "reply", text: "x", attachments: [file] } }, "direct"],
  ])("%s", (_name, { delivery = "announce", posted = false, ...more }, expected) => {
    expect(wayOut({ ...reply, ...more }, { delivery }, posted)).toBe(expected as "direct");
  });
});

test("the address of a run says all that is needed when its job is gone, and nothing else is taken for one", () => {
  const address = { jobId: "tea", delivery: "direct", home: "agent:default:webchat:dm:1" as SessionKey } as const;
  for (const channel of ["cron", "hook"] as const) {
    expect(readRunAddress(toRunAddress(address, channel))).toEqual(address);
    const posted = { ...address, webhook: "ops" };
    expect(readRunAddress(toRunAddress(posted, channel))).toEqual(posted);
  }
  const written = toRunAddress(address, "cron");
  expect(readRunAddress({ ...written, channel: "webchat" })).toBeNull();
  expect(readRunAddress({ ...written, thread: "loud:tea" })).toBeNull();
});

test.each([
  [{ outcome: "done", errorCode: null }, false, { kind: "ran" }],
  [{ outcome: "failed", errorCode: "provider_down" }, false, { kind: "failed", again: true }],
  [{ outcome: "failed", errorCode: "provider_auth" }, false, { kind: "failed", again: false }],
  [{ outcome: "aborted", errorCode: null }, false, { kind: "failed", again: false }],
  [{ outcome: "aborted", errorCode: null }, true, { kind: "failed", again: true }],
] as const)("a turn that ended with %j means %p %j", (result, timedOut, expected) => {
  expect(outcomeOf(result, timedOut)).toMatchObject(expected);
});
