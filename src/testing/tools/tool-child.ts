/** One call of one tool with one id, in this process or in one of its own that can be killed in the middle of it. Run directly it is that process. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolOutcome } from "../../contracts/tools/tool.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { createEvents } from "../../observe/index.ts";
import { openStateDirectory, openStore } from "../../store/index.ts";
import { NO_MASK } from "../../kit/secret.ts";
import { createToolGate, createToolRegistry } from "../../tools/index.ts";
import { policy, PROGRAM, says, tool } from "./tool-world.ts";
import { fixedRights, noApprovals, noHooks, noSessionTools, USUAL_LIMITS } from "./quiet-deps.ts";
import { storeUrlOf } from "../postgres/home-database.ts";

export const EFFECTS_FILE = "effects.txt";

export interface ToolChildOptions {
  readonly home: string;
  readonly callId: string;
  /** `hang`: after its effect the tool never ends, and says so on stdout. */
  readonly how: "hang" | "end";
  readonly idempotent: boolean;
}

/** Prints `effect` when the tool has done its work, then the outcome as JSON. */
export function startToolChild({ home, callId, how, idempotent }: ToolChildOptions) {
  return Bun.spawn([process.execPath, import.meta.path, home, callId, how, String(idempotent)], {
    stdin: "pipe", // stays open as long as this process lives, so an orphan ends by itself
    stdout: "pipe",
    stderr: "inherit",
  });
}

/** A life of a gateway, as far as tools are concerned, with this one call in it; `told` hears when the tool has done its work. */
export async function callTool(options: ToolChildOptions, told: () => void = () => undefined): Promise<ToolOutcome> {
  const { home, callId, how, idempotent } = options;
  const deps = { clock: systemClock, ids: systemIds, log: silentLog };
  await using _held = await openStateDirectory(deps, home);
  await using store = await openStore(deps, { home, url: await storeUrlOf(home) });
  const registry = createToolRegistry(deps);
  const work = tool(
    async () => {
      appendFileSync(join(home, EFFECTS_FILE), `${callId}\n`);
      told();
      if (how === "hang") await new Promise(() => undefined);
      return says("done");
    },
    { flags: { idempotent }, timeoutMs: 60_000 },
  );
  registry.register(work, "test");
  const rules = policy();
  const guards = { policy: () => rules, hooks: noHooks, rights: fixedRights, approvals: noApprovals };
  const rest = { scrub: (text: string) => text, backgroundEnded: () => undefined, events: createEvents(deps) };
  const limits = { sessionTools: noSessionTools, mask: NO_MASK, runLimits: () => USUAL_LIMITS };
  await using gate = createToolGate({ ...deps, ...guards, ...rest, ...limits, registry, store: store.toolCalls });
  const request = { tool: "echo", callId, params: { text: "x" }, path: "http", context: PROGRAM } as const;
  return await gate.call(request, AbortSignal.timeout(60_000));
}

async function runChild([home = "", callId = "", how = "", idempotent = ""]: readonly string[]): Promise<void> {
  const options = { home, callId, how: how === "hang" ? "hang" : "end", idempotent: idempotent === "true" } as const;
  const outcome = await callTool(options, () => void process.stdout.write("effect\n"));
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

if (import.meta.main) await runChild(process.argv.slice(2));
