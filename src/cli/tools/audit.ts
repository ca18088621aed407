/** `pi-gw audit verify`: whether the record of tool calls is what the gateway wrote. Needs no running gateway, and changes nothing. */
import { visible } from "../../observe/index.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../home.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

const SHOWN_FINDINGS = 20;

export async function auditVerify(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { verifyAudit } = await import("../../store/index.ts"); // slow to load, and only needed here
  const verdict = await verifyAudit(homeOf(flags.home, world.environment));
  const { kind, calls, links, findings } = verdict;
  if (flags.json) world.stdout(`${JSON.stringify({ ok: kind === "intact", ...verdict })}\n`);
  else {
    for (const { say } of findings.slice(0, SHOWN_FINDINGS)) world.stdout(`${visible(say)}\n`);
    const more = findings.length - SHOWN_FINDINGS;
    if (more > 0) world.stdout(`… and ${more} more.\n`);
    if (kind === "intact") world.stdout(`The record is whole: ${calls} tool calls, ${links} links.\n`);
    if (kind === "tampered")
      world.stdout("The record is not what the gateway wrote. Keep a copy of the state directory before you go on.\n");
  }
  return kind === "intact" ? EXIT_OK : EXIT_FAILED;
}
