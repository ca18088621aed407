/** `pi-gw keys`: keys that let programs in. The secret is printed once, when the key is made. */
import { visible } from "../observe/index.ts";
import { askGateway, printAnswer, printList } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { listOf, numberOf, recordOf, textOf } from "./read-value.ts";
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
  const now = world.clock.now();
  return printList(world, flags, "/api/keys", {
    columns: [
      ["KEY", ({ id }) => textOf(id)],
      ["NAME", ({ name }) => textOf(name)],
      ["SCOPES", ({ scopes }) => namesText(scopes)],
      ["AGENTS", ({ agents }) => (namesText(agents) === "*" ? "all" : namesText(agents))],
      ["USED", ({ lastUsedAt }) => (lastUsedAt === null ? "never" : ago(numberOf(lastUsedAt), now))],
      ["EXPIRES", ({ expiresAt }) => expiry(expiresAt, now)],
    ],
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

function namesText(names: unknown): string {
  return listOf(names).map(textOf).join(",");
}

function ago(at: number, now: number): string {
  return `${durationText(Math.max(0, now - at))} ago`;
}

function expiry(at: unknown, now: number): string {
  if (at === null) return "";
  const leftMs = numberOf(at) - now;
  return leftMs > 0 ? `in ${durationText(leftMs)}` : "expired";
}
