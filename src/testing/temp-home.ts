/** A private folder for one test, gone when the test ends: `await using home = await tempHome()`. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempHome extends AsyncDisposable {
  readonly path: string;
}

export async function tempHome(): Promise<TempHome> {
  // Resolved, because some systems have a link in the path of their temporary folder and the gateway compares real paths.
  const path = await realpath(await mkdtemp(join(tmpdir(), "pi-gateway-test-")));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
