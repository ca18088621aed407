/** Looks at a plugin as a gateway would, without one: loads its files, calls its function, and says what it registers. Starts none of its services. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorText, isGatewayError } from "../contracts/errors.ts";
import type { PluginProvides } from "../contracts/plugin.ts";
import { type Discovered, loadPlugin, provideModules } from "../plugins/index.ts";
import { runInHarness } from "./harness.ts";
import { SDK_MODULES } from "./modules.ts";

type CheckedPlugin =
  | { readonly ok: true; readonly provides: PluginProvides; readonly notices: readonly string[] }
  /** With file and line of the author's own file, where there is one. */
  | { readonly ok: false; readonly why: string };

export async function checkPlugin(found: Extract<Discovered, { kind: "usable" }>): Promise<CheckedPlugin> {
  provideModules(SDK_MODULES);
  const folder = await mkdtemp(join(tmpdir(), "pi-gateway-check-"));
  const loading = loadPlugin(folder, found);
  try {
    const { manifest, config } = found;
    await using harness = await runInHarness(await loading.load(), { manifest, config, startServices: false });
    return { ok: true, provides: harness.provides, notices: harness.notices };
  } catch (error) {
    // what the plugin itself threw is the cause of the sentence about it
    const at = loading.location.of(error) ?? (error instanceof Error ? loading.location.of(error.cause) : null);
    const say = isGatewayError(error) ? error.say : `It failed: ${errorText(error) || "it did not say why"}`;
    const [first = ""] = loading.location.text(say).split("\n", 1);
    return { ok: false, why: at === null || first.includes(at) ? first : `${first} (${at})` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
