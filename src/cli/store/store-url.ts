/** Which Postgres database the configuration names, for commands that only look: nothing is migrated, kept or written. */
import { join } from "node:path";
import type { Secret } from "../../kit/secret.ts";
import { MAX_CONFIG_BYTES, readSmall } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";

interface Place {
  readonly home: string;
  /** `--config`, as written. */
  readonly config: string | undefined;
}

/** Undefined: the SQLite file of the state directory is used, or nobody can say, because the file is not valid and there was none before it. */
export async function storeUrlOf(
  { environment, cwd }: CliWorld,
  { home, config: flag }: Place,
): Promise<Secret | undefined> {
  const { checkConfigText, findConfigFile, LAST_GOOD_NAME } = await import("../../config/index.ts");
  const file = findConfigFile({ home, flag, cwd });
  if (file === null) return undefined;
  for (const path of [file, join(home, LAST_GOOD_NAME)]) {
    const text = await readSmall(path, MAX_CONFIG_BYTES);
    const config = text === null ? null : checkConfigText(text, environment.variables).config;
    if (config) return config.store.url;
  }
  return undefined;
}
