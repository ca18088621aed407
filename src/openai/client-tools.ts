/** `tools` and `tool_choice` of a request: which tools of the program the model may call. Pure. */
import type { ClientTool } from "../contracts/client-request.ts";
import { isObject } from "../kit/json.ts";
import { type Fields, listAt, objectAt, optionalText, textAt, wrongField } from "./fields.ts";

const MAX_TOOLS = 128;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NO_PARAMETERS = { type: "object", properties: {} };

/** `isTaken`: a tool of the gateway or of pi has this name. */
export function readClientTools(body: Fields, isTaken: (name: string) => boolean): readonly ClientTool[] {
  const tools = body["tools"] === undefined || body["tools"] === null ? [] : readTools(body["tools"], isTaken);
  return isOffered(body["tool_choice"]) ? tools : [];
}

function readTools(value: unknown, isTaken: (name: string) => boolean): readonly ClientTool[] {
  const seen = new Set<string>();
  return listAt(value, "tools", MAX_TOOLS).map((one, index) => {
    const at = `tools[${index}]`;
    const fields = objectAt(one, at);
    if (fields["type"] !== "function") throw wrongField(`${at}.type`, "must be function.");
    const tool = readFunction(objectAt(fields["function"], `${at}.function`), `${at}.function`);
    if (isTaken(tool.name))
      throw wrongField(`${at}.function.name`, `${tool.name} is the name of a tool of this gateway. Give it another.`);
    if (seen.has(tool.name)) throw wrongField(`${at}.function.name`, `${tool.name} is there twice.`);
    seen.add(tool.name);
    return tool;
  });
}

function readFunction(fields: Fields, at: string): ClientTool {
  const name = textAt(fields["name"], `${at}.name`);
  if (!NAME.test(name)) throw wrongField(`${at}.name`, "is 1 to 64 letters, digits, _ or -.");
  const parameters = fields["parameters"] ?? NO_PARAMETERS;
  if (!isObject(parameters)) throw wrongField(`${at}.parameters`, "must be a JSON Schema.");
  return { name, description: optionalText(fields["description"], `${at}.description`) ?? "", parameters };
}

function isOffered(choice: unknown): boolean {
  if (choice === undefined || choice === null || choice === "auto") return true;
  if (choice === "none") return false;
  throw wrongField(
    "tool_choice",
    "can be auto or none. An agent of this gateway decides itself which tool it calls, so required and named tools cannot be promised.",
  );
}
