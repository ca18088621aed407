/** The input of a response: a text, or items of a conversation. Reads their form; what they refer to is looked up elsewhere. Pure. */
import type { GivenFile, GivenItem } from "../../contracts/responses.ts";
import { type Fields, listAt, objectAt, optionalText, textAt, wrongField } from "../fields.ts";
import { readArguments } from "../messages.ts";
import { readCompaction } from "./compaction-item.ts";

const MAX_ITEMS = 2_000;
const MAX_PARTS = 256;
const MAX_INPUT_CHARS = 10_485_760;
const MAX_CALL_ID_CHARS = 512;

export function readInput(value: unknown): readonly GivenItem[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "string")
    return listAt(value, "input", MAX_ITEMS).flatMap((one, index) => {
      const at = `input[${index}]`;
      return readItem(objectAt(one, at), at);
    });
  if (value.length > MAX_INPUT_CHARS) throw wrongField("input", `has more than ${MAX_INPUT_CHARS} characters.`);
  return [{ kind: "user", text: value, images: [], files: [] }];
}

function readItem(fields: Fields, at: string): readonly GivenItem[] {
  const type = fields["type"] ?? (fields["role"] === undefined ? "item_reference" : "message");
  if (type === "message") return [readMessage(fields, at)];
  if (type === "function_call") {
    const input = readArguments(optionalText(fields["arguments"], `${at}.arguments`) ?? "");
    return [{ kind: "call", callId: callIdOf(fields, at), tool: textAt(fields["name"], `${at}.name`), input }];
  }
  if (type === "function_call_output")
    return [{ kind: "result", callId: callIdOf(fields, at), text: resultText(fields["output"], `${at}.output`) }];
  if (type === "item_reference") return [{ kind: "reference", id: textAt(fields["id"], `${at}.id`), param: at }];
  if (type === "compaction") {
    const text = readCompaction(textAt(fields["encrypted_content"], `${at}.encrypted_content`), at);
    return [{ kind: "user", text, images: [], files: [] }];
  }
  if (type === "reasoning") return []; // an agent thinks anew
  throw wrongField(
    `${at}.type`,
    "must be one of: message, function_call, function_call_output, item_reference, reasoning, compaction.",
  );
}

function callIdOf(fields: Fields, at: string): string {
  const id = textAt(fields["call_id"], `${at}.call_id`);
  if (id !== "" && id.length <= MAX_CALL_ID_CHARS) return id;
  throw wrongField(`${at}.call_id`, `has 1 to ${MAX_CALL_ID_CHARS} characters.`);
}

function readMessage({ role, content }: Fields, at: string): GivenItem {
  if (role === "system" || role === "developer")
    return { kind: "system", text: plainText(content, `${at}.content`, ["input_text"]) };
  if (role === "assistant")
    return { kind: "assistant", text: plainText(content, `${at}.content`, ["output_text", "refusal"]) };
  if (role === "user") return { kind: "user", ...userParts(content, `${at}.content`) };
  throw wrongField(`${at}.role`, "must be one of: system, developer, user, assistant.");
}

function resultText(output: unknown, at: string): string {
  return plainText(output, at, ["input_text", "output_text"]);
}

function plainText(content: unknown, at: string, types: readonly string[]): string {
  if (typeof content === "string") return content;
  return listAt(content, at, MAX_PARTS)
    .map((one, index) => {
      const part = objectAt(one, `${at}[${index}]`);
      const type = part["type"];
      if (type === "refusal" && types.includes(type)) return textAt(part["refusal"], `${at}[${index}].refusal`);
      if (typeof type === "string" && types.includes(type)) return textAt(part["text"], `${at}[${index}].text`);
      throw wrongField(`${at}[${index}].type`, `must be ${types.join(" or ")} here.`);
    })
    .join("\n");
}

function userParts(content: unknown, at: string): Omit<Extract<GivenItem, { kind: "user" }>, "kind"> {
  if (typeof content === "string") return { text: content, images: [], files: [] };
  const texts: string[] = [];
  const images: string[] = [];
  const files: GivenFile[] = [];
  for (const [index, one] of listAt(content, at, MAX_PARTS).entries()) {
    const where = `${at}[${index}]`;
    const part = objectAt(one, where);
    if (part["type"] === "input_text") texts.push(textAt(part["text"], `${where}.text`));
    else if (part["type"] === "input_image") images.push(textAt(part["image_url"], `${where}.image_url`));
    else if (part["type"] === "input_file") files.push(readFile(part, where));
    else throw wrongField(`${where}.type`, "must be input_text, input_image or input_file.");
  }
  return { text: texts.join("\n"), images, files };
}

/** Some programs send base64 alone, others a `data:` address. */
function readFile(part: Fields, at: string): GivenFile {
  if (part["file_id"] !== undefined && part["file_id"] !== null)
    throw wrongField(`${at}.file_id`, "is not known: files are not kept here. Send file_data or file_url.");
  const name = optionalText(part["filename"], `${at}.filename`) ?? "file";
  const url = optionalText(part["file_url"], `${at}.file_url`);
  if (url !== undefined) return { name, url };
  const data = textAt(part["file_data"], `${at}.file_data`);
  return { name, url: data.startsWith("data:") ? data : `data:application/octet-stream;base64,${data}` };
}
