/** `pi-gw sign-ins`: which browsers are signed in, and signing one out. */
import { printAnswer, printList } from "./ask-gateway.ts";
import { numberOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export function listSignIns(world: CliWorld, flags: CommonFlags): Promise<number> {
  const day = (at: unknown): string => new Date(numberOf(at)).toISOString().slice(0, 16);
  return printList(world, flags, "/api/sign-ins", {
    columns: [
      ["ID", ({ id }) => textOf(id)],
      ["BROWSER", ({ browser }) => textOf(browser) || "-"],
      ["SIGNED IN", ({ createdAt }) => day(createdAt)],
      ["UNTIL", ({ expiresAt }) => day(expiresAt)],
    ],
    none: "No browser is signed in.",
  });
}

export function endSignIn(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  const path = `/api/sign-ins/${encodeURIComponent(id)}`;
  return printAnswer(world, flags, { method: "DELETE", path }, () => "It is signed out.");
}
