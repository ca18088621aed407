/** The configuration as it would be with changes that are not written: with its secrets, for parts of the gateway that try it out. Writes nothing. */
import type { SettingEdit } from "../../contracts/config-api.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { checkConfigText, type Variables } from "../check/check.ts";
import { proposedText } from "../proposal.ts";
import type { Config } from "../schema.ts";
import { FIRST_TEXT } from "./edit-file.ts";
import { readConfigText } from "./read-file.ts";

/** Throws GatewayError `bad_request` with what is wrong with the changes, `conflict` when the file cannot be read. */
export async function checkEdits(path: string, edits: readonly SettingEdit[], variables: Variables): Promise<Config> {
  const found = await readConfigText(path, "follow");
  if (found.kind !== "text" && found.kind !== "missing")
    throw new GatewayError("conflict", "the file cannot be read", { say: `${path} cannot be read.` });
  const { text, problems: unset } = proposedText(found.kind === "text" ? found.text : FIRST_TEXT, { edits });
  const { config, problems } = checkConfigText(text, variables);
  const all = [...unset, ...problems].map(({ message }) => message);
  if (config && all.length === 0) return config;
  throw new GatewayError("bad_request", "these settings are not valid", { say: all.join(" ") });
}
