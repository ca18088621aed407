/** Every setting as a row: its value without secrets, what it takes, and whether the file, the start or a default says so. Pure. */
import type { SettingRow } from "../contracts/system-api.ts";
import { checkConfigText, defaultConfig, type Variables } from "./check/check.ts";
import { writtenSettings } from "./check/tree.ts";
import { diffConfig, needsRestart } from "./diff.ts";
import { publicConfig } from "./public.ts";
import type { Config } from "./schema.ts";
import { describeSetting, schemaPaths } from "./setting-form.ts";

/** `text`: of the file that is in force; null: there is none. */
export function settingRows(config: Config, text: string | null, variables: Variables): readonly SettingRow[] {
  const standard = defaultConfig();
  const ofFile = checkConfigText(text ?? "{}", variables).config ?? standard;
  const byStart = diffConfig(ofFile, config).changed;
  const byDefault = new Map(flat(publicConfig(standard), ""));
  const written = [...writtenSettings(text ?? "{}")];
  return withUnset(flat(publicConfig(config), "")).map(([path, value]) => {
    const line = written.find(([one]) => overlap(one, path))?.[1];
    const isByStart = byStart.some((one) => overlap(one, path)); // flags and the environment win over the file
    const source = isByStart ? "start" : line !== undefined ? "file" : "default";
    const other = source !== "default" && byDefault.has(path);
    return {
      path,
      value,
      ...(describeSetting(path, value) ?? UNKNOWN),
      source,
      needsRestart: needsRestart(path),
      ...(line === undefined ? {} : { line }),
      ...(other ? { byDefault: byDefault.get(path) } : {}),
    };
  });
}

/** One of them is the other, or a group around it: what is one row here may be several there. */
function overlap(one: string, other: string): boolean {
  return one === other || other.startsWith(`${one}.`) || one.startsWith(`${other}.`);
}

/** Of something that the schema does not describe, such as a part of a value of several kinds. */
const UNKNOWN = { form: { kind: "json", inFileOnly: true }, about: "" } as const;

type Valued = readonly (readonly [string, unknown])[];

/** Settings that have no default and are not set have no value to show: they are rows as well, or nobody would find them. */
function withUnset(shown: Valued): Valued {
  const isShown = (path: string) => shown.some(([one]) => overlap(one, path));
  const unset = schemaPaths().filter((path) => !isShown(path));
  return [...shown, ...unset.map((path) => [path, null] as const)];
}

function flat(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isGroup) return [[path, value]];
  const below = Object.entries(value).flatMap(([key, one]) => flat(one, path === "" ? key : `${path}.${key}`));
  return below.length === 0 && path !== "" ? [[path, {}]] : below;
}
