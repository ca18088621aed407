/** A response as it was asked for: checked, with what this gateway does not do refused or left out. Pure. */
import type { ResponseRequest } from "../../contracts/responses.ts";
import { readResponseTools } from "../client-tools.ts";
import { flagAt, objectAt, textAt, wrongField } from "../fields.ts";
import { agentOf, MODEL, type RequestOptions, userSession } from "../request.ts";
import { readInput } from "./items.ts";
import { readSettings } from "./settings.ts";

export function readResponseRequest(body: unknown, header: string | null, options: RequestOptions): ResponseRequest {
  const fields = objectAt(body, "body");
  const model = fields["model"] === undefined || fields["model"] === null ? MODEL : textAt(fields["model"], "model");
  const { offered, named, choice } = readResponseTools(fields, options.isTaken);
  const settings = readSettings(fields, { model, tools: named, tool_choice: choice });
  const session = header ?? userSession(fields, options);
  if (session !== null && settings.previous_response_id !== null)
    throw wrongField("previous_response_id", "cannot be used in a session, which remembers by itself.");
  return {
    agent: agentOf(model, options),
    session,
    previous: settings.previous_response_id,
    input: readInput(fields["input"]),
    tools: offered,
    stream: flagAt(fields["stream"], "stream"),
    settings,
  };
}
