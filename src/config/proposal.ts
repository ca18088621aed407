/** A change of the configuration file before it is written: the text it would be, what is wrong with it, and what it would change in force. Pure. */
import type { ConfigChange, ConfigProposal, ProposedConfig, SettingChange } from "../contracts/config-api.ts";
import { checkConfigText, type Variables } from "./check/check.ts";
import { diffConfig } from "./diff.ts";
import { editText } from "./file/edit-file.ts";
import { hideSecrets, restoreSecrets } from "./hidden-secrets.ts";
import { publicConfig } from "./public.ts";
import type { Config } from "./schema.ts";

interface Given {
  /** The text of the file; an empty group where there is none. */
  readonly text: string;
  /** What a change is compared with while the file itself is not valid. */
  readonly inForce: Config;
  readonly variables: Variables;
}

/** With the whole text, for whoever writes it; `shown` is for people. */
export interface FullProposal {
  readonly text: string;
  readonly shown: ConfigProposal;
}

export function proposeConfig({ text: before, inForce, variables }: Given, asked: ConfigChange): FullProposal {
  const { text, problems: hidden } = proposedText(before, asked);
  const { config, problems, warnings } = checkConfigText(text, variables);
  const all = [...hidden, ...problems];
  const old = checkConfigText(before, variables).config ?? inForce;
  const diff = config ? diffConfig(old, config) : null;
  const needsRestart = new Set(diff?.needsRestart);
  const change = (path: string): SettingChange => ({
    path,
    before: shownValue(old, path),
    after: config && shownValue(config, path),
    needsRestart: needsRestart.has(path),
  });
  return {
    text,
    shown: {
      text: hideSecrets(text),
      problems: all,
      warnings,
      changes: (diff?.changed ?? []).map(change),
      weakensAuth: diff?.weakensAuth ?? false,
    },
  };
}

/** The text of the file with the change in it. */
export function proposedText(before: string, asked: ProposedConfig): ReturnType<typeof restoreSecrets> {
  if ("text" in asked) return restoreSecrets(asked.text, before);
  const edits = asked.edits.map(({ path, ...edit }) => ({
    keys: path,
    value: edit.value,
    comment: edit.comment ?? "",
  }));
  try {
    return { text: editText(before, edits), problems: [] };
  } catch {
    // the file has something else than a group around the setting
    const path = asked.edits.map((edit) => edit.path.join(".")).join(", ");
    const message = `${path} cannot be set in the file as it is. Change it in the text.`;
    return { text: before, problems: [{ path, line: 1, column: 1, message }] };
  }
}

/** As people may see it: secrets are "set" or "not set". Null: there is none. */
function shownValue(config: Config, path: string): unknown {
  let at: unknown = publicConfig(config);
  for (const key of path.split(".")) {
    if (typeof at !== "object" || at === null) break; // a group whose parts are not shown
    at = Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return at ?? null;
}
