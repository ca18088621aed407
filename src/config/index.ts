/**
 * The configuration door: reads the environment, finds, checks, migrates, watches and compares the configuration file.
 * `checkConfigText`, `diffConfig` and `publicConfig` are pure; `loadConfig`, `migrateConfig` and `watchConfig` touch the disk.
 * This is the only module that knows environment variables. Secrets leave it wrapped, and no problem text ever holds one.
 */
export { type CheckedConfig, checkConfigText, defaultConfig } from "./check/check.ts";
export { findPosition } from "./check/tree.ts";
export { isSmallOrderKey, weakToken } from "./check/credentials.ts";
export { reachOf } from "./check/address.ts";
export { fileOthersCanRead } from "./file/public-file.ts";
export { otelSettings, type OtelSettings } from "./otel-settings.ts";
export { type ConfigDiff, diffConfig, sameSettings } from "./diff.ts";
export {
  type Environment,
  firstProviderWithKey,
  keysForProvider,
  PROVIDER_KEYS,
  readEnvironment,
  readSupervisor,
  type SupervisorSettings,
} from "./environment/index.ts";
export { type LoadConfigOptions, type LoadedConfig, loadConfig, LAST_GOOD_NAME } from "./file/load.ts";
export { type ConfigReport, configReport, configReportText } from "./file/report.ts";
export { type Migration, type MigrationResult, migrateConfig } from "./file/migrate.ts";
export { editConfig, editText, FIRST_TEXT, replaceConfig } from "./file/edit-file.ts";
export { keyFileOf, writeKeyFile } from "./file/key-file.ts";
export { readConfigText } from "./file/read-file.ts";
export { checkEdits } from "./file/check-edits.ts";
export { openConfigEditor } from "./file/config-editor.ts";
export { findConfigFile, resolveHome } from "./file/paths.ts";
export { type ConfigProblem, formatProblem } from "./check/problem.ts";
export { type KeySource, type ModelEndpoint, modelEndpoint } from "./model-endpoint.ts";
export { publicConfig } from "./public.ts";
export { configJsonSchema, renderConfigReference } from "./reference.ts";
export { type Config, ConfigSchema } from "./schema.ts";
export type { Workspace } from "./sections/kinds.ts";
export type { McpServerSettings } from "./sections/mcp.ts";
export type { ToolsFilter } from "./sections/capabilities.ts";
export type { TelegramConfig } from "./sections/channels/telegram.ts";
export { hasLastGood, revertConfig, textInForce } from "./file/revert.ts";
export { settingRows } from "./setting-rows.ts";
export { watchConfig } from "./file/watch.ts";
