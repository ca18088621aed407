/** Verifies the audit log of a gateway that runs, when somebody asks, and remembers how it was found. */
import type { AuditVerification, AuditVerifier } from "../../contracts/store/tool-calls.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Secret } from "../../kit/secret.ts";
import { verifyAudit } from "./verify.ts";

const SHOWN_FINDINGS = 20;

export function createAuditVerifier(
  { clock }: { readonly clock: Clock },
  home: string,
  url: Secret | undefined,
): AuditVerifier {
  const database = url ? { clock, url } : null;
  let last: AuditVerification | null = null;
  let running: Promise<AuditVerification> | null = null;
  const run = async (): Promise<AuditVerification> => {
    const { kind, calls, entries, links, findings } = await verifyAudit(home, database);
    const shown = findings.slice(0, SHOWN_FINDINGS).map(({ say }) => say);
    last = { at: clock.now(), kind, calls, entries, links, findings: shown };
    return last;
  };
  return {
    last: () => last,
    verify() {
      running ??= run().finally(() => (running = null));
      return running;
    },
  };
}
