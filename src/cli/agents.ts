/** `pi-gw agents`: which agents there are, what one is told and may do, and the processes that run. */
import { visible, visibleLines } from "../observe/index.ts";
import { askGateway, printAnswer, printItems, queryOf } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { Column } from "./table.ts";
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
  printItems(world, flags, listOf(answer["items"]).map(recordOf), { columns: AGENTS, none: "There are no agents." });
  world.stdout("\n");
  const processes = listOf(answer["processes"]).map(recordOf);
  printItems(world, flags, processes, { columns: PROCESSES, none: "No process runs." });
  return EXIT_OK;
}

const AGENTS: readonly Column<Fields>[] = [
  ["AGENT", ({ id }) => textOf(id)],
  ["MODEL", ({ model }) => textOf(model) || "pi chooses the model"],
  ["WORKSPACE", ({ workspace }) => textOf(workspace)],
  ["TROUBLE", ({ trouble }) => textOf(trouble)],
];

const PROCESSES: readonly Column<Fields>[] = [
  ["PROCESS", ({ pid }) => (pid === null ? "starting" : String(numberOf(pid)))],
  ["AGENT", ({ agentId }) => textOf(agentId)],
  ["STATE", ({ state, sinceMs }) => `${textOf(state)} for ${durationText(numberOf(sinceMs))}`],
  ["FOR", ({ person, role }) => [textOf(person), textOf(role)].filter((text) => text !== "").join(", ")],
];

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
