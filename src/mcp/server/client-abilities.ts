/** What a client declares in its capabilities, as requests that it answers. Pure. */
import type { ClientCapabilities } from "@modelcontextprotocol/server";
import type { ClientInput } from "../../contracts/tools/tool.ts";

/** An `elicitation` without a mode means forms. */
export function answeredRequests(capabilities: ClientCapabilities | undefined): readonly ClientInput["method"][] {
  const { elicitation, sampling, roots } = capabilities ?? {};
  const forms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  return [
    ...(forms ? (["elicitation/create"] as const) : []),
    ...(sampling ? (["sampling/createMessage"] as const) : []),
    ...(roots ? (["roots/list"] as const) : []),
  ];
}
