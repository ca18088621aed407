/** Changes the settings of a gateway that was started by `startGatewayProcess`: its store stays where it is. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { settingsWithStore } from "../postgres/home-database.ts";

export async function saveSettings(home: string, settings: unknown): Promise<void> {
  const all = await settingsWithStore(home, settings);
  await writeFile(join(home, "pi-gateway.jsonc"), JSON.stringify(all), { mode: 0o600 });
}
