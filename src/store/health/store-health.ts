/** Says whether the store takes writes. `/ready`, status and the process itself go by it. */
import type { GatewayError } from "../../contracts/errors.ts";
import type { StoreHealth } from "../../contracts/store/health.ts";
import type { Engine } from "../assemble.ts";
import type { Steps } from "../steps.ts";

interface HealthDeps {
  readonly engine: Pick<Engine, "commits" | "notices" | "advice" | "isAway">;
  /** A write that means nothing. */
  readonly touch: () => Steps<void>;
}

export function createHealth({ engine, touch }: HealthDeps): StoreHealth {
  const { commits, notices, advice, isAway } = engine;
  let attempt: Promise<boolean> | null = null;
  const tryToWrite = async (): Promise<boolean> => {
    await commits.write(touch).catch(() => undefined); // what came of it is in `fault`
    attempt = null;
    return commits.fault() === null;
  };
  return {
    notices() {
      const fault = commits.fault();
      return fault ? [...notices(), unwritable(fault, commits.isBroken(), advice)] : notices();
    },
    async isWritable() {
      if (commits.fault() === null) return true;
      return commits.isBroken() || isAway() ? false : (attempt ??= tryToWrite());
    },
    hasFailed: commits.isBroken,
    failed: commits.broken,
  };
}

function unwritable(fault: GatewayError, isBroken: boolean, advice: string): string {
  if (fault.code === "superseded") return fault.say;
  const what = `The database cannot be written to (${fault.message.replace(/^[a-z_]+: /, "")})`;
  return isBroken
    ? `${what}. The gateway ends, so that a new process finds out what is on the disk.`
    : `${what}; nothing is accepted until it can. ${advice}`;
}
