/**
 * The acceptance tests of OpenResponses, from a checkout of github.com/openresponses/openresponses with its packages installed, against a gateway with
 * the demo model. `OPENRESPONSES_SUITE` says where the checkout is.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { type Suite, table } from "./suite.ts";

const PROGRAM = join("bin", "compliance-test.ts");
const folder = (): string => process.env["OPENRESPONSES_SUITE"] ?? "";

interface Outcome {
  readonly id: string;
  readonly name: string;
  readonly status: "passed" | "failed" | "skipped";
  readonly errors?: readonly string[];
}

export const openResponses: Suite = {
  name: "openresponses",
  title: "OpenResponses",
  missing() {
    if (existsSync(join(folder(), PROGRAM)) && folder() !== "") return null;
    return "set OPENRESPONSES_SUITE to a checkout of github.com/openresponses/openresponses, with its packages installed";
  },
  async run() {
    const results = await runSuite();
    const passed = results.filter(({ status }) => status === "passed");
    for (const { id, errors = [] } of results.filter(({ status }) => status !== "passed")) console.error(id, errors);
    const overSocket = passed.filter(({ id }) => id.startsWith("websocket-")).length;
    const summary = `The acceptance tests of the OpenResponses specification of ${specification()}, at \`/v1/responses\` of a gateway with the demo model: ${passed.length} of ${results.length} pass, ${overSocket} of them over a WebSocket. \`OPENRESPONSES_SUITE\` names the folder with a checkout of the suite.`;
    const rows = results.map(({ id, name, status }) => [`\`${id}\``, name, status]);
    return {
      ok: results.length > 0 && passed.length === results.length,
      text: `${summary}\n\n${table(["Test", "Name", "Result"], rows)}`,
    };
  },
};

/** In the order of their names: they run side by side. */
async function runSuite(): Promise<readonly Outcome[]> {
  await using gateway = await startGatewayProcess({ config: {} });
  const target = ["--base-url", `${gateway.url}/v1`, "--api-key", gateway.token, "--model", "pi-gateway", "--json"];
  const child = Bun.spawn([process.execPath, "--no-env-file", PROGRAM, ...target], {
    cwd: folder(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { results } = JSON.parse(await new Response(child.stdout).text()) as { results: readonly Outcome[] };
  return results.toSorted((a, b) => a.id.localeCompare(b.id));
}

/** The newest that the checkout has a page of. */
function specification(): string {
  const pages = readdirSync(join(folder(), "public", "openapi")).filter((name) => /^\d{4}-\d\d-\d\d$/.test(name));
  return pages.toSorted().at(-1) ?? "unknown";
}
