/** Who may not answer what the owner is asked, and what the port says to each: one table for every route that is the operator's alone. */
import { expect } from "bun:test";
import { OWNER } from "../tools/tool-world.ts";
import type { HttpWorld } from "./http-fixture.ts";

/** The one token of an agent that the table below speaks of. */
export const agentTokens = { resolve: () => OWNER, known: (token: string) => token === "the-agent" };

const NOT_THE_OPERATOR = [
  ["", 401],
  ["Bearer wrong", 401],
  ["Bearer the-agent", 403],
] as const;

/** Lists at `list` and posts `body` to `one`, as everybody in the table. */
export async function expectOperatorOnly(
  at: Pick<HttpWorld, "call">,
  { list, one, body }: { readonly list: string; readonly one: string; readonly body: unknown },
): Promise<void> {
  for (const [authorization, status] of NOT_THE_OPERATOR) {
    const headers = { authorization, "content-type": "application/json" };
    expect((await at.call(list, { headers })).status).toBe(status);
    expect((await at.call(one, { method: "POST", body: JSON.stringify(body), headers })).status).toBe(status);
  }
}
