/** Questions to the running gateway, which has ten seconds for each, and their answers on the terminal: for people, or as JSON. */
import { createClient, type GatewayClient, type GatewayRequest } from "./client.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, recordOf } from "./read-value.ts";
import { findGateway } from "./state-directory.ts";
import { type Column, tableLines } from "./table.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const REQUEST_MS = 10_000;

type Ask<T> = (client: GatewayClient, signal: AbortSignal) => Promise<T>;

export async function askGateway<T>(world: CliWorld, flags: CommonFlags, ask: Ask<T>): Promise<T> {
  const client = createClient(await findGateway(world, flags.home));
  using limit = world.clock.deadline(REQUEST_MS, () => new Error("The gateway did not answer within 10 seconds."));
  return await ask(client, limit.signal); // awaited here, or the limit would end before the answer
}

/** One answer: as JSON, or in the words of `say`. */
export async function printAnswer(
  world: CliWorld,
  flags: CommonFlags,
  request: GatewayRequest,
  say: (answer: Fields) => string,
): Promise<number> {
  const answer = await askGateway(world, flags, (client, signal) => client.ask(request, signal));
  world.stdout(`${flags.json ? JSON.stringify(answer) : say(answer)}\n`);
  return EXIT_OK;
}

/** How people see a list: as a table, or each item as a text of its own. `none` tells them that there is nothing. */
type Listing = { readonly none: string } & (
  { readonly columns: readonly Column<Fields>[] } | { line(item: Fields): string }
);

/** The `items` at a path; with --json one JSON object a line. */
export async function printList(world: CliWorld, flags: CommonFlags, path: string, listing: Listing): Promise<number> {
  const answer = await askGateway(world, flags, (client, signal) => client.ask({ path }, signal));
  printItems(world, flags, listOf(answer["items"]).map(recordOf), listing);
  return EXIT_OK;
}

export function printItems(world: CliWorld, flags: CommonFlags, items: readonly Fields[], listing: Listing): void {
  if (items.length === 0 && !flags.json) world.stdout(`${listing.none}\n`);
  const lines = flags.json
    ? items.map((item) => JSON.stringify(item))
    : "columns" in listing
      ? tableLines(world, listing.columns, items)
      : items.map(listing.line);
  for (const line of lines) world.stdout(`${line}\n`);
}

/** Without what is not given. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query;
}
