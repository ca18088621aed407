/** `pi-gw people` and `models`: who has which role, and what can answer. Of the running gateway. */
import { visible } from "../observe/index.ts";
import { printAnswer, printList, queryOf } from "./ask-gateway.ts";
import { type Fields, listOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const ID_WIDTH = 32;
const NONE = "none";

export function peopleList(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/people", {
    line: ({ principal, role, from }) =>
      `${visible(textOf(principal)).padEnd(ID_WIDTH)}  ${visible(textOf(role)).padEnd(6)}  from the ${visible(textOf(from))}`,
    none: "Nobody has a role besides the operator.",
  });
}

export function peopleRole(world: CliWorld, principal: string, role: string, flags: CommonFlags): Promise<number> {
  const body = { principal, role: role === NONE ? null : role };
  return printAnswer(world, flags, { method: "POST", path: "/api/people", body }, () =>
    visible(role === NONE ? `${principal} has no role of their own any more.` : `${principal} is ${role} from now on.`),
  );
}

export interface ModelFlags extends CommonFlags {
  readonly agent?: string;
}

export function modelsList(world: CliWorld, flags: ModelFlags): Promise<number> {
  const path = `/api/models?${queryOf({ agent: flags.agent })}`;
  return printAnswer(world, flags, { path }, (answer) => modelLines(answer).map(visible).join("\n"));
}

function modelLines({ items, providers, current }: Fields): readonly string[] {
  const lines = listOf(items).map((item) => {
    const { name, thinking } = recordOf(item);
    const levels = listOf(thinking).map(textOf).join(", ");
    return `${name === current ? "*" : " "} ${textOf(name).padEnd(ID_WIDTH)}  thinking: ${levels}`;
  });
  const others = listOf(providers).map(textOf);
  const more = others.length === 0 ? [] : [`By their whole name also the models of: ${others.join(", ")}`];
  return [...(lines.length === 0 ? ["No model can be chosen."] : lines), ...more];
}
