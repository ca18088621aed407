/** `pi-gw audit`: what is on the audit log besides tool calls; and `verify`, whether all of it is what the gateway wrote. Needs no running gateway, and changes nothing. */
import { visible } from "../../observe/index.ts";
import { printList, queryOf } from "../ask-gateway.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import { storeUrlOf } from "../store/store-url.ts";
import { numberOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

const SHOWN_FINDINGS = 20;

export interface AuditListFlags extends CommonFlags {
  readonly kind?: string;
  readonly limit?: number;
}

/** `pi-gw audit list`: everything on the audit log but tool calls, latest first. */
export function auditList(world: CliWorld, flags: AuditListFlags): Promise<number> {
  const { kind, limit } = flags;
  return printList(world, flags, `/api/audit?${queryOf({ kind, limit })}`, {
    columns: [
      ["AT", ({ at }) => new Date(numberOf(at)).toISOString()],
      ["WHAT", (entry) => textOf(entry["kind"])],
      ["ABOUT", ({ subject }) => textOf(subject)],
      ["BY", ({ actor }) => textOf(actor)],
      ["MORE", ({ detail }) => JSON.stringify(detail)],
    ],
    none: "Nothing is on the audit log besides tool calls.",
  });
}

export interface AuditVerifyFlags extends CommonFlags {
  readonly config?: string;
}

export async function auditVerify(world: CliWorld, flags: AuditVerifyFlags): Promise<number> {
  const { verifyAudit } = await import("../../store/index.ts"); // slow to load, and only needed here
  const home = homeOf(flags.home, world.environment);
  const url = await storeUrlOf(world, { home, config: flags.config });
  const verdict = await verifyAudit(home, url ? { clock: world.clock, url } : null);
  const { kind, calls, entries, links, findings } = verdict;
  if (flags.json) world.stdout(`${JSON.stringify({ ok: kind === "intact", ...verdict })}\n`);
  else {
    for (const { say } of findings.slice(0, SHOWN_FINDINGS)) world.stdout(`${visible(say)}\n`);
    const more = findings.length - SHOWN_FINDINGS;
    if (more > 0) world.stdout(`… and ${more} more.\n`);
    if (kind === "intact")
      world.stdout(`The audit log is intact: ${calls} tool calls, ${entries} other entries, ${links} links.\n`);
    if (kind === "tampered")
      world.stdout(
        `The audit log is not what the gateway wrote. Keep a copy of the ${url ? "database" : "state directory"} before you go on.\n`,
      );
  }
  return kind === "intact" ? EXIT_OK : EXIT_FAILED;
}
