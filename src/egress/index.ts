/** The egress door: `createEgress` serves the connections that programs of agents make to hosts outside. */
export { createHostQuestions } from "./host-questions.ts";
export { createEgress } from "./proxy.ts";
