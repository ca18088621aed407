/** Bugs on purpose in the pool and what it decides by, one line each, for the worlds with the shipped pool. */
import type { Mutant } from "./mutant.ts";

export const POOL_MUTANTS: readonly Mutant[] = [
  {
    name: "a process of one person serves another",
    file: "agents/choose.ts",
    find: "const [anyone] = situation.shared ?",
    replace: "const [anyone] = true ?",
    pool: true,
  },
  {
    name: "a process that has served somebody counts as fresh",
    file: "agents/worker-state.ts",
    find: "served: state.served, sessionFile: state.sessionFile };",
    replace: "served: null, sessionFile: null };",
    pool: true,
  },
  {
    name: "there is always room for one more process",
    file: "agents/choose.ts",
    find: "if (alive < situation.max) return",
    replace: "if (alive < situation.max + 1) return",
    pool: true,
  },
  {
    name: "a process that left doubt is used again",
    file: "agents/recycle.ts",
    find: "if (!facts.trusted) return",
    replace: "if (false) return",
    pool: true,
  },
  {
    name: "a process is never replaced for the conversations it has served",
    file: "agents/recycle.ts",
    find: "facts.switches >= limits.maxSwitches",
    replace: "facts.switches >= limits.maxSwitches + 100",
    pool: true,
  },
  {
    name: "who waited for a process that died is forgotten",
    file: "agents/waiting-list.ts",
    find: "line = [waiter, ...line];",
    replace: "",
    pool: true,
  },
  {
    name: "a process goes on with a conversation that another has changed since",
    file: "agents/pool.ts",
    find: "if (other !== one && other.session?.path === opened.session.path) other.session = null;",
    replace: "",
    pool: true,
  },
  {
    name: "nobody in line is told that a process is free",
    file: "agents/pool.ts",
    find: "  rest(pool, one);\n  refill(pool);\n}\n\nfunction fateOf",
    replace: "  rest(pool, one);\n}\n\nfunction fateOf",
    pool: true,
  },
  {
    name: "however many processes start at once",
    file: "agents/pool.ts",
    find: "starts.length < pool.startsAtOnce && ",
    replace: "",
    pool: true,
  },
  {
    name: "a process that nobody needs is kept for ever",
    file: "agents/pool.ts",
    find: "      void retire(pool, one);",
    replace: "",
    pool: true,
  },
  {
    name: "a stop leaves its processes behind",
    file: "agents/pool.ts",
    find: "for (const one of pool.workers.values()) void retire(pool, one);",
    replace: "",
    pool: true,
  },
];
