/** What a profile means for a real pi: its tools, skills, extensions, templates, working folder, and who may have its process. */
import { afterAll, describe, expect, test } from "bun:test";
import { readlinkSync } from "node:fs";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AgentFixture,
  agentFixture,
  caller,
  collect,
  providers,
  replyOf,
  toolSpec,
} from "../testing/agent-fixture.ts";
import { programPid } from "../testing/confined-pid.ts";
import { createAgentStage, until } from "../testing/agent-stage.ts";
import { type ProviderRequest, says, startFakeProvider } from "../testing/fake-provider.ts";
import type { TempHome } from "../testing/temp-home.ts";

const LIMIT_MS = 40_000;
const ann = { principal: "web:user:ann" };
const guest = { caller: caller("telegram:user:7", "guest"), sessionFile: "session-guest.jsonl" };

function systemOf({ messages }: ProviderRequest): string {
  return JSON.stringify(messages.filter(({ role }) => role === "system" || role === "developer"));
}
function lastOf(requests: readonly ProviderRequest[]): ProviderRequest {
  const last = requests.at(-1);
  if (!last) throw new Error("the provider was not asked");
  return last;
}
async function ask(fx: AgentFixture, request: Parameters<AgentFixture["turn"]>[1] = {}, text = "hello") {
  expect(replyOf(await fx.turn(text, request))).toBe("ok");
}
/** The process that answered. */
async function served(fx: AgentFixture, request: Parameters<AgentFixture["lease"]>[0]): Promise<number> {
  await using lease = await fx.lease(request);
  expect(replyOf(await collect(lease, "hello"))).toBe("ok");
  return lease.pid;
}
async function write(home: TempHome, name: string, text: string): Promise<string> {
  const path = join(home.path, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
  return path;
}
const SKILL = `---\nname: tide-tables\ndescription: Says when the tide turns. Use for anything about the sea.\n---\n\n# Tides\n`;

async function withSkill(home: TempHome) {
  return { skills: [join(await write(home, "skills/tides/SKILL.md", SKILL), "..")] };
}
const EXTENSION = `export default function (pi) {
  pi.registerTool({ name: "tide", label: "Tide", description: "When the tide turns.", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "at noon" }], details: undefined }) });
}`;

/** One process of a kind for all tests that look at it. */
const roles = { guest: {} as { workspace?: string } };
const chat = createAgentStage({ tools: "chat" }, withSkill);
const workspace = createAgentStage({ tools: "workspace" }, withSkill);
const full = createAgentStage({ tools: "full", roles }, async (home) => {
  roles.guest.workspace = join(home.path, "for-guests");
  return {};
});
/** Ann's, with a spare beside it. */
const equipped = createAgentStage({ pool: { min: 1, max: 3 } }, async (home) => ({
  extensions: [await write(home, "tide.ts", EXTENSION)],
  promptTemplates: [join(await write(home, "templates/greet.md", "Greet $1 with a sea shanty."), "..")],
}));
afterAll(async () => {
  for (const stage of [chat, workspace, full, equipped]) await stage[Symbol.asyncDispose]();
});

describe("tools", () => {
  const FILE_TOOLS = ["edit", "find", "grep", "ls", "read", "write"];
  const list = (...tools: string[]) => createAgentStage({ tools: tools as never });
  const cases = [
    ["chat", ["session_status"], chat],
    ["workspace", ["bash", ...FILE_TOOLS, "session_status"], workspace],
    ["full", ["bash", ...FILE_TOOLS, "session_status"], full],
    [["grep", "session_status"], ["grep", "session_status"], list("grep", "session_status")],
    [["read"], ["read"], list("read")],
    [[], [], list()],
  ] as const;
  afterAll(async () => {
    for (const [, , stage] of cases.slice(3)) await stage[Symbol.asyncDispose]();
  });

  test.each(cases)(
    "%j gives the model exactly %j",
    async (_tools, expected, stage) => {
      const { fx, requests } = await stage.scene();
      fx.gate.tools = [toolSpec("session_status")];
      await ask(fx);
      expect(lastOf(requests).tools.toSorted()).toEqual([...expected].sort());
    },
    LIMIT_MS,
  );

  test(
    "of pi's own are kept from guests, who have a working folder of their own where the role has one",
    async () => {
      const { fx, requests } = await full.scene();
      const folder = join(fx.home, "for-guests");
      await using lease = await fx.lease(guest);
      expect(replyOf(await collect(lease, "hello"))).toBe("ok");
      expect(readlinkSync(`/proc/${programPid(lease.pid)}/cwd`)).toBe(await realpath(folder));
      expect([lastOf(requests).tools, systemOf(lastOf(requests)).includes(folder)]).toEqual([[], true]);
      await using owner = await fx.lease();
      expect(readlinkSync(`/proc/${programPid(owner.pid)}/cwd`)).toBe(await realpath(join(fx.home, "workspace")));
    },
    LIMIT_MS,
  );
});

describe("a skill", () => {
  test.each([
    ["is in the instructions of an agent that can read it", workspace, true],
    ["is not in those of an agent that cannot", chat, false],
  ] as const)(
    "%s",
    async (_name, stage, there) => {
      const { fx, requests } = await stage.scene();
      await ask(fx);
      expect(systemOf(lastOf(requests)).includes("Says when the tide turns.")).toBe(there);
    },
    LIMIT_MS,
  );

  test(
    "that is not there is said in plain words, and no process starts without it",
    async () => {
      await using fx = await agentFixture({ skills: ["/nowhere/tides"] });
      const failed = await fx.lease().catch((error: unknown) => error);
      expect(String(failed)).toContain("/nowhere/tides, which is listed in agent.skills, does not exist.");
      expect(fx.happened.some(({ event }) => event === "agent.spawned")).toBe(false);
    },
    LIMIT_MS,
  );
});

test(
  "an extension's tool is there for the model, beside the gateway's",
  async () => {
    const { fx, requests } = await equipped.scene();
    fx.gate.tools = [toolSpec("session_status")];
    await ask(fx, ann);
    expect(lastOf(requests).tools.toSorted()).toEqual(["session_status", "tide"]);
  },
  LIMIT_MS,
);

describe("a prompt template", () => {
  test(
    "takes the place of its name, and no other slash is anything but text",
    async () => {
      const { fx, requests } = await equipped.scene();
      const told = async (text: string) => {
        await ask(fx, ann, text);
        const { content } = lastOf(requests).messages.at(-1) ?? {};
        return typeof content === "string" ? content : JSON.stringify(content);
      };
      expect(await told("/greet Ann")).toContain("Greet Ann with a sea shanty.");
      expect(await told(" /greet Ann")).toContain(" /greet Ann");
      expect(await told("/greetings Ann")).toContain("/greetings Ann");
      expect(await told("/skill:x")).toContain("/skill:x");
      expect(await told("/llama")).toContain("/llama"); // a command that pi always has
    },
    LIMIT_MS,
  );
});

describe("a spare", () => {
  test(
    "waits for the next person while the first is served, and is taken without a start",
    async () => {
      const { fx, file } = await equipped.scene();
      const pids = () =>
        fx.happened.flatMap(({ event, data }) => (event === "agent.spawned" ? [(data as { pid: number }).pid] : []));
      const hers = await served(fx, ann);
      await until("two idle agents", () => fx.pool.stats().idle === 2);
      const before = pids();
      await using bob = await fx.lease({ principal: "web:user:bob", sessionFile: file("bob") });
      expect(before.filter((pid) => pid !== hers)).toEqual([bob.pid]);
      await until("Ann's agent and the next spare are idle", () => fx.pool.stats().idle === 2); // Ann's, and the next spare
      expect(pids().length).toBe(3);
    },
    LIMIT_MS,
  );

  test(
    "has no role yet; a process that has served an owner never serves a guest, though people share",
    async () => {
      await using fake = await startFakeProvider(() => says("ok"));
      await using fx = await agentFixture({ pool: { min: 1, max: 3, reuse: "profile" } }, providers(fake));
      const owner = await served(fx, { ...ann, sessionFile: "session-ann.jsonl" });
      const first = await served(fx, guest);
      const second = await served(fx, { ...guest, sessionFile: "session-other.jsonl" });
      expect([first === owner, second === first]).toEqual([false, true]);
      expect(await served(fx, { principal: "web:user:bob", sessionFile: "session-bob.jsonl" })).toBe(owner);
    },
    LIMIT_MS,
  );
});
