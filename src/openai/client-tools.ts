/** `tools` and `tool_choice` of a request: which tools of the program the model may call. Pure. */
import type { ClientTool } from "../contracts/client-request.ts";
import { isObject } from "../kit/json.ts";
import { type Fields, listAt, objectAt, optionalText, textAt, wrongField } from "./fields.ts";

const MAX_TOOLS = 128;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NO_PARAMETERS = { type: "object", properties: {} };
const DECIDES =
  "An agent of this gateway decides itself which tool it calls, so required and named tools cannot be promised.";

/** A tool of the gateway or of pi has this name. */
type IsTaken = (name: string) => boolean;

/** In the form of chat completions. */
export function readClientTools(body: Fields, isTaken: IsTaken): readonly ClientTool[] {
  const tools = readTools(body["tools"], isTaken, (fields, at) => {
    if (fields["type"] !== "function") throw wrongField(`${at}.type`, "must be function.");
    return { at: `${at}.function`, fields: objectAt(fields["function"], `${at}.function`) };
  });
  const choice = readChoice(body["tool_choice"]);
  if (choice === "refused") throw wrongField("tool_choice", `can be auto or none. ${DECIDES}`);
  return choice === "none" ? [] : tools;
}

interface ResponseTools {
  /** That the model may call. */
  readonly offered: readonly ClientTool[];
  /** All of them, as the response names them. */
  readonly named: readonly object[];
  readonly choice: unknown;
}

/** In the form of responses. */
export function readResponseTools(body: Fields, isTaken: IsTaken): ResponseTools {
  const named: object[] = [];
  const tools = readTools(body["tools"], isTaken, (fields, at) => {
    if (fields["type"] !== "function")
      throw wrongField(
        `${at}.type`,
        "must be function: search, files and the like are tools of the gateway, and run inside.",
      );
    const { name, description = null, parameters = null, strict = null } = fields;
    named.push({ type: "function", name, description, parameters, strict });
    return { at, fields };
  });
  const given = body["tool_choice"] ?? "auto";
  const choice = readChoice(given);
  if (choice !== "refused") return { offered: choice === "none" ? [] : tools, named, choice };
  const allowed = readAllowed(given);
  return {
    offered: tools.filter(({ name }) => allowed.includes(name)),
    named,
    choice: { type: "allowed_tools", mode: "auto", tools: allowed.map((name) => ({ type: "function", name })) },
  };
}

function readTools(
  value: unknown,
  isTaken: IsTaken,
  open: (fields: Fields, at: string) => { readonly at: string; readonly fields: Fields },
): readonly ClientTool[] {
  if (value === undefined || value === null) return [];
  const seen = new Set<string>();
  return listAt(value, "tools", MAX_TOOLS).map((one, index) => {
    const { at, fields } = open(objectAt(one, `tools[${index}]`), `tools[${index}]`);
    const tool = readFunction(fields, at);
    if (isTaken(tool.name))
      throw wrongField(`${at}.name`, `${tool.name} is the name of a tool of this gateway. Give it another.`);
    if (seen.has(tool.name)) throw wrongField(`${at}.name`, `${tool.name} is there twice.`);
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

function readChoice(choice: unknown): "auto" | "none" | "refused" {
  if (choice === undefined || choice === null || choice === "auto") return "auto";
  return choice === "none" ? "none" : "refused";
}

/** Tools that are not among them are not offered, so that no call of them can be made. */
function readAllowed(choice: unknown): readonly string[] {
  const fields = isObject(choice) ? choice : {};
  const mode = fields["mode"] ?? "auto";
  if (fields["type"] !== "allowed_tools" || mode !== "auto")
    throw wrongField("tool_choice", `can be auto, none, or allowed_tools with the mode auto. ${DECIDES}`);
  return listAt(fields["tools"], "tool_choice.tools", MAX_TOOLS).map((one, index) => {
    const at = `tool_choice.tools[${index}]`;
    return textAt(objectAt(one, at)["name"], `${at}.name`);
  });
}
