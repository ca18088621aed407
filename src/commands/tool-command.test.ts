/** A person calls a tool: what they are told, and that it is the gate that decides. Which stages it meets is in test/tool-callers.test.ts. */
import { describe, expect, test } from "bun:test";
import type { CommandContext } from "../contracts/command.ts";
import type { Role, SessionKey, TurnId } from "../contracts/ids.ts";
import { inbound } from "../testing/messages.ts";
import { OWNER, policy, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { createCommandRegistry } from "./registry.ts";
import { MAX_ANSWER_CHARS, toolCommand } from "./tool-command.ts";
import { waitFor } from "../testing/wait-for.ts";

const never = new AbortController().signal;
const echo = tool(async (_id, params) => says(`you said ${(params as { text: string }).text}`));

function chat(...tools: Parameters<typeof toolWorld>[0]) {
  const world = toolWorld(tools);
  const known = new Map<string, Awaited<ReturnType<typeof OWNER.stats>>>();
  const stats = { of: (file: string) => known.get(file) ?? null };
  const commands = createCommandRegistry([toolCommand({ tools: world.gate, stats })]);
  let turns = 0;
  const say = async (text: string, over: Partial<CommandContext> = {}, signal: AbortSignal = never) => {
    const message = inbound(text);
    const found = commands.find(message);
    if (!found) throw new Error(`${text} is no command`);
    const { sessionKey, agentId, role } = OWNER;
    const turnId = `turn_${++turns}` as TurnId;
    const context = { sessionKey, agentId, role, turnId, sessionFile: "file", message, ...over };
    return commands.answer(found, context, signal);
  };
  return { ...world, say, known };
}

describe("/tool", () => {
  test("calls the tool with what stands after its name, for whoever wrote it, in the conversation it was written in", async () => {
    const fx = chat(echo);
    expect(await fx.say('/tool echo {"text": "hi"}')).toBe("you said hi");
    expect(await fx.say('/tool\necho\n{\n"text": "two\\nlines"}')).toBe("you said two\nlines");
    expect(fx.rows[0]?.intent).toMatchObject({
      tool: "echo",
      path: "command",
      origin: "chat",
      turnId: "turn_1" as TurnId,
      sessionKey: OWNER.sessionKey,
      principal: inbound("").sender.principal,
      input: { text: "hi" },
    });
  });

  test("in a group begins in a group, where tools for owners are not to be had", async () => {
    const fx = chat({ ...echo, flags: { idempotent: false, ownerOnly: true } });
    const group = { sessionKey: "agent:default:telegram:group:-100" as SessionKey };
    expect(await fx.say('/tool echo {"text":"hi"}', group)).toContain("tools.origins.group.allow does not name it");
    expect(fx.last()).toMatchObject({ intent: { origin: "group" }, end: { status: "blocked" } });
    expect(await fx.say('/tool echo {"text":"hi"}')).toBe("you said hi");
  });

  test("without a name lists what this person may call here, and how", async () => {
    const fx = chat(echo, { ...echo, name: "secret", flags: { idempotent: true, ownerOnly: true } });
    expect(await fx.say("/tool")).toContain("- `echo`: Echo\n- `secret`: Echo\n\n`/tool NAME");
    expect(await fx.say("/tool", { role: "member" })).not.toContain("secret");
    fx.rules.now = policy({ deny: ["*"] });
    expect(await fx.say("/tool")).toBe("There is no tool for you here.");
    expect(fx.rows).toEqual([]);
  });

  test("is not for guests, and that they tried is on record", async () => {
    const fx = chat(echo);
    expect(await fx.say("/tool", { role: "guest" satisfies Role })).toContain("is for members");
    expect(await fx.say('/tool echo {"text":"hi"}', { role: "guest" satisfies Role })).toContain("is for members");
    await fx.gate[Symbol.asyncDispose]();
    expect(fx.rows).toMatchObject([
      {
        intent: { tool: "echo", path: "command", principal: inbound("").sender.principal },
        end: { status: "blocked", output: expect.stringContaining("is for members") },
      },
    ]);
  });

  test.each(["{text: hi}", "{“text”: “hi”}", '{"text": "hi"', `${"[".repeat(70)}`])(
    "says that %j is not JSON, runs nothing, and leaves a row",
    async (json) => {
      const fx = chat(echo);
      expect(await fx.say(`/tool echo ${json}`)).toMatch(/^What stands after echo is not JSON.*Nothing was run\.\n/);
      await fx.gate[Symbol.asyncDispose]();
      expect(fx.rows).toMatchObject([{ intent: { tool: "echo", path: "command" }, end: { status: "error" } }]);
    },
  );

  test("says what the gate says: missing parameters, a tool that is not there, one that failed", async () => {
    const fx = chat(
      echo,
      tool(() => Promise.reject(new Error("no such city")), { name: "weather" }),
    );
    expect(await fx.say("/tool echo")).toContain("The parameters of echo are not valid:\n- text:");
    expect(await fx.say("/tool nothing")).toContain("There is no tool called nothing. The tools are: echo, weather.");
    expect(await fx.say('/tool weather {"text":"x"}')).toContain("no such city");
  });

  test("cuts what is too long for a chat and says so, and names pictures", async () => {
    const picture = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const image = { type: "image" as const, data: picture.toString("base64"), mimeType: "image/png" };
    const long = tool(async () => ({ content: [image, ...says("x".repeat(MAX_ANSWER_CHARS * 2)).content] }), {
      name: "long",
    });
    const quiet = tool(async () => says(""), { name: "quiet" });
    const fx = chat(long, quiet);
    const said = await fx.say('/tool long {"text":"x"}');
    expect(said).toStartWith("(a picture, image/png)\nxxx");
    expect(said).toContain("more characters; the record of tool calls has them)");
    expect(said.length).toBeLessThan(MAX_ANSWER_CHARS + 100);
    expect(fx.last()?.end?.output.length).toBeGreaterThan(MAX_ANSWER_CHARS * 2);
    expect(await fx.say('/tool quiet {"text":"x"}')).toBe("Done. The tool had nothing to say.");
  });

  test("waits for the owner's word, like an agent, and then tells the result", async () => {
    const fx = chat({ ...echo, approval: true });
    const word = Promise.withResolvers<"once">();
    fx.approvals.answer = word.promise;
    const answer = fx.say('/tool echo {"text":"hi"}');
    await waitFor("the open approval", () => fx.approvals.asked.length > 0);
    await fx.clock.advance(1_000);
    expect(fx.last()).toMatchObject({ begun: false, end: null });
    word.resolve("once");
    expect(await answer).toBe("you said hi");
    fx.approvals.answer = "deny";
    expect(await fx.say('/tool echo {"text":"hi"}')).toContain("The owner did not approve it");
  });

  test("that is stopped is stopped: the tool is told, and the turn says it", async () => {
    const told = Promise.withResolvers<void>();
    const hanging = tool((_id, _params, signal) => {
      signal.addEventListener("abort", () => told.resolve());
      return new Promise(() => undefined);
    });
    const fx = chat(hanging);
    const stop = new AbortController();
    const answer = fx.say('/tool echo {"text":"hi"}', {}, stop.signal).catch((error: unknown) => String(error));
    await waitFor("the row of the call", () => fx.rows.length > 0);
    stop.abort(new Error("stopped by a person"));
    await told.promise;
    await fx.clock.advance(250);
    expect(await answer).toContain("stopped by a person");
  });

  test("run again after a crash has one effect", async () => {
    let effects = 0;
    const fx = chat(tool(async () => says(`effect ${++effects}`)));
    const turn = { turnId: "turn_same" as TurnId };
    expect(await fx.say('/tool echo {"text":"hi"}', turn)).toBe("effect 1");
    expect(await fx.say('/tool echo {"text":"hi"}', turn)).toBe("effect 1");
    expect(effects).toBe(1);
  });

  test("tells a tool that asks about the conversation what is known of it", async () => {
    const asking = tool(async (_id, _params, signal, _onUpdate, context) => says((await context.stats(signal)).model), {
      name: "asking",
    });
    const fx = chat(asking);
    expect(await fx.say('/tool asking {"text":"x"}')).toContain("known after the next answer");
    fx.known.set("file", await OWNER.stats(never));
    expect(await fx.say('/tool asking {"text":"x"}')).toBe("fake/one");
  });
});
