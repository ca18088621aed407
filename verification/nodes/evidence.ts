/** Keeps what explains a finding before the database, the fake platform and the state directories are gone. */
import { existsSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Trouble } from "./takeovers.ts";
import type { History } from "./verdict.ts";
import type { NodesWorld } from "./world.ts";

interface Found {
  readonly folder: string;
  /** Calls that the platform took, and what it shows. */
  readonly platform: unknown;
  readonly troubles: readonly Readonly<Trouble>[];
  readonly history: History;
}

/** Those that messages, turns, reply parts, previews and gateways are in; of the judge's own, all states that they went through. */
const TABLES = [
  "inbox",
  "turns",
  "outbox",
  "channel_facts",
  "nodes",
  "node_leases",
  "judge.turn_states",
  "judge.part_states",
  "judge.takeovers",
] as const;

export async function keepEvidence({ sql, nodes }: NodesWorld, { folder, ...found }: Found): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = (name: string, what: unknown): Promise<void> =>
    writeFile(join(folder, `${name}.json`), JSON.stringify(what, null, 1));
  for (const table of TABLES) {
    const rows: unknown = await sql.unsafe(`select to_jsonb(one) as row from ${table} one`).catch(String);
    await write(table, rows);
  }
  await write("platform", found.platform);
  await write("troubles", found.troubles);
  await write("history", found.history);
  for (const { name, home } of nodes)
    if (existsSync(join(home, "logs"))) await cp(join(home, "logs"), join(folder, name), { recursive: true });
}
