/** The egress door: `createEgress` serves the connections that programs of agents make to hosts outside. */
export { createEgress } from "./proxy.ts";
