/** `pi-gw nodes`: the gateways that use the database of the running one, and which of them live; `nodes drain` before one is stopped. */
import { visible } from "../observe/index.ts";
import { printAnswer } from "./ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const COLUMNS = [28, 12, 10, 26, 26] as const;

export function nodes(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: "/api/nodes" }, (answer) => nodeLines(answer).join("\n"));
}

/** Without a name: the running gateway itself. */
export function drainNode(world: CliWorld, flags: CommonFlags, name = "self"): Promise<number> {
  const path = `/api/nodes/${encodeURIComponent(name)}/drain`;
  return printAnswer(world, flags, { method: "POST", path }, ({ draining }) =>
    visible(
      `${textOf(draining)} takes no new sessions from now on. Running turns end; pi-gw nodes shows it until it is stopped.`,
    ),
  );
}

function nodeLines(answer: Fields): readonly string[] {
  const items = listOf(answer["items"]).map(recordOf);
  const names = new Map(items.map((node) => [textOf(node["id"]), textOf(node["name"])]));
  return [
    row("name", "version", "state", "since", "heard of"),
    ...items.map((node) => {
      const [since, heardOf] = [timeText(node["startedAt"]), timeText(node["renewedAt"])];
      const about =
        node["id"] === answer["self"] ? "this gateway" : (differenceText(node) ?? takeoverText(node, names));
      return row(textOf(node["name"]), textOf(node["version"]), textOf(node["state"]), since, heardOf, about);
    }),
  ];
}

/** Null: it is as the gateway that answers. */
function differenceText({ differs }: Fields): string | null {
  const what = listOf(differs).map(textOf);
  return what.length === 0 ? null : `has other ${what.join(" and ")} than this gateway`;
}

function takeoverText({ takenOverBy }: Fields, names: ReadonlyMap<string, string>): string {
  if (typeof takenOverBy !== "string") return "";
  return `taken over by ${names.get(takenOverBy) ?? takenOverBy}`;
}

function timeText(at: unknown): string {
  return new Date(numberOf(at)).toISOString();
}

/** Names of machines in clusters are longer than their column. */
function row(...cells: readonly string[]): string {
  return visible(cells.map((cell, at) => `${cell}  `.padEnd(COLUMNS[at] ?? 0)).join("")).trimEnd();
}
