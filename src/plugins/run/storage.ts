/** A plugin's small memory: one private JSON file, replaced as a whole, so that a crash leaves the old one or the new one. */
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import type { PluginStorage } from "../../contracts/plugin.ts";
import { parseJson } from "../../kit/json.ts";

const MAX_KEYS = 1_000;
const MAX_KEY_CHARS = 128;
const MAX_VALUE_CHARS = 64 * 1024;
const MAX_TOTAL_CHARS = 1024 * 1024;
/** Dropped by every reader of JSON in this house, so they would not come back. */
const RESERVED = new Set(["__proto__", "constructor", "prototype"]);
const LIMITS = { maxChars: 2 * MAX_TOTAL_CHARS, maxDepth: 64 };

/** Reads at the first use. Writes happen one after the other. */
export function createStorage(file: string): PluginStorage {
  let values: Map<string, string> | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const next = queue.then(work);
    queue = next.catch(() => undefined); // whoever asked sees the failure
    return next;
  };
  const current = async (): Promise<Map<string, string>> => {
    values ??= await load(file);
    return values;
  };

  return {
    get: (key) =>
      inOrder(async () => {
        const json = (await current()).get(key);
        return json === undefined ? undefined : (JSON.parse(json) as unknown);
      }),
    set: (key, value) =>
      inOrder(async () => {
        const next = new Map(await current()).set(key, jsonOf(key, value));
        if (next.size > MAX_KEYS) throw tooLarge(`more than ${MAX_KEYS} keys`);
        await save(file, next);
        values = next;
      }),
    delete: (key) =>
      inOrder(async () => {
        const next = new Map(await current());
        if (!next.delete(key)) return;
        await save(file, next);
        values = next;
      }),
    keys: () => inOrder(async () => [...(await current()).keys()]),
  };
}

async function load(file: string): Promise<Map<string, string>> {
  const unreadable = (cause?: unknown) =>
    new GatewayError("store_failed", `the memory of a plugin cannot be read: ${file}`, { cause });
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null; // nothing was kept yet
    throw unreadable(error); // taken for empty, the next value would replace all that is in it
  });
  if (text === null) return new Map();
  const parsed = parseJson(text, LIMITS);
  if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null) throw unreadable();
  return new Map(Object.entries(parsed.value).map(([key, value]) => [key, JSON.stringify(value)]));
}

async function save(file: string, values: ReadonlyMap<string, string>): Promise<void> {
  const text = `{${[...values].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}\n`;
  if (text.length > MAX_TOTAL_CHARS) throw tooLarge(`more than ${MAX_TOTAL_CHARS} characters in all`);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.new`;
  {
    await using draft = await open(fresh, "w", 0o600);
    await draft.writeFile(text);
    await draft.sync();
  }
  await rename(fresh, file);
}

function jsonOf(key: string, value: unknown): string {
  if (key === "" || key.length > MAX_KEY_CHARS) throw tooLarge(`a key of ${key.length} characters`);
  if (RESERVED.has(key)) throw new GatewayError("invalid_params", "this key cannot be used");
  const json = JSON.stringify(value);
  if (json === undefined) throw new GatewayError("invalid_params", "this value has no JSON form");
  if (json.length > MAX_VALUE_CHARS) throw tooLarge(`a value of ${json.length} characters`);
  return json;
}

function tooLarge(what: string): GatewayError {
  return new GatewayError("too_large", `a plugin's memory cannot hold ${what}`);
}
