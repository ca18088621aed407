/** Calls that wait for the owner, in a whole gateway with real pi: nothing runs before the word, and the word counts once. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EndedApproval } from "../src/contracts/store/approvals.ts";
import type { AuditEntry, AuditRow } from "../src/contracts/store/tool-calls.ts";
import type { ApprovalRule } from "../src/contracts/tools/approval-rule.ts";
import type { PendingApproval } from "../src/contracts/tools/approval.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, keyOf, openSocket, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

let provider: FakeProvider;
let gateway: GatewayProcess;

/** `shell: …` makes the model call pi's own shell; `note: …` a tool of the gateway. */
function startModel(): Promise<FakeProvider> {
  return startFakeProvider((request) => {
    if (request.messages.at(-1)?.role !== "user") return says("that is all");
    const [, kind, words = ""] = /^(shell|note): ([^]*)$/.exec(asked(request)) ?? [];
    if (kind === "shell") return { kind: "tools", calls: [{ name: "bash", input: { command: words } }] };
    return { kind: "tools", calls: [{ name: "save_note", input: { title: words, content: words } }] };
  });
}

function configOf(model: FakeProvider) {
  const base = endpoint(model);
  return {
    ...base,
    agent: { ...base.agent, tools: "full", pool: { min: 0, max: 3 } },
    tools: { approvals: { ask: ["save_note"] } },
  };
}

beforeAll(async () => {
  provider = await startModel();
  gateway = await startGatewayProcess({ config: configOf(provider) });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const openIn = async (session: string, at = gateway): Promise<readonly PendingApproval[]> => {
  const { items } = (await (await at.fetch("/api/approvals")).json()) as { items: PendingApproval[] };
  return items.filter(({ sessionKey }) => sessionKey === keyOf(session));
};
const questionIn = async (session: string, at = gateway): Promise<PendingApproval> => {
  const [first] = await eventually(
    "an approval is open in this session",
    () => openIn(session, at),
    (items) => items.length > 0,
  );
  if (!first) throw new Error("nobody was asked");
  return first;
};
const decide = async (id: string, decision: string): Promise<number> => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ decision });
  return (await gateway.fetch(`/api/approvals/${id}`, { method: "POST", headers, body })).status;
};
const rowsOf = async (session: string, at = gateway): Promise<readonly AuditRow[]> =>
  ((await (await at.fetch(`/api/tool-calls?session=${session}`)).json()) as { items: AuditRow[] }).items;
const inWorkspace = (name: string): string => join(gateway.home, "workspace", name);

test("pi's shell runs after the owner has allowed exactly that command, and not before", async () => {
  const socket = await openSocket(gateway, null);
  await socket.request("subscribe", { events: ["approval", "turn.tool"] });
  const turn = gateway.chat("shell: echo yes > allowed.txt", { session: "allow" });
  const question = await questionIn("allow");
  expect(question).toMatchObject({ tool: "bash", input: { command: "echo yes > allowed.txt" }, principal: "operator" });
  expect([existsSync(inWorkspace("allowed.txt")), (await rowsOf("allow"))[0]?.status]).toEqual([false, "pending"]);
  expect(await decide(question.id, "once")).toBe(200);
  expect((await turn).body.tool_calls).toMatchObject([{ tool: "bash", status: "success" }]);
  expect(readFileSync(inWorkspace("allowed.txt"), "utf8")).toBe("yes\n");
  expect(await decide(question.id, "once")).toBe(404);
  const told = socket.events.map(({ event, data }) => [
    event,
    event === "approval" ? data.decision : "status" in data && data.status,
  ]);
  expect(told).toEqual([
    ["turn.tool", "running"],
    ["approval", null],
    ["turn.tool", "pending"],
    ["approval", "once"],
    ["turn.tool", "running"],
    ["turn.tool", "success"],
  ]);
  socket.close();
  const again = gateway.chat("shell: echo again > again.txt", { session: "allow" });
  await decide((await questionIn("allow")).id, "deny");
  await again;
  expect(existsSync(inWorkspace("again.txt"))).toBe(false); // once was once
});

test("a call that the owner denies does not run, and the model is told so", async () => {
  const turn = gateway.chat("note: secret plans", { session: "deny" });
  const question = await questionIn("deny");
  expect(await decide(question.id, "deny")).toBe(200);
  expect((await turn).body.tool_calls).toMatchObject([{ tool: "save_note", status: "blocked" }]);
  const read = textOf(provider.requests.at(-1)?.messages.at(-1)?.content);
  expect(JSON.parse(read)).toMatchObject({ status: "blocked", tool: "save_note" });
  expect(await rowsOf("deny")).toMatchObject([
    { status: "blocked", output: expect.stringContaining("did not approve") as never },
  ]);
  const ended = (await (await gateway.fetch("/api/approvals?state=ended")).json()) as { items: EndedApproval[] };
  expect(ended.items.find(({ id }) => id === question.id)).toMatchObject({
    decision: "deny",
    decidedBy: "operator" as never,
  });
});

test("a yes for the session asks no more for that tool, until the conversation is begun anew", async () => {
  const first = gateway.chat("note: one", { session: "grant" });
  await decide((await questionIn("grant")).id, "session");
  expect((await first).body.tool_calls).toMatchObject([{ status: "success" }]);
  expect((await gateway.chat("note: two", { session: "grant" })).body.tool_calls).toMatchObject([
    { status: "success" },
  ]);
  expect(
    (await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("grant"))}/reset`, { method: "POST" })).ok,
  ).toBe(true);
  const third = gateway.chat("note: three", { session: "grant" });
  await decide((await questionIn("grant")).id, "deny");
  expect((await third).body.tool_calls).toMatchObject([{ status: "blocked" }]);
});

test("a call that is allowed for always runs unasked from then on, in every conversation, until its rule is removed", async () => {
  const command = "echo always >> always.txt; echo done";
  const lines = (): number => readFileSync(inWorkspace("always.txt"), "utf8").trim().split("\n").length;
  const first = gateway.chat(`shell: ${command}`, { session: "always" });
  const question = await questionIn("always");
  expect(question.rules?.map(({ reach }) => reach)).toEqual(["call"]); // two commands are more than a program
  expect(await decide(question.id, "always")).toBe(200);
  expect((await first).body.tool_calls).toMatchObject([{ tool: "bash", status: "success" }]);
  const again = await gateway.chat(`shell: ${command}`, { session: "always-elsewhere" });
  expect(again.body.tool_calls).toMatchObject([{ tool: "bash", status: "success" }]);
  expect([lines(), await openIn("always-elsewhere")]).toEqual([2, []]);

  const { items } = (await (await gateway.fetch("/api/approval-rules")).json()) as { items: ApprovalRule[] };
  const [rule] = items;
  expect(items).toMatchObject([
    { tool: "bash", reach: "call", uses: 1, approvalId: question.id, madeBy: "operator" as never },
  ]);
  const used = (await (await gateway.fetch("/api/audit?kind=rule.used")).json()) as { items: AuditEntry[] };
  const detail = { tool: "bash", sessionKey: keyOf("always-elsewhere") };
  expect(used.items).toMatchObject([{ subject: rule?.id ?? "", detail }]);

  expect((await gateway.fetch(`/api/approval-rules/${rule?.id}`, { method: "DELETE" })).status).toBe(200);
  const third = gateway.chat(`shell: ${command}`, { session: "always" });
  expect(await decide((await questionIn("always")).id, "deny")).toBe(200);
  expect((await third).body.tool_calls).toMatchObject([{ status: "blocked" }]);
  expect(lines()).toBe(2);
});

test("a question ends with its turn", async () => {
  const turn = gateway.chat("shell: echo no > stopped.txt", { session: "stop" });
  const question = await questionIn("stop");
  await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("stop"))}/abort`, { method: "POST" });
  await turn;
  expect(await openIn("stop")).toEqual([]);
  expect(await decide(question.id, "once")).toBe(404);
  expect(existsSync(inWorkspace("stopped.txt"))).toBe(false);
});

test("a question that was open at a kill -9 is expired; the turn asks again and nothing has run", async () => {
  await using home = await tempHome();
  await using model = await startModel();
  const config = configOf(model);
  const first = await startGatewayProcess({ home: home.path, config });
  const lost = first.chat("shell: echo x > killed.txt", { session: "crash" }).catch(() => null);
  const before = await questionIn("crash", first);
  await first.kill();
  await lost;
  await using second = await startGatewayProcess({ home: home.path, config });
  const after = await questionIn("crash", second);
  expect(after.id).not.toBe(before.id);
  const ended = (await (await second.fetch("/api/approvals?state=ended")).json()) as { items: EndedApproval[] };
  expect(ended.items).toMatchObject([{ id: before.id, decision: "expired" }]);
  expect(existsSync(join(home.path, "workspace", "killed.txt"))).toBe(false);
  await second.kill(); // a stop in good order would wait for the turn, which waits for the owner
});
