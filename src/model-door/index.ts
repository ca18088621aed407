/** The model door's entrance: model calls of agent processes, with the key put in by the gateway. */
export { createModelDoor } from "./door.ts";
export type { CallBudget } from "./serve-call.ts";
