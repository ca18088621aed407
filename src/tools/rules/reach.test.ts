/** What a rule allows, as a table: near misses and attacks are asked about again. */
import { describe, expect, test } from "bun:test";
import type { AgentId, Principal } from "../../contracts/ids.ts";
import type { RuledCall, RuleReach } from "../../contracts/tools/approval-rule.ts";
import type { ToolRequest } from "../../contracts/tools/tool.ts";
import { OWNER, says, tool } from "../../testing/tools/tool-world.ts";
import { piToolInfo } from "../pi-tools.ts";
import { createToolRegistry } from "../registry.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import type { Draft } from "../stages/stage.ts";
import { allows, ruleChoices } from "./reach.ts";
import { ruledCall } from "./ruled-call.ts";
import { programOf } from "./simple-command.ts";

const BECAUSE = "it may do anything";

type Called = Partial<Pick<ToolRequest, "file">> & {
  readonly context?: Partial<typeof OWNER>;
  readonly because?: string;
};

/** A call of a tool that pi runs. */
function byPi(name: string, params: unknown, { file, context, because = BECAUSE }: Called = {}): RuledCall {
  const request = { context: { ...OWNER, ...context }, ...(file ? { file } : {}) };
  return ruledCall({ request, tool: piToolInfo(name), usable: null } as unknown as Draft, params, because);
}
const bash = (command: string, called: Called = {}): RuledCall => byPi("bash", { command }, called);
const write = (file: string, content = "x"): RuledCall =>
  byPi("write", { path: "note.txt", content }, { file: () => file });

const COMMAND = { type: "object", properties: { command: { type: "string" } } };

/** A call of a tool of the gateway, with this schema. */
function byGateway(name: string, params: unknown, parameters?: Readonly<Record<string, unknown>>): RuledCall {
  const registry = createToolRegistry({ log: recordingLog() });
  registry.register(
    tool(async () => says(""), { name, ...(parameters ? { parameters } : {}) }),
    "test",
  );
  const usable = registry.usable(name, OWNER);
  if (!usable) throw new Error(`${name} is not usable`);
  return ruledCall({ request: { context: OWNER }, tool: usable.tool, usable } as unknown as Draft, params, BECAUSE);
}

function ruleOf(call: RuledCall, reach: RuleReach) {
  const choice = ruleChoices(call).find((one) => one.reach === reach);
  if (!choice) throw new Error(`no rule of this reach: ${reach}`);
  const { tool: name, agentId, principal, origins, because } = call;
  return { tool: name, agentId, principal, origins, because, ...choice, expiresAt: 1_000 };
}
const offered = (call: RuledCall): readonly RuleReach[] => ruleChoices(call).map(({ reach }) => reach);

describe("a shell command", () => {
  test.each([
    ["git status", "git"],
    ["git", "git"],
    ["git  log   --oneline", "git"],
    ["git diff HEAD~1 -- src/a.ts", "git"],
    ["git commit -m 'fix: a; b | c $(d)'", "git"],
    ['git commit -m "über & so"', "git"],
    ["ls -la /tmp", "ls"],
    ["g++ -o a a.cpp", "g++"],
    ["GIT status", "GIT"],
  ])("%j starts one program and nothing else", (command, program) => {
    expect(programOf(command)).toBe(program);
  });

  test.each([
    "git status; rm -rf /",
    "git status;rm -rf /",
    "git status && rm x",
    "git status || rm x",
    "git status & rm x",
    "git log | sh",
    "git status\nrm x",
    "git status\rrm x",
    "git\tstatus",
    "git status \\\nrm",
    "git $(rm x)",
    "git `rm x`",
    'git "$(rm x)"',
    'git "`rm x`"',
    'git "$HOME"',
    "git ${IFS}x",
    "git $'\\x3b'",
    'git "a\\"; rm x; \\""',
    "git log > /etc/passwd",
    "git log >> x",
    "git < x",
    "git <(rm x)",
    "git {a,b}",
    "git *",
    "git 'open",
    'git "open',
    "git 'a'; rm 'b'",
    "git\u00a0status",
    "git status\u00a0; rm",
    "git \u2028 rm",
    "git a\u0000b",
    "git 'a\u202eb'",
    "g\u0456t status",
    "ｇｉｔ status",
    "git é",
    '"git" status',
    "g'i't status",
    "g\\it status",
    " git status",
    "env git status",
    "FOO=bar git status",
    "PATH=. git status",
    "sudo git status",
    "./git status",
    "/usr/bin/git status",
    "~/git status",
    "xargs git",
    "bash -c git",
    "python3 -c 1",
    "eval git",
    "exec git",
    ". git",
    "time git",
    "! git",
    "[ -f x ]",
    "# git",
    "-git",
    "",
    " ",
    `git ${"a".repeat(5_000)}`,
  ])("%j is more than one program, none, or one that runs others", (command) => {
    expect(programOf(command)).toBeNull();
    expect(offered(bash(command))).toEqual(["call"]);
  });
});

describe("a rule for one program", () => {
  const rule = ruleOf(bash("git status"), "program");

  test("allows every simple command of it", () => {
    expect(rule).toMatchObject({ reach: "program", value: "git", says: "every git command" });
    for (const command of ["git status", "git push origin main", "git commit -m 'x; y'"])
      expect([command, allows(rule, bash(command), 1)]).toEqual([command, true]);
  });

  test.each<readonly [string, RuledCall]>([
    ["an operator", bash("git status; rm -rf /")],
    ["a substitution", bash("git $(rm x)")],
    ["a tab", bash("git\tstatus")],
    ["a newline", bash("git status\nrm x")],
    ["another program before it", bash("env git status")],
    ["upper case", bash("GIT status")],
    ["a look-alike", bash("g\u0456t status")],
    ["a program whose name begins so", bash("git-shell x")],
    ["a parameter that nobody knows", byPi("bash", { command: "git status", shell: "/tmp/x" })],
    ["a command that is no text", byPi("bash", { command: ["git", "status"] })],
    ["another person", bash("git status", { context: { principal: "telegram:user:7" as Principal } })],
    ["another agent", bash("git status", { context: { agentId: "papers" as AgentId } })],
    ["another origin", bash("git status", { context: { cause: "webhook" } })],
    ["a chat that a job has led to", bash("git status", { context: { askedBy: { ...OWNER, cause: "cron" } } })],
    ["another reason to ask", bash("git status", { because: "it may do anything the gateway's user may" })],
    ["another tool of pi", byPi("shell", { command: "git status" })],
    ["a tool of the gateway with the same name", byGateway("bash", { command: "git status" }, COMMAND)],
  ])("does not allow %s", (_, call) => {
    expect(allows(rule, call, 1)).toBe(false);
  });

  test("ends at its time", () => {
    expect([allows(rule, bash("git status"), 999), allows(rule, bash("git status"), 1_000)]).toEqual([true, false]);
  });
});

describe("a rule for exactly one call", () => {
  test("allows the same parameters in another order, and nothing else", () => {
    const rule = ruleOf(byPi("bash", { command: "make; make install", timeout: 5 }), "call");
    expect(rule.says).toBe("exactly this command");
    expect(allows(rule, byPi("bash", { timeout: 5, command: "make; make install" }), 1)).toBe(true);
    for (const params of [
      { command: "make; make install" },
      { command: "make; make install", timeout: 6 },
      { command: "make; make install ", timeout: 5 },
      { command: "make;\tmake install", timeout: 5 },
    ])
      expect([params, allows(rule, byPi("bash", params), 1)]).toEqual([params, false]);
  });

  test("does not allow a tool whose schema is another one by now", () => {
    const rule = ruleOf(byGateway("order", { text: "tea" }), "call");
    const changed = { type: "object", properties: { text: { type: "string" }, to: { type: "string", default: "x" } } };
    expect(allows(rule, byGateway("order", { text: "tea" }), 1)).toBe(true);
    expect(allows(rule, byGateway("order", { text: "coffee" }), 1)).toBe(false);
    expect(allows(rule, byGateway("order", { text: "tea" }, changed), 1)).toBe(false);
    expect(allows(rule, byGateway("orders", { text: "tea" }), 1)).toBe(false);
  });

  test("does not allow the same path when a link leads it to another file", () => {
    const rule = ruleOf(write("/home/ada/papers/note.txt"), "call");
    expect(allows(rule, write("/home/ada/papers/note.txt"), 1)).toBe(true);
    expect(allows(rule, write("/home/ada/keys/note.txt"), 1)).toBe(false);
    expect(allows(rule, write("/home/ada/papers/note.txt", "other"), 1)).toBe(false);
  });
});

describe("a rule for a folder", () => {
  const rule = ruleOf(write("/home/ada/papers/note.txt"), "folder");

  test("allows every file below it", () => {
    expect(rule.says).toBe("write for every file below /home/ada/papers");
    for (const path of ["/home/ada/papers/other.txt", "/home/ada/papers/2026/a.txt", "/home/ada/papers/..a/b"])
      expect([path, allows(rule, write(path), 1)]).toEqual([path, true]);
  });

  test.each([
    "/home/ada/papers",
    "/home/ada/papers/",
    "/home/ada/papers2/a.txt",
    "/home/ada/Papers/a.txt",
    "/home/ada/papers/../keys/a.txt",
    "/home/ada/papers/./a.txt",
    "/home/ada/papers//a.txt",
    "/home/ada/keys/a.txt",
    "papers/a.txt",
    "",
  ])("does not allow %j", (path) => {
    expect(allows(rule, write(path), 1)).toBe(false);
  });

  test("does not allow a path that leads nowhere, and another tool", () => {
    expect(allows(rule, byPi("write", { path: "a" }, { file: () => null }), 1)).toBe(false);
    expect(allows(rule, byPi("edit", { path: "a" }, { file: () => "/home/ada/papers/a" }), 1)).toBe(false);
  });

  test("is not offered for the root of the disk, for tools that take folders, and for tools of the gateway", () => {
    expect(offered(write("/note.txt"))).toEqual(["call"]);
    expect(offered(byPi("find", { path: "." }, { file: () => "/home/ada/papers" }))).toEqual(["call"]);
    expect(offered(byGateway("write", { text: "x" }))).toEqual(["call"]);
    expect(offered(write("/home/ada/papers/note.txt"))).toEqual(["call", "folder"]);
  });
});
