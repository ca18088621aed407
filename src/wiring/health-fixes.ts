/** What the gateway does about a check of its own when it is asked to; each fix answers with a sentence about what was done. */
import type { Backups } from "../backup/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AuditVerifier } from "../contracts/store/tool-calls.ts";
import type { HealthFix, SystemLook } from "../contracts/system-api.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import type { Clock } from "../kit/clock.ts";
import { makeOnePrivate, makePrivate } from "../store/index.ts";

/** Longer than most backups take, and shorter than a browser waits for an answer. */
const BACKUP_ANSWER_MS = 10_000;

export interface FixParts {
  status(): Pick<GatewayStatus, "config">;
  readonly verifier: Pick<AuditVerifier, "verify">;
  readonly backups: Pick<Backups, "makeNow" | "report">;
  /** Sentences about why not; empty: it is done. */
  revert(): Promise<readonly string[]>;
}

interface FixDeps {
  readonly clock: Pick<Clock, "sleep">;
  /** The state directory. */
  readonly home: string;
}

export function createFixes({ clock, home }: FixDeps, parts: FixParts): SystemLook["fix"] {
  const fixes: Readonly<Record<HealthFix, () => Promise<string>>> = {
    async modes() {
      const { file } = parts.status().config;
      const own = file !== null && (await makeOnePrivate(file)) ? [file] : [];
      const opened = [...own, ...(await makePrivate(home))];
      return opened.length === 0 ? "Everything is private already." : `Private now: ${opened.join(", ")}.`;
    },
    async settings() {
      const problems = await parts.revert();
      if (problems.length > 0) throw new GatewayError("conflict", "not reverted", { say: problems.join(" ") });
      return "The last good settings are in force again. A copy of the other file stays beside them.";
    },
    async backup() {
      const { folder } = parts.backups.report();
      const goesOn = `A backup is being made. It will be in ${folder}.`;
      const answered = new AbortController();
      const tooLong = clock.sleep(BACKUP_ANSWER_MS, answered.signal).then(
        () => goesOn,
        () => goesOn, // answered in time
      );
      const failure = await Promise.race([parts.backups.makeNow(), tooLong]).finally(() => answered.abort());
      if (failure === goesOn) return goesOn;
      if (failure !== null) throw new GatewayError("conflict", "no backup", { say: `The backup failed: ${failure}` });
      return `A backup is made. It is in ${folder}.`;
    },
    async audit() {
      const found = await parts.verifier.verify();
      if (found.kind === "intact") return "The audit log is intact.";
      return found.findings[0] ?? "The audit log could not be verified.";
    },
  };
  return (which) => fixes[which]();
}
