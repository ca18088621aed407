/**
 * For each session that pi opens it asks the disk some 650 times whether its credentials or its list of models have changed, several times for
 * each provider it knows, which is a third of the time that opening takes. Questions of one moment get one answer. Other files, and other
 * questions about these, are left alone.
 */
import type { BigIntStats, PathLike, StatSyncOptions } from "node:fs";
import { join } from "node:path";

const FILES = ["auth.json", "models-store.json"];

/** `folder`: of pi's settings. */
export function askDiskOnce(folder: string): void {
  const fs = process.getBuiltinModule("node:fs"); // an import would settle what pi imports from there
  const asked: ReadonlySet<unknown> = new Set(FILES.map((name) => join(folder, name)));
  const look = fs.statSync;
  /** Returns nothing for a file that is not there, where that is no error to whoever asks. */
  const lookExactly = look as (path: PathLike, options: StatSyncOptions) => BigIntStats | undefined;
  const answers = new Map<unknown, BigIntStats>();

  /** A file that is not there is looked for each time. */
  const lookOnce = (path: PathLike, options?: StatSyncOptions): ReturnType<typeof look> => {
    if (options?.bigint !== true || !asked.has(path)) return look(path, options);
    const known = answers.get(path);
    if (known) return known;
    const answer = lookExactly(path, options);
    if (answer === undefined) return answer;
    if (answers.size === 0) setImmediate(() => answers.clear());
    answers.set(path, answer);
    return answer;
  };
  fs.statSync = Object.assign(lookOnce, look) as typeof look;
}
