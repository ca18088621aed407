/** A stand-in for pi that misbehaves on purpose, for `agent.piPath`: a small Bun script speaking just enough of the protocol. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type Misbehaviour =
  /** Answers everything properly; the reply to every prompt is "ok". */
  | { readonly kind: "none" }
  | { readonly kind: "exits"; readonly code: number; readonly lastWords?: string }
  /** Writes lines that are no records, for ever. */
  | { readonly kind: "garbage" }
  /** Writes one line larger than the gateway reads. */
  | { readonly kind: "long_line" }
  /** Reads everything and answers nothing. */
  | { readonly kind: "hangs" }
  /** Starts well, then this happens when it is asked something. */
  | { readonly kind: "exits_on_prompt"; readonly code: number }
  | { readonly kind: "exits_in_mid_turn"; readonly code: number }
  | { readonly kind: "garbage_on_prompt" }
  | { readonly kind: "ignores_abort" }
  /** Is asked to stop while it speaks, and says the rest of its answer instead. */
  | { readonly kind: "answers_after_abort" }
  | { readonly kind: "floods_stderr" }
  /** Answers, but says that it could not write its session file. */
  | { readonly kind: "disk_full" }
  /** Closes its output in the middle of a turn and lives on. */
  | { readonly kind: "closes_output" }
  /** Leaves a process behind that has its own session and whose parent is gone; its pid goes to the file. */
  | { readonly kind: "has_lost_child"; readonly pidFile: string }
  /** Starts a child of its own that outlives it unless somebody ends both; its pid goes to the file. */
  | { readonly kind: "has_child"; readonly pidFile: string };

/** Returns the path of the script. */
export async function writeScriptedAgent(folder: string, misbehaviour: Misbehaviour): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `scripted-${misbehaviour.kind.replaceAll("_", "-")}.ts`);
  await writeFile(path, script(misbehaviour));
  await chmod(path, 0o700);
  return path;
}

/** The real pi, which has started something in the background that would outlive it. `pidFile` gets one line per start: the process number of what was left in the background. */
export async function writePiWithChild(folder: string, pidFile: string): Promise<string> {
  const pi = Bun.fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent/rpc-entry"));
  const path = join(folder, "pi-with-child.ts");
  await writeFile(path, piWithChild(pidFile, pi), { mode: 0o700 });
  return path;
}

/** In a session of its own and without its parent, so that neither a signal to the group nor a look at the family reaches it. */
const piWithChild = (pidFile: string, pi: string): string => `
import { spawn } from "node:child_process";
const command = "sleep 600 & echo $! >> " + ${JSON.stringify(pidFile)};
const shell = spawn("sh", ["-c", command], { detached: true, stdio: "ignore" });
await new Promise((resolve) => shell.once("exit", resolve));
await import(${JSON.stringify(pi)});
`;

function script(misbehaviour: Misbehaviour): string {
  return `const how = ${JSON.stringify(misbehaviour)};
${PRELUDE}
${BODY}`;
}

const PRELUDE = `
import { spawn } from "node:child_process";
import { closeSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
/** Bun holds its output under more than one number. */
function closeOutput() {
  setInterval(() => undefined, 1000);
  const target = (fd) => { try { return readlinkSync("/proc/self/fd/" + fd); } catch { return ""; } };
  const pipe = target(1);
  for (const fd of readdirSync("/proc/self/fd")) if (target(fd) === pipe) closeSync(Number(fd));
}
const out = (record) => process.stdout.write(JSON.stringify(record) + "\\n");
if (how.kind === "exits") { if (how.lastWords) console.error(how.lastWords); process.exit(how.code); }
if (how.kind === "garbage") for (let n = 0; n < 1000; n++) process.stdout.write("this is no record " + n + "\\n");
if (how.kind === "long_line") process.stdout.write("x".repeat(17 * 1024 * 1024));
if (how.kind === "floods_stderr") for (let n = 0; n < 20000; n++) process.stderr.write("noise ".repeat(20) + n + "\\n");
if (how.kind === "has_lost_child") {
  const shell = spawn("sh", ["-c", "sleep 600 & echo $! > " + how.pidFile], { detached: true, stdio: "ignore" });
  await new Promise((resolve) => shell.once("exit", resolve));
}
if (how.kind === "has_child") {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  child.unref();
  writeFileSync(how.pidFile, String(child.pid));
}
`;

const BODY = `
let sessionFile = "";
const model = { provider: "gwdemo", id: "demo" };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } };
const assistant = (stopReason) => ({ role: "assistant", provider: "gwdemo", model: "demo", usage, stopReason, content: [{ type: "text", text: "ok" }] });

function handle(command) {
  const answer = (data) => out({ id: command.id, type: "response", command: command.type, success: true, data });
  if (how.kind === "hangs" || how.kind === "garbage" || how.kind === "long_line") return;
  if (command.type === "get_state") return answer({ model, sessionFile, thinkingLevel: "off" });
  if (command.type === "switch_session") { sessionFile = command.sessionPath; return answer({ cancelled: false }); }
  if (command.type === "abort" && how.kind === "ignores_abort") return;
  if (command.type === "abort" && how.kind === "answers_after_abort") {
    out({ type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "!" } });
    out({ type: "message_end", message: { ...assistant("stop"), content: [{ type: "text", text: "ok!" }] } });
    out({ type: "agent_settled" });
    return answer({});
  }
  if (command.type !== "prompt" || command.message.startsWith("/gw-")) return answer({});
  if (how.kind === "exits_on_prompt") process.exit(how.code);
  answer({});
  out({ type: "agent_start" });
  out({ type: "message_start", message: { role: "assistant" } });
  out({ type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "ok" } });
  if (how.kind === "exits_in_mid_turn") process.exit(how.code);
  if (how.kind === "closes_output") return closeOutput();
  if (how.kind === "garbage_on_prompt") { for (let n = 0; n < 1000; n++) process.stdout.write("no record " + n + "\\n"); return; }
  if (how.kind === "ignores_abort" || how.kind === "answers_after_abort") return;
  if (how.kind === "disk_full")
    out({ type: "message_end", message: { ...assistant("error"), errorMessage: "ENOSPC: no space left on device, write" } });
  else out({ type: "message_end", message: assistant("stop") });
  out({ type: "agent_settled" });
}

let held = "";
for await (const chunk of Bun.stdin.stream()) {
  held += new TextDecoder().decode(chunk);
  const lines = held.split("\\n");
  held = lines.pop() ?? "";
  for (const line of lines) handle(JSON.parse(line));
}
if (how.kind === "hangs") await new Promise((resolve) => process.once("SIGTERM", () => resolve(undefined)));
`;
