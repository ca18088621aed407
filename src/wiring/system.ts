/** The gateway for its operator: checks from inside, settings with where they come from, going back to the last good ones, and the log. */
import { join } from "node:path";
import {
  fileOthersCanRead,
  hasLastGood,
  openConfigEditor,
  reachOf,
  revertConfig,
  settingRows,
  textInForce,
  weakToken,
} from "../config/index.ts";
import type { ReloadReport } from "../contracts/http-api.ts";
import type { AuditVerifier } from "../contracts/store/tool-calls.ts";
import type { PluginHost } from "../contracts/plugin.ts";
import type { SystemLook } from "../contracts/system-api.ts";
import type { ListedTool } from "../contracts/tools/tool.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import { healthChecks } from "../health-checks.ts";
import type { Secret } from "../kit/secret.ts";
import { createFixes, type FixParts } from "./health-fixes.ts";
import { readLogs } from "../observe/index.ts";
import { diskFacts } from "../store/index.ts";
import type { Core } from "./core.ts";

const LOG_FOLDER = "logs";

interface SystemParts {
  status(): GatewayStatus;
  readonly plugins: Pick<PluginHost, "list">;
  readonly verifier: Pick<AuditVerifier, "last"> & FixParts["verifier"];
  readonly backups: FixParts["backups"];
  tools(): readonly ListedTool[];
  reload(): Promise<ReloadReport>;
  /** The operator's token in force. */
  token(): Secret;
}

export function createSystemLook(core: Core, parts: SystemParts): SystemLook {
  const { clock, store, config, options } = core;
  const { home } = options;
  /** The moment of the start, by the clock that only goes on. */
  const startedAt = clock.now() - clock.elapsed();
  const canRevert = async (): Promise<boolean> => {
    const { file, applied } = parts.status().config;
    return !applied && file !== null && (await hasLastGood(home));
  };
  const revert = async (): Promise<readonly string[]> => {
    const { file, applied } = parts.status().config;
    if (file === null || applied) return ["The file is in force; there is nothing to go back from."];
    const problems = await revertConfig(home, file);
    if (problems.length === 0) await parts.reload();
    return problems;
  };
  return {
    async doctor() {
      const { file } = parts.status().config;
      const [{ freeBytes, homeMode }, writable, publicFile] = await Promise.all([
        diskFacts(home),
        store.health.isWritable(),
        fileOthersCanRead(file),
      ]);
      const { bind, trustedProxies } = config().gateway;
      return healthChecks({
        status: parts.status(),
        plugins: parts.plugins.list(),
        tools: parts.tools(),
        freeBytes,
        homeMode,
        writable,
        verification: parts.verifier.last(),
        canRevert: await canRevert(),
        access: {
          reach: reachOf(bind),
          bind,
          hasProxy: trustedProxies.length > 0,
          weakToken: weakToken(parts.token().reveal()),
          publicFile,
        },
        now: clock.now(),
        clockShiftMs: clock.now() - clock.elapsed() - startedAt,
      });
    },
    async settings() {
      const { file, applied, problems } = parts.status().config;
      const text = await textInForce(home, file, applied);
      const rows = settingRows(config(), text, options.environment.variables);
      return { file, applied, problems, rows, canRevert: await canRevert() };
    },
    fix: createFixes({ clock, home }, { ...parts, revert }),
    revert,
    logs: (query) => readLogs(join(home, LOG_FOLDER), query),
    config: openConfigEditor({
      path: () => parts.status().config.file ?? options.configSource.expectedPath,
      config,
      variables: options.environment.variables,
      reload: parts.reload,
    }),
  };
}
