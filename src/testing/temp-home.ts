/** A private folder for one test, gone when the test ends: `await using home = await tempHome()`. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempHome extends AsyncDisposable {
  readonly path: string;
}

/** By the path of a folder: what goes with it. */
const companions = new Map<string, AsyncDisposable>();

export async function tempHome(): Promise<TempHome> {
  // Resolved, because some systems have a link in the path of their temporary folder and the gateway compares real paths.
  const path = await realpath(await mkdtemp(join(tmpdir(), "pi-gateway-test-")));
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
      const companion = companions.get(path);
      companions.delete(path);
      await companion?.[Symbol.asyncDispose]();
    },
  };
}

/** What belongs to a folder and is not in it is disposed of after the folder. Said again, the last word counts. */
export function goesWith(path: string, companion: AsyncDisposable): void {
  companions.set(path, companion);
}
