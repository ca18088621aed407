/** The gateway as an MCP server, by the public conformance suite: a real gateway with a plugin that brings what the suite looks for. */
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { startTokenProxy } from "../../src/testing/whole/token-proxy.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { CONFORMANCE_PLUGIN, putConformancePlugin } from "../../test/mcp-conformance-home.ts";
import { CONFORMANCE, type LeftOut, revisionReport, runConformance } from "./conformance.ts";
import { type Suite, versionOf } from "./suite.ts";

const LOGGING =
  "Logging to clients is not offered: the protocol gives it up in 2026-07-28, and the gateway has a log of its own.";

/** By revision: what the gateway leaves out on purpose. */
export const LEFT_OUT: Readonly<Record<string, LeftOut>> = {
  "2026-07-28": {},
  "2025-11-25": { "logging-set-level": LOGGING, "tools-call-with-logging": LOGGING },
};

export const mcpServer: Suite = {
  name: "mcp-server",
  title: "MCP server",
  async run() {
    await using home = await tempHome();
    await putConformancePlugin(home.path);
    await using gateway = await startGatewayProcess({
      home: home.path,
      config: { plugins: { enabled: [CONFORMANCE_PLUGIN] } },
    });
    await using proxy = startTokenProxy(gateway); // the suite cannot send a token
    const parts: string[] = [
      `By \`${CONFORMANCE}\` ${versionOf(CONFORMANCE)}, over \`@modelcontextprotocol/server\` ${versionOf("@modelcontextprotocol/server")}.`,
    ];
    let ok = true;
    for (const [revision, leftOut] of Object.entries(LEFT_OUT)) {
      const scenarios = await runConformance("server", revision, ["--url", `${proxy.url}/mcp`]);
      const report = revisionReport(revision, scenarios, leftOut);
      if (!report.ok) ok = false;
      parts.push(report.text);
    }
    return { ok, text: parts.join("\n\n") };
  },
};
