/** The client of the gateway under the conformance suite of the Model Context Protocol: the program in test/mcp/ connects as the gateway does. */
import { join } from "node:path";
import { CONFORMANCE, type LeftOut, revisionReport, runConformance } from "./conformance.ts";
import { ROOT, type Suite, versionOf } from "./suite.ts";

const REVISIONS = ["2026-07-28", "2025-11-25"];
const LEFT_OUT: LeftOut = {};

export const mcpClient: Suite = {
  name: "mcp-client",
  title: "MCP client",
  async run() {
    const program = join(ROOT, "test", "mcp", "conformance-client.ts");
    const how = ["--command", `${process.execPath} --no-env-file ${program}`, "--timeout", "120000"];
    const parts = [
      `\`${CONFORMANCE}\` ${versionOf(CONFORMANCE)} against the client of \`mcp.servers\`, which is \`test/mcp/conformance-client.ts\` here.`,
    ];
    let ok = true;
    for (const revision of REVISIONS) {
      const report = revisionReport(revision, await runConformance("client", revision, how), LEFT_OUT);
      if (!report.ok) ok = false;
      parts.push(report.text);
    }
    return { ok, text: parts.join("\n\n") };
  },
};
