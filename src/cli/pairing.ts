/** `pi-gw pairing`: who asks for access, and the owner's answer. */
import { visible } from "../observe/index.ts";
import { askGateway } from "./ask-gateway.ts";
import type { GatewayClient } from "./client.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export function listPairings(world: CliWorld, flags: CommonFlags): Promise<number> {
  return asking(world, flags, async (client, signal) => {
    const people = listOf((await client.get("/api/pairing", signal))["items"]).map(recordOf);
    if (flags.json) return people.map((person) => JSON.stringify(person));
    if (people.length === 0) return ["Nobody waits, and nobody got access by a code yet."];
    return people.map((person) => visible(line(person, world.clock.now())));
  });
}

/** `role`: member unless the owner said otherwise; the gateway refuses what is not a role. */
export function approvePairing(
  world: CliWorld,
  code: string,
  { role, ...flags }: CommonFlags & { readonly role: string },
): Promise<number> {
  return asking(world, flags, async (client, signal) => {
    const answer = await client.post("/api/pairing", { code, role }, signal);
    if (flags.json) return [JSON.stringify(answer)];
    const person = recordOf(answer["person"]);
    const where = textOf(person["channel"]);
    return [visible(`${textOf(person["principal"])} may write on ${where} from now on, as ${textOf(answer["role"])}.`)];
  });
}

export function revokePairing(world: CliWorld, codeOrId: string, flags: CommonFlags): Promise<number> {
  return deciding(world, flags, { codeOrId, decision: "revoke" }, "They may not write any more.");
}

export function undoPairing(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  return deciding(world, flags, { codeOrId: id, decision: "undo" }, "The last decision about them is undone.");
}

interface Decision {
  readonly codeOrId: string;
  readonly decision: "revoke" | "undo";
}

function deciding(
  world: CliWorld,
  flags: CommonFlags,
  { codeOrId, decision }: Decision,
  words: string,
): Promise<number> {
  return asking(world, flags, async (client, signal) => {
    const answer = await client.post(`/api/pairing/${encodeURIComponent(codeOrId)}`, { decision }, signal);
    return [flags.json ? JSON.stringify(answer) : words];
  });
}

async function asking(
  world: CliWorld,
  flags: CommonFlags,
  ask: (client: GatewayClient, signal: AbortSignal) => Promise<readonly string[]>,
): Promise<number> {
  const lines = await askGateway(world, flags, ask);
  if (lines.length > 0) world.stdout(`${lines.join("\n")}\n`);
  return EXIT_OK;
}

function line(person: Fields, now: number): string {
  const who = `${textOf(person["id"])}  ${textOf(person["principal"])}  "${textOf(person["name"])}"`;
  const where = `on ${textOf(person["channel"])}/${textOf(person["account"])}`;
  if (textOf(person["state"]) === "approved") return `${who}  ${where}  has access as ${textOf(person["role"])}`;
  return `${who}  ${where}  waits, for ${durationText(Math.max(0, numberOf(person["expiresAt"]) - now))} more`;
}
