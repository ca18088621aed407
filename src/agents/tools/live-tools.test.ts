/** Tools that come, change and go while an agent works. What the provider receives is the proof. Real pi. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolSpec } from "../../contracts/tools/tool.ts";
import { deferred } from "../../kit/deferred.ts";
import { agentFixture, collect, okResult, replyOf, toolSpec } from "../../testing/agent-fixture.ts";
import { createAgentStage } from "../../testing/agent-stage.ts";
import { type FakeReply, inOrder, type ProviderRequest, says } from "../../testing/fake-provider.ts";
import { tempHome } from "../../testing/temp-home.ts";

setDefaultTimeout(120_000);
const MAX_LOOKS = 4_000;

const calls = (name: string, input: Record<string, unknown> = {}): FakeReply => ({
  kind: "tools",
  calls: [{ name, input }],
});

function withParameter(name: string, parameter: string): ToolSpec {
  const parameters = { type: "object", properties: { [parameter]: { type: "string" } }, additionalProperties: false };
  return { ...toolSpec(name), parameters };
}

function parametersOf(request: ProviderRequest | undefined, name: string): readonly string[] {
  const tools = (request?.body["tools"] ?? []) as { function: { name: string; parameters: { properties: object } } }[];
  return Object.keys(tools.find((tool) => tool.function.name === name)?.function.parameters.properties ?? {});
}

/** An extension of pi with a tool of its own, which it switches on at every occasion. */
function eagerExtension(effect: string): string {
  return `import { writeFileSync } from "node:fs";
export default function (pi) {
  const tool = {
    name: "reach_out",
    label: "Reach out",
    description: "Leaves a mark.",
    parameters: { type: "object", properties: {} },
    execute: async () => (writeFileSync(${JSON.stringify(effect)}, "x"), { content: [{ type: "text", text: "done" }] }),
  };
  pi.registerTool(tool);
  const on = () => {
    pi.registerTool(tool);
    pi.setActiveTools(["reach_out", "bash"]);
  };
  pi.on("session_start", on);
  pi.on("before_agent_start", on);
}
`;
}

/** One process for all: every test has a session of its own, and begins with one tool. */
const live = createAgentStage({ model: "fake/fake-1", pool: { max: 1, reuse: "profile" } });
afterAll(() => live[Symbol.asyncDispose]());

async function act(replies: readonly FakeReply[], agents = live) {
  const scene = await agents.scene(inOrder(...replies));
  scene.fx.gate.tools = [toolSpec("first")];
  return scene;
}

describe("during a running turn", () => {
  test("a new tool is in the very next request, and can be called in the same turn", async () => {
    const world = await act([calls("first"), calls("second"), says("both done")]);
    const { fx, requests } = world;
    fx.gate.answer = async ({ tool }) => {
      if (tool === "first") fx.gate.offer([toolSpec("first"), toolSpec("second")]);
      return okResult(`${tool} done`);
    };
    expect(replyOf(await fx.turn("go"))).toBe("both done");
    expect(requests.map(({ tools }) => tools)).toEqual([["first"], ["first", "second"], ["first", "second"]]);
    expect(fx.gate.calls.map(({ tool }) => tool)).toEqual(["first", "second"]);
  });

  test("a changed schema is in the very next request, and is the one that counts", async () => {
    const world = await act([calls("first", { old: "x" }), calls("first", { new: "y" }), says("done")]);
    const { fx, requests } = world;
    fx.gate.tools = [withParameter("first", "old")];
    fx.gate.answer = async () => {
      fx.gate.offer([withParameter("first", "new")]);
      return okResult("done");
    };
    expect(replyOf(await fx.turn("go"))).toBe("done");
    expect(requests.map((request) => parametersOf(request, "first"))).toEqual([["old"], ["new"], ["new"]]);
    expect(fx.gate.calls.map(({ params }) => params)).toEqual([{ old: "x" }, { new: "y" }]);
  });

  test("a removed tool is gone from the very next request, and a call to it is refused", async () => {
    const world = await act([calls("first"), calls("second"), says("done")]);
    const { fx, requests } = world;
    fx.gate.tools = [toolSpec("first"), toolSpec("second")];
    fx.gate.answer = async () => {
      fx.gate.offer([toolSpec("first")]);
      return okResult("done");
    };
    expect(replyOf(await fx.turn("go"))).toBe("done");
    expect(requests.map(({ tools }) => tools)).toEqual([["first", "second"], ["first"], ["first"]]);
    expect(fx.gate.calls.map(({ tool }) => tool)).toEqual(["first"]);
    expect(JSON.stringify(requests[2]?.messages)).toContain("There is no tool called second. The tools are: first.");
  });

  test("a tool that is removed in the middle of its own call ends that call normally", async () => {
    const world = await act([calls("first"), says("done")]);
    const { fx, requests } = world;
    fx.gate.answer = async (_request, signal) => {
      fx.gate.offer([]);
      return okResult(signal.aborted ? "was stopped" : "came to its end");
    };
    const events = await fx.turn("go");
    expect(events.find(({ type }) => type === "tool_end")).toMatchObject({ isError: false, output: "came to its end" });
    expect(requests.map(({ tools }) => tools)).toEqual([["first"], []]);
  });

  test("many changes at once arrive as the last of them", async () => {
    const world = await act([calls("first"), says("done")]);
    const { fx, requests } = world;
    fx.gate.answer = async () => {
      for (let n = 0; n < 100; n++) fx.gate.offer([toolSpec("first"), toolSpec(`extra_${n}`)]);
      return okResult("done");
    };
    await fx.turn("go");
    expect(requests[1]?.tools).toEqual(["first", "extra_99"]);
  });
});

describe("between turns", () => {
  test("a tool that came while the model was talking is in the first request of the next turn, in the same session", async () => {
    const hold = deferred<void>();
    const world = await act([says("one", hold.promise, "two"), says("done")]);
    const { fx, requests } = world;
    {
      await using lease = await fx.lease();
      const talking = collect(lease, "go");
      await world.arrived(1);
      fx.gate.offer([toolSpec("first"), toolSpec("second")]);
      hold.resolve();
      await talking;
    }
    await fx.turn("again");
    expect(requests.map(({ tools }) => tools)).toEqual([["first"], ["first", "second"]]);
  });

  test("a process that rested is told at its next turn, in an open session and in another one", async () => {
    const world = await act([says("ok")]);
    const { fx, requests, file } = world;
    const served = async (request: Parameters<typeof fx.lease>[0] = {}) => {
      await using lease = await fx.lease(request);
      await collect(lease, "hello");
      return lease.pid;
    };
    const first = await served();
    fx.gate.offer([toolSpec("second")]);
    const second = await served();
    fx.gate.offer([toolSpec("third")]);
    const third = await served({ sessionFile: file("other") });
    expect(requests.map(({ tools }) => tools)).toEqual([["first"], ["second"], ["third"]]);
    expect([second, third]).toEqual([first, first]);
  });

  test("each caller is offered their own, also by the same process", async () => {
    const world = await act([says("ok")]);
    const { fx, requests, file } = world;
    fx.gate.specs = (caller) => (caller?.principal === "operator" ? [toolSpec("first"), toolSpec("secret")] : []);
    await fx.turn("one");
    await fx.turn("two", { principal: "web:user:2", sessionFile: file("other") });
    await fx.turn("three");
    expect(requests.map(({ tools }) => tools)).toEqual([["first", "secret"], [], ["first", "secret"]]);
  });

  test("one tool that cannot be described leaves the others where they are", async () => {
    const world = await act([says("ok")]);
    const { fx, requests } = world;
    const broken = { ...toolSpec("broken"), parameters: null } as unknown as ToolSpec;
    fx.gate.tools = [toolSpec("first"), broken, toolSpec("second")];
    expect(replyOf(await fx.turn("one"))).toBe("ok");
    expect(requests.at(-1)?.tools).toEqual(["first", "second"]);
  });
});

test("progress of a tool is in pi before the tool has ended", async () => {
  await using home = await tempHome();
  const file = join(home.path, "listener.ts");
  const listener = `import { appendFileSync } from "node:fs";
    export default (pi) => pi.on("tool_execution_update", ({ toolName, partialResult }) =>
      appendFileSync("heard", toolName + ": " + partialResult.content[0].text));`;
  await writeFile(file, listener);
  await using listening = createAgentStage({ model: "fake/fake-1", extensions: [file] });
  const { fx, requests } = await act([calls("first"), says("done")], listening);
  const heard = join(fx.home, "workspace", "heard");
  let early = "";
  fx.gate.answer = async ({ onUpdate }) => {
    onUpdate?.({ content: [{ type: "text", text: "half way" }] });
    for (let looks = 0; early === "" && looks < MAX_LOOKS; looks++) {
      await Bun.sleep(5);
      early = existsSync(heard) ? await readFile(heard, "utf8") : ""; // for a moment it is there and empty
    }
    return okResult("all the way");
  };
  expect(replyOf(await fx.turn("go"))).toBe("done");
  expect(early).toBe("first: half way");
  expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain("all the way");
});

describe("agent.bridge", () => {
  test("minimal keeps the tools of a turn as they were at its beginning, and changes them for the next", async () => {
    await using minimal = createAgentStage({ model: "fake/fake-1", bridge: "minimal" });
    const world = await act([calls("first"), says("done"), says("ok")], minimal);
    const { fx, requests } = world;
    fx.gate.answer = async () => {
      fx.gate.offer([toolSpec("first"), toolSpec("second")]);
      return okResult("done");
    };
    await fx.turn("go");
    await fx.turn("again");
    expect(requests.map(({ tools }) => tools)).toEqual([["first"], ["first"], ["first", "second"]]);
  });

  test("off gives no tools at all, pi's own included, and the conversation goes on", async () => {
    await using off = createAgentStage({ model: "fake/fake-1", bridge: "off", tools: "full" });
    const world = await act([says("ok")], off);
    const { fx, requests } = world;
    expect(replyOf(await fx.turn("one"))).toBe("ok");
    expect(requests.map(({ tools }) => tools)).toEqual([[]]);
  });

  test("off lets no extension bring tools that nobody would judge, whatever it does to switch them on", async () => {
    await using home = await tempHome();
    const effect = join(home.path, "effect");
    const file = join(home.path, "extension.ts");
    await writeFile(file, eagerExtension(effect));
    const at = { model: "fake/fake-1", tools: ["reach_out"], extensions: [file] };
    await using judged = createAgentStage({ ...at, bridge: "live" });
    const one = await act([calls("reach_out"), says("ok")], judged);
    one.fx.gate.judge = () => "not today";
    await one.fx.turn("go");
    expect(one.requests[0]?.tools).toContain("reach_out"); // it is there, and the gateway is asked
    expect(JSON.stringify(one.requests[1]?.messages.at(-1))).toContain("not today");

    await using off = createAgentStage({ ...at, bridge: "off" });
    const two = await act([calls("reach_out"), calls("bash", { command: `touch ${effect}` }), says("ok")], off);
    expect(replyOf(await two.fx.turn("go"))).toBe("ok");
    expect(two.requests.map(({ tools }) => tools)).toEqual([[], [], []]);
    expect(existsSync(effect)).toBe(false);
    expect(two.fx.gate.away.map(({ tool, reason }) => [tool, reason])).toEqual([
      ["reach_out", "refused_by_agent"],
      ["bash", "refused_by_agent"],
    ]);
  });

  test("off together with the demo model says what to do", async () => {
    await using fx = await agentFixture({ bridge: "off" });
    const failure = await fx.turn("hello").catch((error: Error) => error.message);
    expect(failure).toContain("agent.bridge is off");
  });
});
