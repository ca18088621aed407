/** The configuration file for an operator's editor: shown without secrets, changed only as it was seen, and never into something that is not valid. */
import { createHash } from "node:crypto";
import type { ConfigChange, ConfigEditor, ConfigFile, SavedConfig } from "../../contracts/config-api.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Variables } from "../check/check.ts";
import { hideSecrets } from "../hidden-secrets.ts";
import { type FullProposal, proposeConfig } from "../proposal.ts";
import type { Config } from "../schema.ts";
import { FIRST_TEXT, replaceConfig } from "./edit-file.ts";
import { readConfigText } from "./read-file.ts";

interface ConfigEditorDeps {
  /** Where the file is, or would be written. */
  path(): string;
  config(): Config;
  readonly variables: Variables;
  /** Puts what was written into force. Sentences about why not. */
  reload(): Promise<{ readonly problems: readonly string[] }>;
}

export function openConfigEditor(deps: ConfigEditorDeps): ConfigEditor {
  const { path } = deps;
  let queue: Promise<unknown> = Promise.resolve();
  return {
    async file() {
      const text = await read(path());
      return { path: path(), text: hideSecrets(text ?? FIRST_TEXT), version: versionOf(text) };
    },
    async propose(change) {
      return (await propose(deps, change)).shown;
    },
    save(change) {
      // one at a time: two that saw the same file would both find it unchanged, and the second would undo the first
      const saved = queue.then(() => save(deps, change));
      queue = saved.catch(() => undefined); // whoever saves is told; the next one goes on
      return saved;
    },
  };
}

async function save(deps: ConfigEditorDeps, change: ConfigChange): Promise<SavedConfig> {
  const { text, shown, before } = await propose(deps, change);
  if (shown.problems.length > 0) return { ...shown, written: false, backup: null, notInForce: [] };
  const edit = await replaceConfig(deps.path(), text, before);
  if (edit.kind === "refused") throw new GatewayError("conflict", "not written", { say: edit.problems.join(" ") });
  const { problems } = await deps.reload();
  return { ...shown, written: true, backup: edit.backup, notInForce: problems };
}

async function propose(
  { path, config, variables }: ConfigEditorDeps,
  change: ConfigChange,
): Promise<FullProposal & { readonly before: string | null }> {
  const before = await read(path());
  if (versionOf(before) !== change.version)
    throw new GatewayError("conflict", "another file than was shown", {
      say: "The file has changed since it was shown here. Look at it again, then change it.",
    });
  return { ...proposeConfig({ text: before ?? FIRST_TEXT, inForce: config(), variables }, change), before };
}

/** Null: there is no file. */
async function read(path: string): Promise<string | null> {
  const found = await readConfigText(path, "follow");
  if (found.kind === "text") return found.text;
  if (found.kind === "missing") return null;
  throw new GatewayError("conflict", "the file cannot be read", { say: `${path} cannot be read.` });
}

/** A digest tells nothing of what is in the file, and changes with every character of it. */
function versionOf(text: string | null): ConfigFile["version"] {
  return text === null ? "none" : createHash("sha256").update(text).digest("base64url");
}
