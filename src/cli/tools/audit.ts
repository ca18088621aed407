/** `pi-gw audit`: what is on the audit log besides tool calls; and `verify`, whether all of it is what the gateway wrote. Needs no running gateway, and changes nothing. */
import { visible } from "../../observe/index.ts";
import { askGateway } from "../ask-gateway.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

const SHOWN_FINDINGS = 20;

export interface AuditListFlags extends CommonFlags {
  readonly kind?: string;
  readonly limit?: number;
}

/** `pi-gw audit list`: everything on the audit log but tool calls, latest first. */
export async function auditList(world: CliWorld, flags: AuditListFlags): Promise<number> {
  const query = new URLSearchParams({
    ...(flags.kind === undefined ? {} : { kind: flags.kind }),
    ...(flags.limit === undefined ? {} : { limit: String(flags.limit) }),
  });
  const { items } = await askGateway(world, flags, (client, signal) => client.get(`/api/audit?${query}`, signal));
  const entries = listOf(items).map(recordOf);
  for (const entry of entries) world.stdout(flags.json ? `${JSON.stringify(entry)}\n` : `${entryLine(entry)}\n`);
  if (entries.length === 0 && !flags.json) world.stdout("Nothing is on the audit log besides tool calls.\n");
  return EXIT_OK;
}

function entryLine({ at, kind, actor, subject, detail }: Fields): string {
  const when = new Date(numberOf(at)).toISOString();
  const about = textOf(subject) === "" ? "" : ` ${textOf(subject)}`;
  return visible(`${when}  ${textOf(kind)}${about}  by ${textOf(actor)}  ${JSON.stringify(detail)}`);
}

export async function auditVerify(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { verifyAudit } = await import("../../store/index.ts"); // slow to load, and only needed here
  const verdict = await verifyAudit(homeOf(flags.home, world.environment));
  const { kind, calls, entries, links, findings } = verdict;
  if (flags.json) world.stdout(`${JSON.stringify({ ok: kind === "intact", ...verdict })}\n`);
  else {
    for (const { say } of findings.slice(0, SHOWN_FINDINGS)) world.stdout(`${visible(say)}\n`);
    const more = findings.length - SHOWN_FINDINGS;
    if (more > 0) world.stdout(`… and ${more} more.\n`);
    if (kind === "intact")
      world.stdout(`The record is whole: ${calls} tool calls, ${entries} other entries, ${links} links.\n`);
    if (kind === "tampered")
      world.stdout("The record is not what the gateway wrote. Keep a copy of the state directory before you go on.\n");
  }
  return kind === "intact" ? EXIT_OK : EXIT_FAILED;
}
