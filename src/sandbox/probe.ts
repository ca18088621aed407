/** Tries a wall: starts a shell behind it that reads a secret of the state directory, which must fail, and writes its own folder, which must not. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConfinedPlaces, ConfinedProgram, Launch } from "../contracts/sandbox.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";

/** What is found here holds until the gateway ends, and a machine that has just been started has much else to do. */
const PROBE_MS = 20_000;
const CANARY = "a secret of the state directory";
const CONFINED = "confined";
/** `read` and `echo` are the shell's own, so one process is all it takes. */
const SCRIPT = 'read -r line < "$1" && echo "$line"; echo kept > "$2" && echo confined';

interface ProbeOptions {
  readonly home: string;
  readonly bunEnv: Readonly<Record<string, string>>;
  /** Of the tier. */
  readonly name: string;
}

/** Null: the wall holds. Otherwise why it cannot be used. Never rejects. */
export async function tryWall(
  { clock }: { readonly clock: Clock },
  { home, bunEnv, name }: ProbeOptions,
  launch: (places: ConfinedPlaces, program: ConfinedProgram) => Launch,
): Promise<string | null> {
  const folder = join(home, "run", `sandbox-${process.pid}-${name}`);
  const room = join(folder, "room");
  const canary = join(folder, "canary");
  try {
    mkdirSync(room, { recursive: true, mode: 0o700 });
    writeFileSync(canary, `${CANARY}\n`, { mode: 0o600 });
    const places: ConfinedPlaces = {
      read: [],
      readIfThere: [],
      write: [room],
      list: [],
      network: { kind: "closed", ports: [] },
      limits: { processes: 64, memoryMb: 512, openFiles: 256, fileSizeMb: 16 },
    };
    const argv = ["/bin/sh", "-c", SCRIPT, "sh", canary, join(room, "kept")];
    const { said, complaint } = await run(clock, launch(places, { argv, cwd: room, env: bunEnv }));
    if (said.includes(CANARY)) return "a confined program could read the state directory";
    return said.trim() === CONFINED ? null : complaint;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(clock: Clock, { argv, cwd, env, release }: Launch): Promise<{ said: string; complaint: string }> {
  const child = Bun.spawn([...argv], { cwd, env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  using limit = clock.deadline(PROBE_MS, () => new Error("a confined program did not end in time"));
  try {
    const texts = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
    const [said, complaints, code] = await orAborted(texts, limit.signal);
    return { said, complaint: lastLine(complaints) ?? `a confined program ended with code ${code}` };
  } finally {
    child.kill("SIGKILL");
    release?.();
  }
}

function lastLine(text: string): string | null {
  return (
    text
      .trim()
      .split("\n")
      .at(-1)
      ?.replace(/^sandbox: /, "")
      .replace(/\.$/, "") || null
  );
}
