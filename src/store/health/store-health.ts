/** Says whether the store takes writes. `/ready`, status and the process itself go by it. */
import type { GatewayError } from "../../contracts/errors.ts";
import type { StoreHealth } from "../../contracts/store/health.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { Steps } from "../steps.ts";

interface HealthDeps {
  readonly commits: Pick<GroupCommit, "write" | "fault" | "broken" | "isBroken">;
  /** A write that means nothing. */
  readonly touch: () => Steps<void>;
  /** What else the owner should know. */
  readonly notices: () => readonly string[];
}

export function createHealth({ commits, touch, notices }: HealthDeps): StoreHealth {
  let attempt: Promise<boolean> | null = null;
  const tryToWrite = async (): Promise<boolean> => {
    await commits.write(touch).catch(() => undefined); // what came of it is in `fault`
    attempt = null;
    return commits.fault() === null;
  };
  return {
    notices() {
      const fault = commits.fault();
      return fault ? [...notices(), unwritable(fault, commits.isBroken())] : notices();
    },
    async isWritable() {
      if (commits.fault() === null) return true;
      return commits.isBroken() ? false : (attempt ??= tryToWrite());
    },
    hasFailed: commits.isBroken,
    failed: commits.broken,
  };
}

function unwritable(fault: GatewayError, isBroken: boolean): string {
  const what = `The database cannot be written to (${fault.message.replace(/^[a-z_]+: /, "")})`;
  return isBroken
    ? `${what}. The gateway ends, so that a new process finds out what is on the disk.`
    : `${what}; nothing is accepted until it can. Make room on the disk.`;
}
