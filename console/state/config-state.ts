/** The configuration file as an editor of the web console has it: read without secrets, changed only as it was seen. */
import { signal } from "@preact/signals";
import type { ConfigChange, ConfigFile, ProposedConfig, SavedConfig } from "../../src/contracts/config-api.ts";
import { type Answer, readJson, sendJson } from "../net/api.ts";
import { announced } from "./news.ts";

/** Null: not read yet. */
const configFile = signal<ConfigFile | null | "failed">(null);

async function readConfigFile(): Promise<void> {
  const answer = await readJson<ConfigFile>("/api/config/file");
  if (answer.ok) configFile.value = answer.value;
  else if (configFile.value === null) configFile.value = "failed";
}

async function saveConfig(change: ConfigChange): Promise<Answer<SavedConfig>> {
  const answer = await sendJson<SavedConfig>("POST", "/api/config/save", change);
  if (answer.ok && answer.value.written) announced.value = "The settings are saved.";
  await readConfigFile();
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
