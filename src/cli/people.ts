/** `pi-gw people` and `models`: who has which role, and what can answer. Of the running gateway. */
import { visible } from "../observe/index.ts";
import { askGateway, printAnswer, printList, queryOf } from "./ask-gateway.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { readLines } from "./read-lines.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { tableLines } from "./table.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const NONE = "none";

export function peopleList(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/people", {
    columns: [
      ["PERSON", ({ principal }) => textOf(principal)],
      ["ROLE", ({ role }) => textOf(role)],
      ["FROM", ({ from }) => textOf(from)],
    ],
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
  return printAnswer(world, flags, { path }, (answer) => modelLines(world, answer).join("\n"));
}

export function providersList(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/models/providers", {
    columns: [
      ["PROVIDER", ({ name }) => textOf(name)],
      ["KEY", ({ keyFrom }) => (keyFrom === null ? "none" : `from the ${textOf(keyFrom)}`)],
    ],
    none: "No provider is known.",
  });
}

export interface KeyTestFlags extends CommonFlags {
  readonly keyStdin?: boolean;
}

export async function testModelKey(world: CliWorld, provider: string, flags: KeyTestFlags): Promise<number> {
  const key = flags.keyStdin ? { key: await firstLine(world) } : {};
  const request = { method: "POST", path: "/api/models/test", body: { provider, ...key } } as const;
  const answer = await askGateway(world, flags, (client, signal) => client.ask(request, signal));
  world.stdout(`${flags.json ? JSON.stringify(answer) : visible(`${textOf(answer["say"])}.`)}\n`);
  return answer["ok"] === true ? EXIT_OK : EXIT_FAILED;
}

async function firstLine({ stdin }: CliWorld): Promise<string> {
  for await (const line of readLines(stdin)) return line.trim();
  return "";
}

function modelLines(world: CliWorld, { items, providers, current }: Fields): readonly string[] {
  const lines = tableLines(
    world,
    [
      ["MODEL", ({ name }) => `${name === current ? "*" : " "} ${textOf(name)}`],
      ["THINKING", ({ thinking }) => listOf(thinking).map(textOf).join(", ")],
      ["PER MILLION TOKENS", priceText],
    ],
    listOf(items).map(recordOf),
  );
  const others = listOf(providers).map(textOf);
  const more = others.length === 0 ? [] : [visible(`By their whole name also the models of: ${others.join(", ")}`)];
  return [...(lines.length === 0 ? ["No model can be chosen."] : lines), ...more];
}

function priceText({ price }: Fields): string {
  const { input, output } = recordOf(price);
  return price === undefined ? "" : `$${numberOf(input)} in, $${numberOf(output)} out`;
}
