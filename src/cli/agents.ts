/** `pi-gw agents`: which agents there are, what one is told and may do, and the processes that run. */
import { visible, visibleLines } from "../observe/index.ts";
import { askGateway, printAnswer, queryOf } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface AgentFlags extends CommonFlags {
  readonly role?: string;
}

const NAME_CHARS = 24;

export async function listAgents(world: CliWorld, flags: CommonFlags): Promise<number> {
  const answer = await askGateway(world, flags, (client, signal) => client.ask({ path: "/api/agents" }, signal));
  if (flags.json) {
    world.stdout(`${JSON.stringify(answer)}\n`);
    return EXIT_OK;
  }
  for (const agent of listOf(answer["items"]).map(recordOf)) world.stdout(`${visible(agentLine(agent))}\n`);
  const processes = listOf(answer["processes"]).map(recordOf);
  world.stdout(processes.length === 0 ? "No process runs.\n" : "Processes:\n");
  for (const one of processes) world.stdout(`${visible(processLine(one))}\n`);
  return EXIT_OK;
}

function agentLine(agent: Fields): string {
  const model = textOf(agent["model"]) || "pi chooses the model";
  const trouble = textOf(agent["trouble"]);
  return `${textOf(agent["id"]).padEnd(NAME_CHARS)}  ${model}  ${textOf(agent["workspace"])}${trouble === "" ? "" : `  ${trouble}`}`;
}

function processLine(one: Fields): string {
  const pid = one["pid"] === null ? "starting" : String(numberOf(one["pid"]));
  const who = [textOf(one["person"]), textOf(one["role"])].filter((text) => text !== "").join(", ");
  const since = durationText(numberOf(one["sinceMs"]));
  return `${pid.padEnd(10)}  ${textOf(one["agentId"])}  ${textOf(one["state"])} for ${since}${who === "" ? "" : `  ${who}`}`;
}

export function showAgent(world: CliWorld, id: string, flags: AgentFlags): Promise<number> {
  const path = `/api/agents/${encodeURIComponent(id)}?${queryOf({ role: flags.role })}`;
  return printAnswer(world, flags, { path }, (answer) => agentText(recordOf(answer["agent"])));
}

function agentText(agent: Fields): string {
  const facts = ["model", "modelBecause", "thinking", "workspace", "sandbox", "trouble"].flatMap((name) => {
    const value = textOf(agent[name]);
    return value === "" ? [] : [visible(`${name.padEnd(13)} ${value}`)];
  });
  const lists = ["fallbacks", "skills", "extensions", "promptTemplates"].flatMap((name) => {
    const values = listOf(agent[name]).map(textOf);
    return values.length === 0 ? [] : [visible(`${name.padEnd(13)} ${values.join(", ")}`)];
  });
  const rows = listOf(agent["permissions"])
    .map(recordOf)
    .map((row) => visible(permissionLine(row, textOf(agent["role"]))));
  return [
    ...facts,
    ...lists,
    "",
    "Tools, in a chat and elsewhere:",
    ...rows,
    "",
    "Instructions:",
    visibleLines(textOf(agent["prompt"])),
  ].join("\n");
}

/** "bash  ask: chat, group; no: cron, …" for the role that was asked about. */
function permissionLine(row: Fields, role: string): string {
  const cells = listOf(row["cells"])
    .map(recordOf)
    .filter((cell) => textOf(cell["role"]) === role);
  const by = Map.groupBy(cells, (cell) => textOf(cell["may"]));
  const parts = ["yes", "ask", "no"].flatMap((may) => {
    const found = by.get(may);
    return found ? [`${may}: ${found.map((cell) => textOf(cell["origin"])).join(", ")}`] : [];
  });
  return `${textOf(row["tool"]).padEnd(NAME_CHARS)}  ${parts.join("; ")}`;
}
