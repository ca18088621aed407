/** The skills that plugins give to every agent. Knows whether they have changed since they were last given to processes; gives them to nobody itself. */
import type { RegisteredSkill, SkillRegistry } from "../../contracts/plugin.ts";

export function createSkillRegistry(): SkillRegistry {
  const registered = new Set<RegisteredSkill>();
  const listeners = new Set<() => void>();
  let taken = "";

  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    add(skill) {
      const own = { ...skill };
      registered.add(own);
      tell();
      return {
        [Symbol.dispose]() {
          if (registered.delete(own)) tell();
        },
      };
    },
    take() {
      taken = stateOf(registered);
      return pathsOf(registered);
    },
    list: () => pathsOf(registered),
    hasChanged: () => stateOf(registered) !== taken,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

function pathsOf(registered: ReadonlySet<RegisteredSkill>): readonly string[] {
  return [...new Set([...registered].map(({ path }) => path))].sort();
}

/** In no particular order: plugins come up as they can. Empty for no skills at all. */
function stateOf(registered: ReadonlySet<RegisteredSkill>): string {
  return [...registered]
    .map((skill) => JSON.stringify([skill.path, skill.digest]))
    .sort()
    .join("\n");
}
