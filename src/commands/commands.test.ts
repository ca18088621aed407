import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { AgentSessionStats } from "../contracts/agent.ts";
import type { CommandContext } from "../contracts/command.ts";
import type { AgentId, InboxId, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import { systemClock } from "../kit/clock.ts";
import { testCommandDeps, testRoles } from "../testing/command-fixture.ts";
import { entry, inbound } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { builtinCommands, createCommandRegistry, createLastStats } from "./index.ts";
import { MAX_REMEMBERED_SESSIONS } from "./last-stats.ts";
import { parseCommand } from "./parse.ts";

const never = new AbortController().signal;
const AGENT = "default" as AgentId;
const SESSION = "agent:default:webchat:dm:1" as SessionKey;
const STATUS = {
  model: { name: "fake/one", demo: false },
  pool: { starting: 0, idle: 1, busy: 1, waiting: 0, max: 4 },
  queue: { waiting: 3, running: 1 },
  sandbox: { setting: "auto", tier: "basic", because: "No namespaces.", leaks: ["Names."], advice: "Allow them." },
  uptimeMs: 7_200_000,
  notices: ["The disk is nearly full."],
} as unknown as GatewayStatus;
const STATS: AgentSessionStats = {
  model: "fake/two",
  thinking: "high",
  messages: 4,
  toolCalls: 0,
  inputTokens: 1,
  outputTokens: 1,
  costUsd: 0,
  contextPercent: 12.34,
  contextWindow: 200_000,
};

async function world() {
  const real = await realStore(systemClock);
  const stats = createLastStats();
  const log = recordingLog();
  const roles = testRoles();
  await real.store.inbox.accept({ ...entry("1", "hello"), id: "in1" as InboxId });
  const chosen: (string | null)[] = [];
  const commands = createCommandRegistry(
    builtinCommands(
      testCommandDeps(real.store, {
        log,
        roles,
        stats,
        status: () => STATUS,
        queued: {
          session: () => ({ waiting: 2, mode: "collect", chosen: chosen.length > 0 }),
          choose: async (_key, mode) => void chosen.push(mode),
        },
      }),
    ),
  );
  const ask = async (text: string, role: Role = "owner"): Promise<string | null> => {
    const message = inbound(text);
    const found = commands.find(message);
    const context: CommandContext = {
      sessionKey: SESSION,
      sessionFile: "file",
      agentId: "default" as AgentId,
      turnId: "t" as TurnId,
      role,
      message,
    };
    return found ? commands.answer(found, context, never) : null;
  };
  return {
    commands,
    ask,
    stats,
    roles,
    chosen,
    log,
    store: real.store,
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

describe("a message", () => {
  const known = (name: string) => name === "new" || name === "sessions";
  const dm = { scope: "dm", mentioned: false, quoted: [] } as const;

  test.each([
    ["/new", "new", ""],
    ["/NEW", "new", ""],
    ["/new ", "new", ""],
    ["/sessions  red  fox ", "sessions", "red  fox"],
    ["/sessions\nred\nfox", "sessions", "red\nfox"],
  ])("that begins with the name of a command is one: %j", (text, name, args) => {
    expect(parseCommand({ ...dm, text }, known)).toEqual({ kind: "command", name, args });
  });

  test.each([
    ["/new/file.txt", "/new/file.txt"],
    ["/new.", "/new."],
    [" /new", " /new"],
    ["please /new", "please /new"],
    ["/", "/"],
    ["/ new", "/ new"],
    ["//new", "/new"],
    ["//etc/hosts", "/etc/hosts"],
    ["///new", "///new"],
    ["// a comment", "// a comment"],
    ["/usr/bin/x is broken", "/usr/bin/x is broken"],
    ["/etc/hosts", "/etc/hosts"],
    ["/5 of them", "/5 of them"],
    ["/skill:tides when", "/skill:tides when"],
    ["", ""],
  ])("is words for the model otherwise, and two slashes are one: %j", (text, told) => {
    expect(parseCommand({ ...dm, text }, known)).toEqual({ kind: "text", text: told });
  });

  test.each([
    ["/newer", "newer"],
    ["/unknown words of mine", "unknown"],
    ["/Unknown\nmore", "Unknown"],
    ["/gw-tools", "gw-tools"],
    ["/помощь", "помощь"],
    ["/etc is full", "etc"],
  ])("whose first word is a slash and a word that names no command is an unknown command: %j", (text, word) => {
    expect(parseCommand({ ...dm, text }, known)).toEqual({ kind: "unknown", word });
  });

  test("in a group is a command only when the gateway is mentioned; without a mention it may be for another bot", () => {
    const said = { text: "/new", scope: "group", quoted: [] } as const;
    expect(parseCommand({ ...said, mentioned: false }, known)).toEqual({ kind: "unaddressed" });
    expect(parseCommand({ ...said, text: "/usr/bin/x", mentioned: false }, known).kind).toBe("text");
    expect(parseCommand({ ...said, mentioned: true }, known).kind).toBe("command");
    const escaped = { text: "//new", scope: "group", mentioned: false, quoted: [] } as const;
    expect(parseCommand(escaped, known)).toEqual({ kind: "text", text: "//new" });
  });
});

describe("a command", () => {
  const FOR_ALL = ["help", "start", "new", "reset", "stop", "resume", "timezone", "role", "usage"];
  const FOR_MEMBERS = [
    "cron",
    "remind",
    "status",
    "queue",
    "context",
    "model",
    "think",
    "compact",
    "name",
    "tool",
    "tools",
  ];
  const ALLOWED: Readonly<Record<Role, readonly string[]>> = {
    guest: [...FOR_ALL],
    member: [...FOR_ALL, ...FOR_MEMBERS],
    owner: [...FOR_ALL, ...FOR_MEMBERS, "sessions", "approve", "pair"],
  };

  test.each(["guest", "member", "owner"] as const)(
    "answers who may use it and tells others who may: %s",
    async (role) => {
      await using fx = await world();
      for (const name of ALLOWED.owner) {
        const answer = await fx.ask(`/${name}`, role);
        const refused = answer?.startsWith(`/${name} is for `) ?? true;
        expect([name, refused]).toEqual([name, !ALLOWED[role].includes(name)]);
      }
    },
  );

  test.each(["guest", "member", "owner"] as const)("is in the /help of those who may use it: %s", async (role) => {
    await using fx = await world();
    const named = [...((await fx.ask("/help", role)) ?? "").matchAll(/^- `\/(\w+)/gm)].map(([, name]) => name ?? "");
    expect(named.toSorted()).toEqual(ALLOWED[role].toSorted());
  });

  test("is described in docs/commands.md", async () => {
    await using fx = await world();
    const page = await Bun.file(join(import.meta.dir, "../../docs/commands.md")).text();
    const names = fx.commands.all().map(({ name }) => name);
    expect(names.filter((name) => !page.includes(`\`/${name}`))).toEqual([]);
  });

  test("is work of its own; one that stops a turn does so only for those who may use it", async () => {
    await using fx = await world();
    const kind = (text: string, role: Role = "guest") =>
      fx.commands.workKind({ message: inbound(text), role, agentId: AGENT });
    const kinds = ["hello", "/status", "/stop", "//stop", "/stauts", "/usr/bin/x"].map((text) => kind(text));
    expect(kinds).toEqual(["talk", "command", "stop", "talk", "command", "talk"]);
    const strict = createCommandRegistry([
      { name: "stop", help: "", roles: ["owner"], stopsTurn: true, run: async () => "" },
    ]);
    expect(strict.workKind({ message: inbound("/stop"), role: "guest", agentId: AGENT })).toBe("command");
  });

  test("has a name of its own", () => {
    const one = { name: "one", help: "", roles: [], run: async () => "" };
    expect(() => createCommandRegistry([one, one])).toThrow("two commands are called one");
    expect(() => createCommandRegistry([{ ...one, name: "One two" }])).toThrow("is not a command name");
  });
});

describe("an unknown command", () => {
  const ask = async (
    text: string,
    role: Role,
    options: { readonly agentId?: string; readonly group?: boolean } = {},
  ) => {
    const run = async () => "ran";
    const commands = createCommandRegistry(
      [
        { name: "status", help: "", roles: ["owner"], run },
        { name: "start", help: "", roles: ["guest", "owner"], run },
      ],
      (agentId) => new Set(agentId === "greeter" ? ["greet"] : []),
    );
    const message = inbound(text, options.group ? { scope: "group", mentioned: false } : {});
    const agentId = (options.agentId ?? "default") as AgentId;
    const found = commands.findFor(message, agentId);
    const context = { sessionKey: SESSION, sessionFile: "file", agentId, turnId: "t" as TurnId, role, message };
    return found ? commands.answer(found, context, never) : null;
  };

  test("is answered with the nearest name that its sender may use", async () => {
    expect(await ask("/stauts now", "owner")).toStartWith(
      "There is no command `/stauts`. Did you mean `/status`? `/help` lists the commands.",
    );
    expect(await ask("/stauts", "guest")).not.toContain("/status");
    expect(await ask("/zzzzzz", "guest")).toStartWith("There is no command `/zzzzzz`. `/help` lists");
    expect((await ask(`/${"z".repeat(5_000)}`, "guest"))?.length).toBeLessThan(300);
  });

  test("is for the model where a prompt template of that agent has its name, and is suggested there", async () => {
    expect(await ask("/greet Ann", "owner", { agentId: "greeter" })).toBeNull();
    expect(await ask("/geret Ann", "owner", { agentId: "greeter" })).toContain("Did you mean `/greet`?");
    expect(await ask("/greet Ann", "owner")).toStartWith("There is no command `/greet`.");
  });

  test("gets no answer in a group that does not mention the gateway, whatever it names", async () => {
    expect(await ask("/stauts", "owner", { group: true })).toBe("");
    expect(await ask("/status", "owner", { group: true })).toBe("");
    expect(await ask("status", "owner", { group: true })).toBeNull();
  });
});

describe("the answers", () => {
  test("of /status are the facts, and what needs attention is for owners", async () => {
    await using fx = await world();
    expect(await fx.ask("/status", "member")).toBe(
      [
        "- Model: fake/one",
        "- This conversation: 1 message, 0 tokens in, 0 out, $0.0000",
        "- Queue: 3 waiting, 1 running",
        "- Agents: 1 busy, 1 idle, 0 starting, 4 at most",
        "- Up for 2 hours",
      ].join("\n"),
    );
    const shown = await fx.ask("/status", "owner");
    expect(shown).toContain("- Sandbox: basic. It does not hold: Names. Allow them.\n");
    expect(shown).toEndWith("- Note: The disk is nearly full.");
  });

  test("of /context and /think are known from the last answer of the agent, and say so before it", async () => {
    await using fx = await world();
    expect(await fx.ask("/context")).toBe("How much context is in use is known after the next answer.");
    expect(await fx.ask("/think")).toStartWith("Thinking: whatever pi chooses");
    fx.stats.note("file", STATS, 0);
    expect(await fx.ask("/context")).toBe("Context: 12.3% of 200.0k tokens, 4 messages. Model: fake/two.");
    expect(await fx.ask("/think")).toBe("Thinking: high.");
  });

  test("of /queue with a mode is that it is chosen, for this conversation; anything else chooses nothing", async () => {
    await using fx = await world();
    expect(await fx.ask("/queue faster")).toStartWith(
      '"faster" is no queue mode. There are:\n- `collect`: what arrives',
    );
    expect(fx.chosen).toEqual([]);
    expect(await fx.ask("/queue Steer", "member")).toEndWith("into the next one), chosen for this conversation.");
    await fx.ask("/queue default");
    expect(fx.chosen).toEqual(["steer", null]);
    expect(await fx.ask("/queue steer", "guest")).toStartWith("/queue is for members");
  });

  test("of /queue, /usage and /sessions say how much there is", async () => {
    await using fx = await world();
    expect(await fx.ask("/queue")).toStartWith("2 messages waiting here. Mode: collect");
    expect(await fx.ask("/usage")).toContain("All 1 conversation, ever: 0 tokens in");
    expect(await fx.ask("/usage", "guest")).toBe(
      ["This conversation", "You, today", "You, this month"]
        .map((what) => `- ${what}: 0 tokens in, 0 out, $0.0000`)
        .join("\n"),
    );
    expect(await fx.ask("/sessions nothing like it")).toBe("No conversation matches.");
    expect(await fx.ask("/sessions")).toStartWith(`1. hello: \`${SESSION}\``);
  });
});

test("the numbers of the conversation that was silent longest are forgotten first", () => {
  const stats = createLastStats();
  for (let n = 0; n < MAX_REMEMBERED_SESSIONS; n++) stats.note(`file-${n}`, STATS, n);
  stats.note("file-0", STATS, 0);
  stats.note("one more", STATS, 0);
  expect([stats.of("file-0"), stats.of("file-1"), stats.of("one more")]).toEqual([STATS, null, STATS]);
});

test("an answer that is on its way is waited for, and one that has come is not", async () => {
  const stats = createLastStats();
  const { promise, resolve } = Promise.withResolvers<void>();
  stats.expect(
    "file",
    promise.then(() => stats.note("file", STATS, 0)),
  );
  const settled = stats.settled("file").then(() => stats.of("file"));
  expect(stats.of("file")).toBeNull();
  await stats.settled("another");
  resolve();
  expect(await settled).toEqual(STATS);
  await stats.settled("file");
});

test("an agent is asked about its conversation once a minute at most", () => {
  const stats = createLastStats();
  expect(stats.stale("file", 0)).toBe(true);
  stats.note("file", STATS, 0);
  expect([stats.stale("file", 60_000), stats.stale("file", 60_001)]).toEqual([false, true]);
});
