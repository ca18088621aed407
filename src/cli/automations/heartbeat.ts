/** `pi-gw heartbeat`: the checklists that agents look after by themselves. */
import { GatewayError } from "../../contracts/errors.ts";
import { durationText } from "../../kit/duration.ts";
import { visible, visibleLines } from "../../observe/index.ts";
import { askGateway, printAnswer, printList } from "../ask-gateway.ts";
import { EXIT_OK } from "../exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { readAll } from "./read-all.ts";

const PATH = "/api/heartbeats";

export function listHeartbeats(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, PATH, {
    none: "There are no agents.",
    columns: [
      ["AGENT", ({ agentId }) => textOf(agentId)],
      ["HEARTBEAT", ({ enabled, everyMs }) => (enabled === true ? `every ${durationText(numberOf(everyMs))}` : "off")],
      ["CHECKLIST", checklistText],
    ],
  });
}

function checklistText({ checklist, file }: Fields): string {
  return file === null ? "no folder of its own" : checklist === null ? "none" : textOf(file);
}

export async function showChecklist(world: CliWorld, agent: string, flags: CommonFlags): Promise<number> {
  const { checklist } = await heartbeatOf(world, agent, flags);
  if (flags.json) world.stdout(`${JSON.stringify({ agent, checklist })}\n`);
  else world.stdout(checklist === null ? "There is no checklist.\n" : `${visibleLines(textOf(checklist))}\n`);
  return EXIT_OK;
}

/** What was there a moment ago is replaced, and nothing that came since. */
export async function writeChecklist(world: CliWorld, agent: string, flags: CommonFlags): Promise<number> {
  const text = await readAll(world.stdin);
  const { checklist } = await heartbeatOf(world, agent, flags);
  const path = `${PATH}/${encodeURIComponent(agent)}/checklist`;
  const body = { text, before: checklist };
  return printAnswer(world, flags, { method: "POST", path, body }, () => "The checklist is written.");
}

async function heartbeatOf(world: CliWorld, agent: string, flags: CommonFlags): Promise<Fields> {
  const answer = await askGateway(world, flags, (client, signal) => client.ask({ path: PATH }, signal));
  const found = listOf(answer["items"])
    .map(recordOf)
    .find(({ agentId }) => agentId === agent);
  if (found) return found;
  throw new GatewayError("not_found", "no such agent", { say: `There is no agent called ${visible(agent)}.` });
}
