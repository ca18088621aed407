/** The gateway of this source as a process that starts beside others on its Postgres database: `beside-main.ts --home DIR`. For tests alone. */
import { parseArgs } from "node:util";
import { sourceAssets } from "../../assets.ts";
import { readEnvironment } from "../../config/environment/index.ts";
import { deferred } from "../../kit/deferred.ts";
import { serve } from "../../serve.ts";
import { VERSION } from "../../version.ts";

const { values } = parseArgs({ options: { home: { type: "string" } } });
const stop = deferred<string>();
process.on("SIGTERM", () => stop.resolve("SIGTERM"));

await serve(
  {
    environment: readEnvironment(process.env),
    cwd: process.cwd(),
    version: VERSION,
    isTerminal: false,
    assets: sourceAssets(),
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    stopAsked: stop.promise,
    besideOthers: true,
  },
  { home: values.home, port: 0, json: true },
);
process.exit(0);
