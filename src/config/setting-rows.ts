/** Every setting in force as a row: its value without secrets, and whether the file, the start or a default says so. Pure. */
import type { SettingRow } from "../contracts/system-api.ts";
import { defaultConfig } from "./check/check.ts";
import { writtenSettings } from "./check/tree.ts";
import { diffConfig, NEEDS_RESTART } from "./diff.ts";
import { publicConfig } from "./public.ts";
import type { Config } from "./schema.ts";

/** `text`: of the file that is in force; null: there is none. */
export function settingRows(config: Config, text: string | null): readonly SettingRow[] {
  const standard = defaultConfig();
  const changed = diffConfig(standard, config).changed;
  const byDefault = new Map(flat(publicConfig(standard), ""));
  const written = [...writtenSettings(text ?? "{}")];
  return flat(publicConfig(config), "").map(([path, value]) => {
    const line = written.find(([one]) => overlap(one, path))?.[1];
    const isChanged = changed.some((one) => overlap(one, path));
    const source = line !== undefined ? "file" : isChanged ? "start" : "default";
    const other = source !== "default" && byDefault.has(path);
    return {
      path,
      value,
      source,
      needsRestart: NEEDS_RESTART.has(path),
      ...(line === undefined ? {} : { line }),
      ...(other ? { byDefault: byDefault.get(path) } : {}),
    };
  });
}

/** One of them is the other, or a group around it: what is one row here may be several there. */
function overlap(one: string, other: string): boolean {
  return one === other || other.startsWith(`${one}.`) || one.startsWith(`${other}.`);
}

function flat(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isGroup) return [[path, value]];
  const below = Object.entries(value).flatMap(([key, one]) => flat(one, path === "" ? key : `${path}.${key}`));
  return below.length === 0 && path !== "" ? [[path, {}]] : below;
}
