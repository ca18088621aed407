/** `pi-gw webhooks`: requests of other programs and addresses that results are posted to. A new key is printed once. */
import { visible, visibleLines } from "../../observe/index.ts";
import { askGateway, printAnswer } from "../ask-gateway.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { type Fields, listOf, recordOf, textOf } from "../read-value.ts";
import { type Column, tableLines } from "../table.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { readAll } from "./read-all.ts";

export interface TestFlags extends CommonFlags {
  readonly body: string;
}

export function listWebhooks(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: "/api/webhooks" }, (answer) => {
    const all = [
      ...listOf(answer["incoming"]).map(recordOf).map(incoming),
      ...listOf(answer["targets"]).map(recordOf).map(target),
    ];
    const off = answer["enabled"] === true ? [] : ["Webhooks are switched off: hooks.enabled is false."];
    return [...off, ...tableLines(world, COLUMNS, all)].join("\n");
  });
}

interface Listed {
  readonly way: "in" | "out";
  readonly name: string;
  readonly address: string;
  /** What a request may do; nothing for results that are posted. */
  readonly role: string;
  readonly signed: string;
}

const COLUMNS: readonly Column<Listed>[] = [
  ["WAY", ({ way }) => way],
  ["NAME", ({ name }) => name],
  ["ADDRESS", ({ address }) => address],
  ["ROLE", ({ role }) => role],
  ["SIGNED", ({ signed }) => signed],
];

function incoming({ name, signed, keys, keysAreShared, role }: Fields): Listed {
  const ids = listOf(keys).map((key) => textOf(recordOf(key)["id"]));
  const how = signed === true ? `with ${ids.join(", ")}${keysAreShared === true ? " (shared)" : ""}` : "no";
  return { way: "in", name: textOf(name), address: `/hooks/${textOf(name)}`, role: textOf(role), signed: how };
}

function target({ name, url, signed }: Fields): Listed {
  return { way: "out", name: textOf(name), address: textOf(url), role: "", signed: signed === true ? "yes" : "no" };
}

export async function testWebhook(world: CliWorld, name: string, flags: TestFlags): Promise<number> {
  const body = { body: flags.body === "-" ? await readAll(world.stdin) : flags.body };
  const request = { method: "POST", path: `${pathOf(name)}/test`, body } as const;
  return printAnswer(world, flags, request, ({ id, text }) =>
    visibleLines(`Taken as ${textOf(id)}. The agent gets:\n${textOf(text)}`),
  );
}

export async function testTarget(world: CliWorld, name: string, flags: CommonFlags): Promise<number> {
  const path = `/api/webhook-targets/${encodeURIComponent(name)}/test`;
  const answer = await askGateway(world, flags, (client, signal) => client.ask({ method: "POST", path }, signal));
  world.stdout(`${flags.json ? JSON.stringify(answer) : visible(textOf(answer["say"]))}\n`);
  return answer["ok"] === true ? EXIT_OK : EXIT_FAILED;
}

export async function addWebhookKey(world: CliWorld, name: string, flags: CommonFlags): Promise<number> {
  const request = { method: "POST", path: `${pathOf(name)}/keys` } as const;
  const answer = await askGateway(world, flags, (client, signal) => client.ask(request, signal));
  // the secret alone is on stdout, so that it can be put into a file
  world.stdout(`${flags.json ? JSON.stringify(answer) : visible(textOf(answer["secret"]))}\n`);
  const id = textOf(recordOf(answer["key"])["id"]);
  const about = `This is the key ${id}. It is shown only now. Senders name it in the header X-Pi-Key-Id.`;
  if (!flags.json) world.stderr(`${visible(about)}\n`);
  return EXIT_OK;
}

export function removeWebhookKey(world: CliWorld, name: string, key: string, flags: CommonFlags): Promise<number> {
  const path = `${pathOf(name)}/keys/${encodeURIComponent(key)}`;
  return printAnswer(
    world,
    flags,
    { method: "DELETE", path },
    () => "The key is removed. What is signed with it is refused.",
  );
}

function pathOf(name: string): string {
  return `/api/webhooks/${encodeURIComponent(name)}`;
}
