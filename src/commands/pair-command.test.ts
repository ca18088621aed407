import { describe, expect, test } from "bun:test";
import type { Approval, ApprovalRequest, PairedPerson } from "../contracts/channels/pairing.ts";
import type { Principal } from "../contracts/ids.ts";
import { pairCommand } from "./pair-command.ts";

const OWNER = "telegram:user:1" as Principal;
const ADA: PairedPerson = {
  id: "pair_1",
  principal: "telegram:user:2" as Principal,
  name: "Ada",
  channel: "telegram",
  account: "main",
  state: "pending",
  role: null,
  createdAt: 0,
  expiresAt: 1,
};

function command(approval: (request: ApprovalRequest) => Approval) {
  const asked: [ApprovalRequest, Principal][] = [];
  const pair = pairCommand({
    list: () => [ADA],
    async approve(request, by) {
      asked.push([request, by]);
      return approval(request);
    },
  });
  const context = { message: { sender: { principal: OWNER } } } as unknown as Parameters<typeof pair.run>[1];
  return { asked, run: (args: string) => pair.run(args, context, new AbortController().signal) };
}

describe("/pair", () => {
  const approves = ({ role }: ApprovalRequest): Approval => ({ kind: "approved", person: ADA, role });

  test.each([
    ["ABCD2345", { code: "ABCD2345", role: "member" }],
    ["abcd-2345 owner", { code: "abcd-2345", role: "owner" }],
    ["abcd 2345 OWNER", { code: "abcd 2345", role: "owner" }],
    ["abcd 2345", { code: "abcd 2345", role: "member" }],
    ["ABCD2345 guest", { code: "ABCD2345", role: "guest" }],
  ] as const)("%s asks for this code and this role, and owner only when it is said", async (args, request) => {
    const { asked, run } = command(approves);
    const said = await run(args);
    expect(asked).toEqual([[request, OWNER]]);
    expect(said).toContain(`telegram:user:2 ("Ada") may write on telegram from now on, as `);
    expect(said).toEndWith(`${request.role}.`);
  });

  test("with an id, a wrong code, or after too many of them says so and lets nobody in", async () => {
    expect(await command(() => ({ kind: "unknown" })).run("pair_1")).toContain("no such code");
    expect(await command(() => ({ kind: "locked", retryAfterMs: 90_000 })).run("ABCD2345")).toContain("in 2 min");
    const { asked, run } = command(approves);
    expect([await run("owner"), asked.length]).toEqual([expect.stringContaining("/pair CODE"), 0]);
  });

  test("alone lists who waits, without a way to let them in by id", async () => {
    const listed = await command(approves).run("");
    expect(listed).toContain('telegram:user:2 "Ada" on telegram');
    expect(listed).not.toContain("pair_1");
  });
});
