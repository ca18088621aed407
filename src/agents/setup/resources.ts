/** Skills, extensions and prompt templates of an agent: paths made absolute, checked to be there, and said to pi as flags. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import type { Config } from "../../config/index.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { expandPath } from "./paths.ts";

export interface Resources {
  readonly skills: readonly string[];
  readonly extensions: readonly string[];
  readonly promptTemplates: readonly string[];
  /** Of plugins: one that has just gone is left out, and keeps nobody from starting. */
  readonly pluginSkills: readonly string[];
  /** The names by which people call the templates. */
  readonly templateNames: ReadonlySet<string>;
}

export function findResources(
  config: Pick<Config["agent"], "skills" | "extensions" | "promptTemplates">,
  userHome: string,
  pluginSkills: readonly string[] = [],
): Resources {
  const all = (paths: readonly string[]) => paths.map((path) => expandPath(path, userHome));
  const promptTemplates = all(config.promptTemplates);
  return {
    skills: all(config.skills),
    extensions: all(config.extensions),
    promptTemplates,
    pluginSkills,
    templateNames: templateNames(config.promptTemplates, userHome),
  };
}

/** pi warns about a missing path on its error output, where nobody would see it; a missing extension ends it. Both are said here instead. */
export function checkResources({ skills, extensions, promptTemplates }: Resources): void {
  for (const [key, paths] of Object.entries({ skills, extensions, promptTemplates })) {
    const missing = paths.find((path) => !existsSync(path));
    if (missing === undefined) continue;
    const say = `${missing}, which is listed in agent.${key}, does not exist.`;
    throw new GatewayError("agent_unavailable", say, { say });
  }
}

export function resourceFlags(resources: Resources): readonly string[] {
  const { skills, extensions, promptTemplates } = resources;
  const pluginSkills = resources.pluginSkills.filter((path) => existsSync(path));
  return [
    ...extensions.flatMap((path) => ["-e", path]),
    ...[...skills, ...pluginSkills].flatMap((path) => ["--skill", path]),
    ...promptTemplates.flatMap((path) => ["--prompt-template", path]),
  ];
}

/** What an agent may read outside of its folder: a model is told where a skill is, and what lies beside it belongs to it. */
export function skillFolders({ skills, pluginSkills }: Resources): readonly string[] {
  return [...skills, ...pluginSkills].map((path) => (basename(path) === "SKILL.md" ? dirname(path) : path));
}

/** The names by which people call these templates now; a path that is not there has none. */
export function templateNames(paths: readonly string[], userHome: string): ReadonlySet<string> {
  return new Set(paths.flatMap((path) => templateNamesIn(expandPath(path, userHome))));
}

/** As pi names them: the file's name without its ending. */
function templateNamesIn(path: string): readonly string[] {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info) return [];
  const files = info.isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path];
  return files.filter((file) => extname(file) === ".md").map((file) => basename(file, ".md"));
}
