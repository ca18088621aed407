/** Every seeded bug of the simulation: a simulation that does not notice them proves nothing. `npm run sim -- --mutants` tries them all. */
import type { SimulatedBug } from "../seeded-bug.ts";
import { DELIVERY_BUGS } from "./delivery-bugs.ts";
import { FLOW_BUGS } from "./flow-bugs.ts";
import { POOL_BUGS } from "./pool-bugs.ts";
import { STORE_BUGS } from "./store-bugs.ts";

export const SIMULATED_BUGS: readonly SimulatedBug[] = [...FLOW_BUGS, ...STORE_BUGS, ...DELIVERY_BUGS, ...POOL_BUGS];
