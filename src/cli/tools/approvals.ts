/** `pi-gw approvals list|decide`: which calls wait for the owner, and answering one from a terminal. */
import { writeOutJson } from "../../kit/marks/written-out.ts";
import { visible } from "../../observe/index.ts";
import { askGateway } from "../ask-gateway.ts";
import { EXIT_OK } from "../exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

const MS_PER_MINUTE = 60_000;

export async function approvalsList(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { items } = await askGateway(world, flags, (client, signal) => client.get("/api/approvals", signal));
  const open = listOf(items).map(recordOf);
  for (const one of open) world.stdout(flags.json ? `${JSON.stringify(one)}\n` : `${questionText(world, one)}\n`);
  if (open.length === 0 && !flags.json) world.stdout("No call waits for your word.\n");
  return EXIT_OK;
}

export async function approvalsDecide(
  world: CliWorld,
  id: string,
  decision: string,
  flags: CommonFlags,
): Promise<number> {
  const path = `/api/approvals/${encodeURIComponent(id)}`;
  const answer = await askGateway(world, flags, (client, signal) => client.post(path, { decision }, signal));
  world.stdout(flags.json ? `${JSON.stringify(answer)}\n` : `${visible(textOf(answer["decision"]))}\n`);
  return EXIT_OK;
}

/** Whole: nobody should decide on a part of it. */
function questionText({ clock }: CliWorld, one: Fields): string {
  const minutes = Math.max(0, Math.ceil((numberOf(one["expiresAt"]) - clock.now()) / MS_PER_MINUTE));
  const facts = [one["tool"], "for", one["principal"], "in", one["sessionKey"]].map(textOf).join(" ");
  const head = `${textOf(one["id"])}  ${facts}, because ${textOf(one["because"])} (${minutes} min left)`;
  return `${visible(head)}\n${writeOutJson(one["input"])}\n`;
}
