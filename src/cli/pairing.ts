/** `pi-gw pairing`: who asks for access, and the owner's answer. */
import { visible } from "../observe/index.ts";
import { printAnswer, printList } from "./ask-gateway.ts";
import { type Fields, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export function listPairings(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/pairing", {
    columns: [
      ["ID", ({ id }) => textOf(id)],
      ["PERSON", ({ principal }) => textOf(principal)],
      ["NAME", ({ name }) => textOf(name)],
      ["CHANNEL", ({ channel, account }) => `${textOf(channel)}/${textOf(account)}`],
      ["STATE", (person) => stateText(person, world.clock.now())],
    ],
    none: "Nobody waits, and nobody got access by a code yet.",
  });
}

/** `role`: member unless the owner said otherwise; the gateway refuses what is not a role. */
export function approvePairing(
  world: CliWorld,
  code: string,
  { role, ...flags }: CommonFlags & { readonly role: string },
): Promise<number> {
  return printAnswer(world, flags, { method: "POST", path: "/api/pairing", body: { code, role } }, (answer) => {
    const { principal, channel } = recordOf(answer["person"]);
    return visible(`${textOf(principal)} may write on ${textOf(channel)} from now on, as ${textOf(answer["role"])}.`);
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
  sentence: string,
): Promise<number> {
  const path = `/api/pairing/${encodeURIComponent(codeOrId)}`;
  return printAnswer(world, flags, { method: "POST", path: path, body: { decision } }, () => sentence);
}

function stateText({ state, role, expiresAt }: Fields, now: number): string {
  if (textOf(state) === "approved") return `has access as ${textOf(role)}`;
  return `waits, for ${durationText(Math.max(0, numberOf(expiresAt) - now))} more`;
}
