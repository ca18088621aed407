/** pi tools under the gateway's rules: judged before they run, written down when they end, kept inside the workspace. Real pi. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolRequest } from "../../contracts/tools/tool.ts";
import { caller, okResult, replyOf, toolSpec } from "../../testing/agent-fixture.ts";
import { type AgentStage, createAgentStage } from "../../testing/agent-stage.ts";
import { type FakeReply, inOrder, says } from "../../testing/fake-provider.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { asksOwner, confine } from "./confine.ts";
import type { ToolsFilter } from "../../config/index.ts";
import { piToolFlags, profileTools, settledTools } from "./pi-tools.ts";
import { waitFor } from "../../testing/wait-for.ts";

setDefaultTimeout(120_000);
const MAX_LOOKS = 4_000;

const calls = (name: string, input: Record<string, unknown> = {}): FakeReply => ({
  kind: "tools",
  calls: [{ name, input }],
});

/** Every test has a session of its own, and files of its own names in the one workspace. */
const workspaceAgents = createAgentStage({ model: "fake/fake-1", tools: "workspace", pool: { max: 1 } });
const fullAgents = createAgentStage({ model: "fake/fake-1", tools: "full", pool: { max: 2 } });
afterAll(async () => {
  await workspaceAgents[Symbol.asyncDispose]();
  await fullAgents[Symbol.asyncDispose]();
});

async function act(agents: AgentStage, replies: readonly FakeReply[]) {
  const { fx, requests } = await agents.scene(inOrder(...replies));
  fx.gate.tools = [toolSpec("first")];
  const workspace = join(fx.home, "workspace");
  await mkdir(workspace, { recursive: true });
  return { fx, requests, workspace, heard: (at: number) => JSON.stringify(requests[at]?.messages.at(-1)) };
}

describe("a profile", () => {
  test.each<[ToolsFilter, readonly string[]]>([
    ["chat", []],
    ["files", ["read", "write", "edit", "grep", "find", "ls"]],
    ["workspace", ["read", "write", "edit", "grep", "find", "ls", "bash"]],
    ["full", ["read", "write", "edit", "grep", "find", "ls", "bash"]],
    [
      ["ls", "read", "session_status"],
      ["read", "ls"],
    ],
  ])("%p has %p of pi tools, once the process works for somebody", (profile, tools) => {
    expect(profileTools(profile)).toEqual(tools);
  });

  test.each([
    [{ sandbox: "auto" }, "full", "owner", "workspace"],
    [{ sandbox: "auto" }, "basic", "member", "files"],
    [{ sandbox: "auto" }, "none", "owner", "chat"],
    [{ sandbox: "off" }, "full", "owner", "chat"],
    [{ sandbox: "off", tools: "workspace" }, "none", "owner", "files"], // as it was before there was a sandbox
    [{ sandbox: "off", tools: "full" }, "none", "owner", "full"],
    [{ sandbox: "auto", tools: "workspace" }, "none", "owner", "chat"],
    [{ sandbox: "auto", tools: "full" }, "none", "owner", "chat"],
    [{ sandbox: "auto", tools: ["bash", "notes"] }, "none", "owner", ["notes"]],
    [{ sandbox: "required", tools: "workspace" }, "basic", "owner", "workspace"],
    [{ sandbox: "auto", tools: "workspace" }, "full", "guest", "files"],
    [{ sandbox: "auto", tools: "full" }, "full", "owner", "full"],
    [{ sandbox: "auto", tools: "chat" }, "full", "owner", "chat"],
  ] as const)("of the settings %j in the tier %s is for the role %s %j", (settings, tier, role, expected) => {
    expect(settledTools(settings, role, tier) as unknown).toEqual(expected);
  });

  test("shuts out by a flag what it does not have", () => {
    expect(piToolFlags("full")).toEqual(["--no-builtin-tools", "--exclude-tools", "powershell"]);
    expect(piToolFlags("files").at(-1)).toBe("bash,powershell");
    expect(piToolFlags("chat").at(-1)).toContain("read,write");
  });

  test("is what the model is offered, beside the gateway's tools", async () => {
    const world = await act(workspaceAgents, [says("ok")]);
    await world.fx.turn("hello");
    expect(world.requests[0]?.tools).toEqual(["read", "write", "edit", "grep", "find", "ls", "bash", "first"]);
  });

  test("of pi's tools is not for people who do not own the gateway", async () => {
    const world = await act(fullAgents, [calls("read", { path: "a.txt" }), says("ok")]);
    await world.fx.turn("hello", { caller: { ...caller("web:user:2"), role: "member" } });
    expect(world.requests[0]?.tools).toEqual(["first"]);
    expect(world.heard(1)).toContain("There is no tool called read. The tools are: first.");
    expect(world.fx.gate.admitted).toEqual([]);
  });
});

describe("a call of pi tools", () => {
  test("that the gate refuses never runs, and the model reads why", async () => {
    const world = await act(fullAgents, [calls("bash", { command: "touch ran" }), says("done")]);
    const { fx, workspace } = world;
    const asked: ToolRequest[] = [];
    fx.gate.judge = (request) => {
      asked.push(request);
      return "bash needs the owner's word, and nobody gave it.";
    };
    const events = await fx.turn("go");
    expect(replyOf(events)).toBe("done");
    expect(asked.map(({ tool, path, params }) => ({ tool, path, params }))).toEqual([
      { tool: "bash", path: "pi", params: { command: "touch ran" } },
    ]);
    expect(asked[0]?.context.principal as string).toBe("operator");
    expect(world.heard(1)).toContain("nobody gave it");
    expect(await Bun.file(join(workspace, "ran")).exists()).toBe(false);
    expect(events.find(({ type }) => type === "tool_end")).toMatchObject({ tool: "bash", isError: true });
  });

  test("that is allowed runs, and its end is written down", async () => {
    const world = await act(workspaceAgents, [calls("read", { path: "allowed.txt" }), says("done")]);
    await writeFile(join(world.workspace, "allowed.txt"), "what the file says");
    await world.fx.turn("go");
    expect(world.heard(1)).toContain("what the file says");
    expect(world.fx.gate.admitted.map(({ request, end }) => [request.tool, request.path, end])).toEqual([
      ["read", "pi", { isError: false, output: "what the file says" }],
    ]);
  });

  test("runs with what the gate made of it, and pi keeps what the gate made of the result once the turn is over", async () => {
    const replies = [calls("read", { path: "a.txt", limit: 1 }), says("done"), says("and on")];
    const world = await act(workspaceAgents, replies);
    await writeFile(join(world.workspace, "a.txt"), "the first file");
    await writeFile(join(world.workspace, "b.txt"), "the second file\nall of it");
    world.fx.gate.admit = async () => ({
      kind: "go",
      params: { path: "b.txt" },
      checksKept: true,
      updated: () => undefined,
      refused: async () => undefined,
      ended: async ({ output }) => ({ kept: output.replace("all of it", "kept of it") }),
    });
    await world.fx.turn("go");
    expect(world.heard(1)).toContain("all of it"); // the gate took the limit away
    await world.fx.turn("go on");
    const later = JSON.stringify(world.requests[2]?.messages);
    expect(later).toContain("kept of it");
    expect(later).not.toContain("all of it");
  });

  test("is checked again by pi's schema when the gate has changed it, and does not run when it no longer fits", async () => {
    const world = await act(workspaceAgents, [calls("write", { path: "unfit.txt", content: "words" }), says("done")]);
    const ends: unknown[] = [];
    world.fx.gate.admit = async () => ({
      kind: "go",
      params: { path: "unfit.txt", content: { not: "a text" } },
      checksKept: false,
      updated: () => undefined,
      refused: async () => undefined,
      ended: async (end) => (ends.push(end), { kept: null }),
    });
    await world.fx.turn("go");
    expect(world.heard(1)).toContain("Validation failed");
    expect(await Bun.file(join(world.workspace, "unfit.txt")).exists()).toBe(false);
    expect(ends).toMatchObject([{ isError: true, output: expect.stringContaining("Validation failed") }]);
  });

  test("may come under the name a model has learnt elsewhere, and a tool of the gateway in its other spelling", async () => {
    const reply: FakeReply = {
      kind: "tools",
      calls: [
        { name: "Read", input: { path: "learnt.txt" } },
        { name: "firstTool", input: {} },
        { name: "Bash", input: { command: "id" } },
        { name: "nobodysTool", input: {} },
      ],
    };
    const world = await act(workspaceAgents, [reply, says("done")]);
    world.fx.gate.tools = [{ ...toolSpec("first_tool"), otherNames: ["firstTool"] }];
    await writeFile(join(world.workspace, "learnt.txt"), "what the file says");
    const events = await world.fx.turn("go");
    const ends = events.flatMap((event) => (event.type === "tool_end" ? [[event.tool, event.isError]] : []));
    expect(Object.fromEntries(ends)).toEqual({ read: false, first_tool: false, bash: false, nobodysTool: true });
    expect(world.fx.gate.admitted.map(({ request }) => request.tool).sort()).toEqual(["bash", "read"]);
    expect(world.fx.gate.calls.map(({ tool }) => tool)).toEqual(["first_tool"]);
    expect(JSON.stringify(world.requests[1]?.messages)).toContain("what the file says");
  });

  test("tells how much it has said while it runs", async () => {
    const command = "echo one; until test -e enough; do sleep 0.02; done";
    const world = await act(fullAgents, [calls("bash", { command }), says("done")]);
    const turn = world.fx.turn("go");
    const said = () => world.fx.gate.admitted[0]?.chars ?? 0;
    for (let looks = 0; said() < 3 && looks < MAX_LOOKS; looks++) await Bun.sleep(5);
    const early = { chars: said(), end: world.fx.gate.admitted[0]?.end };
    await writeFile(join(world.workspace, "enough"), "");
    await turn;
    expect(early).toEqual({ chars: expect.any(Number), end: null });
    expect(early.chars).toBeGreaterThan(2);
    expect(world.fx.gate.admitted[0]?.end).toMatchObject({ isError: false });
  });

  test("that fails inside pi is written down as failed", async () => {
    const world = await act(fullAgents, [calls("bash", { command: "exit 3" }), says("done")]);
    await world.fx.turn("go");
    expect(world.fx.gate.admitted[0]?.end).toMatchObject({ isError: true });
  });

  test("that is running when the turn is stopped gets an end", async () => {
    const world = await act(fullAgents, [calls("bash", { command: "touch began; sleep 30" })]);
    const { fx, workspace } = world;
    const stop = new AbortController();
    {
      await using lease = await fx.lease();
      for await (const event of lease.prompt({ text: "go", images: [] }, stop.signal)) {
        if (event.type === "tool_start") {
          await waitFor("the command has begun", () => Bun.file(join(workspace, "began")).exists());
          stop.abort();
        }
      }
    }
    expect(fx.gate.admitted[0]?.end).toMatchObject({ isError: true });
  });

  test("waits for the gate's word, and is not run when the turn is stopped meanwhile", async () => {
    const world = await act(fullAgents, [calls("bash", { command: "touch late" })]);
    const { fx, workspace } = world;
    const stop = new AbortController();
    fx.gate.admit = (request, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () =>
          resolve({
            kind: "go",
            params: request.params,
            checksKept: false,
            updated: () => undefined,
            refused: async () => undefined,
            ended: async () => ({ kept: null }),
          }),
        );
        stop.abort();
      });
    {
      await using lease = await fx.lease();
      const events = await Array.fromAsync(lease.prompt({ text: "go", images: [] }, stop.signal));
      expect(events.at(-1)?.type).toBe("aborted");
    }
    expect(await Bun.file(join(workspace, "late")).exists()).toBe(false);
  });

  test("outside of the workspace is refused, also through a link, and leaves its row", async () => {
    await using secret = await tempHome();
    await writeFile(join(secret.path, "key.txt"), "a secret");
    const asks = [{ path: "link/key.txt" }, { path: join(secret.path, "key.txt") }, { path: "../agent/settings.json" }];
    const world = await act(workspaceAgents, [...asks.map((ask) => calls("read", ask)), says("done")]);
    await symlink(secret.path, join(world.workspace, "link"));
    await world.fx.turn("go");
    for (const [at] of asks.entries()) expect(world.heard(at + 1)).toContain("outside of the workspace");
    expect(world.fx.gate.admitted.map(({ end }) => end?.isError)).toEqual([true, true, true]);
    expect(JSON.stringify(world.requests)).not.toContain("a secret");
  });

  test("makes new files in new folders of the workspace, and nowhere else", async () => {
    const replies = [
      calls("write", { path: "new/deep/a.txt", content: "made" }),
      calls("write", { path: "../escaped.txt", content: "made" }),
      says("done"),
    ];
    const world = await act(workspaceAgents, replies);
    await world.fx.turn("go");
    expect(await readFile(join(world.workspace, "new/deep/a.txt"), "utf8")).toBe("made");
    expect(await Bun.file(join(world.workspace, "../escaped.txt")).exists()).toBe(false);
  });

  test("does not stand in the way of the gateway's tools, which are judged once", async () => {
    const world = await act(fullAgents, [calls("first"), says("done")]);
    world.fx.gate.answer = async () => okResult("done");
    await world.fx.turn("go");
    expect([world.fx.gate.calls.length, world.fx.gate.admitted.length]).toEqual([1, 0]);
  });
});

describe("a path", () => {
  test("is followed to where it really leads before it is judged", async () => {
    await using home = await tempHome();
    const inside = join(home.path, "ws");
    await mkdir(join(inside, "sub"), { recursive: true });
    await writeFile(join(home.path, "out.txt"), "");
    await writeFile(join(inside, "in.txt"), "");
    await symlink(join(home.path, "out.txt"), join(inside, "out-link"));
    await symlink(join(home.path, "nothing"), join(inside, "dangling"));
    await symlink(join(inside, "in.txt"), join(inside, "in-link"));
    await mkdir(join(home.path, "ws-twin"));
    const skill = join(home.path, "skill");
    await mkdir(skill);
    await writeFile(join(skill, "SKILL.md"), "");
    await symlink(join(home.path, "out.txt"), join(skill, "out-link"));
    const granted = join(home.path, "granted");
    await mkdir(granted);
    const room = {
      workspace: inside,
      readable: [skill, granted, join(home.path, "gone")],
      writable: [granted],
      asks: [],
    };
    const verdict = (tool: string, path: unknown) => {
      const found = confine(room, tool, path === undefined ? {} : { path });
      return found.kind === "inside" ? String(found.params["path"]).replace(inside, "") : "refused";
    };
    expect(verdict("read", "in.txt")).toBe("/in.txt");
    expect(verdict("read", "in-link")).toBe("/in.txt");
    expect(verdict("read", "sub/../in.txt")).toBe("/in.txt");
    expect(verdict("ls", undefined)).toBe("");
    expect(verdict("write", "sub/new.txt")).toBe("/sub/new.txt");
    for (const tool of ["read", "grep"]) expect(verdict(tool, join(skill, "SKILL.md"))).toBe(join(skill, "SKILL.md"));
    for (const tool of ["edit", "write"]) expect(verdict(tool, join(skill, "SKILL.md"))).toBe("refused");
    for (const tool of ["ls", "write"]) expect(verdict(tool, join(granted, "."))).toBe(granted);
    expect(verdict("write", join(granted, "new.txt"))).toBe(join(granted, "new.txt"));
    expect(verdict("write", join(granted, "../new.txt"))).toBe("refused");
    for (const path of ["out-link", "../out.txt", "../gone"])
      expect(verdict("read", join(skill, path))).toBe("refused");
    const bad = [
      "out-link",
      "../out.txt",
      join(home.path, "ws-twin"),
      "~/x",
      "@in.txt",
      "in\u00a0txt",
      "in.txt\0",
      5,
      "",
    ];
    for (const path of bad) expect([path, verdict("read", path)]).toEqual([path, "refused"]);
    for (const path of ["dangling", "out-link", "../new.txt", "out-link/x", "\u202ein.txt"])
      expect([path, verdict("write", path)]).toEqual([path, "refused"]);
  });

  test("of a change outside of the workspace is a reason to ask an owner, unless the innermost folder around it says never", async () => {
    await using home = await tempHome();
    const at = (name: string) => join(home.path, name);
    for (const name of ["ws", "asks/never", "never"]) await mkdir(at(name), { recursive: true });
    await symlink(at("asks"), at("ws/link"));
    const writable = ["asks", "asks/never", "never"].map(at);
    const room = { workspace: at("ws"), readable: writable, writable, asks: [at("asks")] };
    const asked = (tool: string, path: string) => asksOwner(room, tool, { path });
    const because = `it changes ${at("asks")}, outside of the workspace`;
    const question = { because, folder: at("asks") };
    expect(asked("write", at("asks/new.txt"))).toEqual(question);
    expect(asked("write", "link/new.txt")).toEqual(question);
    expect(asked("edit", at("asks"))).toEqual(question);
    expect(asked("write", at("asks/never/new.txt"))).toBeNull();
    expect(asked("write", at("never/new.txt"))).toBeNull();
    expect(asked("write", "new.txt")).toBeNull();
    expect(asked("read", at("asks"))).toBeNull();
    expect(asked("write", at("elsewhere"))).toBeNull(); // refused without a question
  });

  test("is nothing that bash has: its calls are left as they are", () => {
    expect(
      confine({ workspace: "/nowhere", readable: [], writable: [], asks: [] }, "bash", { command: "ls /" }),
    ).toEqual({
      kind: "inside",
      params: { command: "ls /" },
    });
  });
});
