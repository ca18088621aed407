/** Hands on what the gateway says besides conversations: questions to the owner, and news about jobs. */
import type { WireEvent } from "../../src/contracts/wire.ts";
import { jobNews } from "./jobs/news.ts";
import { hearOf } from "./questions.ts";

export { readOpenWith } from "./questions.ts";

export function hear(event: WireEvent): void {
  if (event.event === "approval") hearOf(event.data);
  if (event.event === "cron.run") jobNews.value = { run: event.data.run };
  if (event.event === "status" && event.data.what === "jobs") jobNews.value = { run: null };
}
