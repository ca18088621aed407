/**
 * The OpenAI-compatible door: what programs written for OpenAI's APIs ask for, answered by agents.
 * It reads requests, runs those that name no session, and knows neither the port nor the queue.
 */
export { createAnswers } from "./answers.ts";
export { createOpenAiDoor } from "./door.ts";
export { problemOf } from "./problem.ts";
export { createResponsesDoor } from "./responses/door.ts";
