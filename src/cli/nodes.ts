/** `pi-gw nodes`: the gateways that use the database of the running one, and which of them live; `nodes drain` before one is stopped. */
import { visible } from "../observe/index.ts";
import { printAnswer } from "./ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { tableLines } from "./table.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export function nodes(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: "/api/nodes" }, (answer) => nodeLines(world, answer).join("\n"));
}

/** Without a name: the running gateway itself. */
export function drainNode(world: CliWorld, flags: CommonFlags, name = "self"): Promise<number> {
  const path = `/api/nodes/${encodeURIComponent(name)}/drain`;
  const who = name === "self" ? "This gateway" : name; // as it was asked for: the list shows names, and the answer has an id
  return printAnswer(world, flags, { method: "POST", path }, () =>
    visible(`${who} takes no new sessions from now on. Running turns end; pi-gw nodes shows it until it is stopped.`),
  );
}

function nodeLines(world: CliWorld, answer: Fields): readonly string[] {
  const items = listOf(answer["items"]).map(recordOf);
  const names = new Map(items.map((node) => [textOf(node["id"]), textOf(node["name"])]));
  const aboutText = (node: Fields): string =>
    node["id"] === answer["self"] ? "this gateway" : (differenceText(node) ?? takeoverText(node, names));
  return tableLines(
    world,
    [
      ["NAME", ({ name }) => textOf(name)],
      ["VERSION", ({ version }) => textOf(version)],
      ["STATE", ({ state }) => textOf(state)],
      ["SINCE", ({ startedAt }) => timeText(startedAt)],
      ["HEARD OF", ({ renewedAt }) => timeText(renewedAt)],
      ["ABOUT", aboutText],
    ],
    items,
  );
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
