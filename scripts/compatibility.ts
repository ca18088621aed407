/**
 * `npm run compatibility`: runs the suites of foreign programs against this gateway and writes docs/compatibility.md. `--only NAME` runs one
 * (several with commas) and leaves the other sections as they are. Fails when something failed that the page does not name as left out.
 */
import { parseArgs } from "node:util";
import { ensureDist } from "./bundle.ts";
import { clients } from "./compatibility/clients.ts";
import { mcpClient } from "./compatibility/mcp-client.ts";
import { mcpServer } from "./compatibility/mcp-server.ts";
import { openResponses } from "./compatibility/openresponses.ts";
import { writePage } from "./compatibility/page.ts";
import { ROOT, type Suite } from "./compatibility/suite.ts";

const SUITES: readonly Suite[] = [clients, openResponses, mcpServer, mcpClient];

const HELP = `npm run compatibility [-- --only NAME]

Runs suites and client libraries of others against this gateway and writes docs/compatibility.md.
--only NAME   only these sections, several with commas: ${SUITES.map(({ name }) => name).join(", ")}
`;

const { values } = parseArgs({ options: { only: { type: "string" }, help: { type: "boolean", short: "h" } } });
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const wanted = values.only?.split(",");
const chosen = SUITES.filter(({ name }) => wanted?.includes(name) ?? true);
if (chosen.length === 0) {
  console.error(`There is no such suite. Choose from: ${SUITES.map(({ name }) => name).join(", ")}.`);
  process.exit(1);
}
await ensureDist(ROOT);
const made = new Map<string, string>();
let ok = true;
for (const suite of chosen) {
  const missing = suite.missing?.() ?? null;
  if (missing !== null) {
    console.error(`not run ${suite.name}: ${missing}`);
    continue;
  }
  const report = await suite.run();
  if (!report.ok) ok = false;
  made.set(suite.name, report.text);
  console.error(`${report.ok ? "ok    " : "FAILED"}  ${suite.name}`);
}
writePage(SUITES, made);
process.exitCode = ok ? 0 : 1;
