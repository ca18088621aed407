/** `pi-gw keys`: keys that let programs in. The secret is printed once, when the key is made. */
import { visible } from "../observe/index.ts";
import { askGateway, printAnswer, printList } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface AddKeyFlags extends CommonFlags {
  readonly scope: readonly string[];
  readonly agent?: readonly string[];
  readonly tool?: readonly string[];
  readonly dailyUsd?: number;
  readonly dailyTokens?: number;
  readonly rate?: number;
  readonly expires?: string;
}

export async function addKey(world: CliWorld, name: string, flags: AddKeyFlags): Promise<number> {
  const { scope, agent, tool, dailyUsd, dailyTokens, rate, expires } = flags;
  const body = {
    name,
    scopes: scope,
    ...(agent === undefined ? {} : { agents: agent }),
    ...(tool === undefined ? {} : { tools: tool }),
    ...(dailyUsd === undefined ? {} : { dailyUsd }),
    ...(dailyTokens === undefined ? {} : { dailyTokens }),
    ...(rate === undefined ? {} : { requestsPerMinute: rate }),
    ...(expires === undefined ? {} : { expiresIn: expires }),
  };
  const request = { method: "POST", path: "/api/keys", body } as const;
  const answer = await askGateway(world, flags, (client, signal) => client.ask(request, signal));
  const { id } = recordOf(answer["key"]);
  // the secret alone is on stdout, so that `> FILE` makes a file for --key-file
  world.stdout(`${flags.json ? JSON.stringify(answer) : visible(textOf(answer["secret"]))}\n`);
  const about = `This is the key ${textOf(id)} of "${name}". It is shown only now: copy it to the program.`;
  if (!flags.json) world.stderr(`${visible(about)}\n`);
  return EXIT_OK;
}

export function listKeys(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/keys", {
    line: (key) => visible(line(key, world.clock.now())),
    none: "There are no keys. Make one with: pi-gw keys add <name> --scope chat",
  });
}

export function revokeKey(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  const path = `/api/keys/${encodeURIComponent(id)}`;
  return printAnswer(
    world,
    flags,
    { method: "DELETE", path },
    () => "The key is revoked. Nothing runs in its name any more.",
  );
}

function line(key: Fields, now: number): string {
  const list = (name: string): string => listOf(key[name]).map(textOf).join(",");
  const agents = list("agents") === "*" ? "all agents" : `agents ${list("agents")}`;
  const used = key["lastUsedAt"] === null ? "never used" : `used ${ago(numberOf(key["lastUsedAt"]), now)}`;
  return `${textOf(key["id"])}  "${textOf(key["name"])}"  ${list("scopes")}  ${agents}  ${used}${expiry(key["expiresAt"], now)}`;
}

function ago(at: number, now: number): string {
  return `${durationText(Math.max(0, now - at))} ago`;
}

function expiry(at: unknown, now: number): string {
  if (at === null) return "";
  const leftMs = numberOf(at) - now;
  return leftMs > 0 ? `  expires in ${durationText(leftMs)}` : "  expired";
}
