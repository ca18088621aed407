/**
 * The engine that stores of tests are on. Usually it is SQLite. With PI_TEST_STORE=postgres every state directory has a database of its own on the
 * Postgres server of the test run, which is known by the path of the directory, also to processes that a test starts.
 */
import { existsSync, mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { editText } from "../../config/file/edit-file.ts";
import { checkConfigText } from "../../config/index.ts";
import { type Clock, systemClock } from "../../kit/clock.ts";
import { type Secret, secret } from "../../kit/secret.ts";
import { storableText } from "../../store/storable-text.ts";
import { goesWith } from "../temp-home.ts";
import { createTestDatabase } from "./database.ts";
import { STORE_TABLES } from "./store-tables.ts";

/** The name of the variable that chooses the engine: `scripts/test.ts` sets it. */
export const ENGINE_VARIABLE = "PI_TEST_STORE";
const CASES_PER_DATABASE = 5;
const CONFIG_NAME = "pi-gateway.jsonc";

function isOnPostgres(): boolean {
  return process.env[ENGINE_VARIABLE] === "postgres";
}

/** Undefined: this test runs on SQLite. The database goes with the directory if that is a `tempHome`. */
export async function storeUrlOf(home: string): Promise<Secret | undefined> {
  if (!isOnPostgres()) return undefined;
  const database = await createTestDatabase(STORE_TABLES, `home_${Bun.hash(home).toString(36)}`);
  goesWith(home, database);
  return secret(database.url);
}

/** The store gathers writes for so long at most, which no test is about that turns its clock. */
const GATHERING_MS = 10;

/** What a test does with its clock is about records that people read. Connections wait for a real server, in real time. */
export function storeClock(clock: Clock): Clock {
  if (isOnPostgres()) return { ...systemClock, now: () => clock.now() };
  if (clock === systemClock) return clock;
  const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { ...clock, sleep: (ms, signal) => (ms <= GATHERING_MS ? nextTick() : clock.sleep(ms, signal)) };
}

/** A text of a person as the engine of this run gives it back: Postgres keeps no U+0000 (docs/postgres.md, Limits). */
export function storedHere(text: string): string {
  return isOnPostgres() ? storableText(text) : text.toWellFormed();
}

/** How many cases a property is tried with: where each makes a database, fewer of them fit into the time of a test. */
export function casesHere(wanted: number): number {
  return isOnPostgres() ? Math.ceil(wanted / CASES_PER_DATABASE) : wanted;
}

/** Puts the address of the database into the settings of a gateway, unless a test says itself which store it wants. */
export async function settingsWithStore(home: string, settings: unknown): Promise<unknown> {
  if (typeof settings !== "object" || settings === null || Array.isArray(settings) || "store" in settings)
    return settings;
  const url = await storeUrlOf(home);
  return url ? { ...settings, store: { url: url.reveal() } } : settings;
}

/** The same in the file of a state directory. One that is not valid stays as it is. */
export async function fileWithStore(home: string): Promise<void> {
  if (!isOnPostgres()) return;
  const path = join(home, CONFIG_NAME);
  const text = existsSync(path) ? await readFile(path, "utf8") : "{}\n";
  const { config } = checkConfigText(text, () => "a value for this check");
  if (!config || config.store.url) return;
  const url = await storeUrlOf(home);
  if (!url) return;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  await writeFile(path, editText(text, [{ keys: ["store", "url"], value: url.reveal() }]), { mode: 0o600 });
}
