/** The owner's word in a direct chat. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import type { Approvals, PendingApproval } from "../contracts/tools/approval.ts";
import { approveCommand } from "./approve-command.ts";

const OLGA = "telegram:user:1" as Principal;
const ASKED = {
  id: "ask_1",
  tool: "bash",
  principal: "ada",
  because: "it may do anything",
  shown: '{ "command": "git status" }',
  rules: [
    { reach: "call", value: "x", says: "exactly this command" },
    { reach: "program", value: "git", says: "every git command" },
  ],
} as unknown as PendingApproval;

type Outcome = Awaited<ReturnType<Approvals["decide"]>>;

function world(outcome: Outcome = "done", pending: readonly PendingApproval[] = [ASKED]) {
  const decided: unknown[] = [];
  const command = approveCommand({
    pending: () => pending,
    async decide(id, wish, by, from) {
      decided.push([id, wish, by, typeof from === "object" ? from.scope : from]);
      return outcome;
    },
  });
  const run = (args: string, scope: "dm" | "group" = "dm") => {
    const message = { sender: { principal: OLGA }, scope };
    return command.run(args, { message } as unknown as Parameters<typeof command.run>[1], new AbortController().signal);
  };
  return { decided, run };
}

describe("/approve", () => {
  test.each([
    ["ask_1 once", "once", "Allowed once."],
    ["ask_1 session", "session", "Allowed for this conversation."],
    ["ask_1 DENY", "deny", "Denied."],
    ["ask_1 always", { always: "call" }, "Allowed, with a rule."],
    ["ask_1  always   program", { always: "program" }, "Allowed, with a rule."],
    ["ask_1 always folder", { always: "folder" }, "Allowed, with a rule."],
  ] as const)("%s decides so, as whoever wrote it and in their chat", async (args, wish, said) => {
    const { decided, run } = world();
    expect(await run(args)).toStartWith(said);
    expect(decided).toEqual([["ask_1", wish, OLGA, "dm"]]);
  });

  test.each(["ask_1", "ask_1 yes", "ask_1 once program", "ask_1 always everything", "ask_1 always program folder"])(
    "%s decides nothing and says how it is written",
    async (args) => {
      const { decided, run } = world();
      expect([(await run(args)).startsWith("Write `/approve ID once`"), decided]).toEqual([true, []]);
    },
  );

  test.each([
    ["unknown", "No such call waits"],
    ["not_allowed", "Only owners"],
    ["no_such_rule", "No such rule"],
    ["too_many_rules", "as many approval rules"],
  ] as const)("says what %s means", async (outcome, said) => {
    expect(await world(outcome).run("ask_1 always")).toContain(said);
  });

  test("without an id lists each call whole, with the rules that go further; one that is too long is read elsewhere", async () => {
    const said = await world().run("");
    expect(said).toContain("`ask_1` bash for ada, because it may do anything:");
    expect(said).toContain('{ "command": "git status" }');
    expect(said).toContain("`always program`: every git command");
    const long = await world("done", [{ ...ASKED, shown: "x".repeat(1_501) }]).run("");
    expect([long.includes("too long for a chat"), long.includes("xxx")]).toEqual([true, false]);
    const many = Array.from({ length: 12 }, (_, at) => ({ ...ASKED, id: `ask_${at}` }));
    expect(await world("done", many).run("")).toContain("There are 2 more.");
    expect(await world("done", []).run("")).toBe("No tool call waits for approval.");
  });

  test("shows and decides nothing in a group", async () => {
    const { decided, run } = world();
    for (const args of ["", "ask_1 once"]) expect(await run(args, "group")).toContain("directly");
    expect(decided).toEqual([]);
  });
});
