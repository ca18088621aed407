/** The configuration file as the web console edits it: read without secrets, looked at before it is saved, changed only as it was seen. */
import { signal } from "@preact/signals";
import type {
  ConfigChange,
  ConfigFile,
  ConfigProposal,
  ProposedConfig,
  SavedConfig,
} from "../../src/contracts/config-api.ts";
import { type Answer, readJson, sendJson } from "../net/api.ts";
import { announced } from "./news.ts";
import { readSettings } from "./system-state.ts";

/** Null: not read yet. */
export const configFile = signal<ConfigFile | null | "failed">(null);

interface PendingEdit {
  readonly path: string;
  /** Absent: it is taken out of the file. */
  readonly value?: unknown;
}

/** Changes of settings that are not saved yet, by path. */
export const pendingEdits = signal<readonly PendingEdit[]>([]);

/** What the last save of this view did; empty: nothing was saved since the last change. */
export const savedSaid = signal("");

export function editSetting(edit: PendingEdit): void {
  savedSaid.value = "";
  pendingEdits.value = [...withoutEdit(edit.path), edit];
}

export function dropEdit(path: string): void {
  pendingEdits.value = withoutEdit(path);
}

function withoutEdit(path: string): readonly PendingEdit[] {
  return pendingEdits.value.filter((edit) => edit.path !== path);
}

/** As the gateway takes them. */
export function pendingChange(): ProposedConfig {
  const edits = pendingEdits.value.map(({ path, ...edit }) => ({ path: path.split("."), ...edit }));
  return { edits };
}

export async function readConfigFile(): Promise<void> {
  const answer = await readJson<ConfigFile>("/api/config/file");
  if (answer.ok) configFile.value = answer.value;
  else if (configFile.value === null) configFile.value = "failed";
}

export function proposeConfig(change: ConfigChange): Promise<Answer<ConfigProposal>> {
  return sendJson("POST", "/api/config/propose", change);
}

export async function saveConfig(change: ConfigChange): Promise<Answer<SavedConfig>> {
  const answer = await sendJson<SavedConfig>("POST", "/api/config/save", change);
  if (answer.ok && answer.value.written) {
    announced.value = "The settings are saved.";
    await Promise.all([readConfigFile(), readSettings()]);
  }
  return answer;
}

/** Changes the file as it is now. Null when it is in force, otherwise why not. */
export async function changeConfig(proposed: ProposedConfig): Promise<string | null> {
  await readConfigFile();
  const file = configFile.value;
  if (file === null || file === "failed") return "The settings could not be read. Is the gateway connected?";
  const answer = await saveConfig({ ...proposed, version: file.version });
  if (!answer.ok) return answer.error.message;
  const because = [...answer.value.problems.map(({ message }) => message), ...answer.value.notInForce];
  return because.length === 0 ? null : because.join(" ");
}
