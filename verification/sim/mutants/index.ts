/** Bugs on purpose, one line each: a simulation that does not notice them proves nothing. `npm run sim -- --mutants` tries them all. */
import { DELIVERY_MUTANTS } from "./delivery-mutants.ts";
import { FLOW_MUTANTS } from "./flow-mutants.ts";
import type { Mutant } from "./mutant.ts";

export type { Mutant } from "./mutant.ts";
export { POOL_MUTANTS } from "./pool-mutants.ts";
export const MUTANTS: readonly Mutant[] = [...FLOW_MUTANTS, ...DELIVERY_MUTANTS];
