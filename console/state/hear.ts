/** Hands on what the gateway says besides conversations: questions to people, and news about jobs. */
import type { WireEvent } from "../../src/contracts/wire.ts";
import { jobNews } from "./job-news.ts";
import { hearQuestion } from "./questions.ts";

export { readOpenQuestions } from "./questions.ts";

export function hear(event: WireEvent): void {
  hearQuestion(event);
  if (event.event === "cron.run") jobNews.value = { run: event.data.run };
  if (event.event === "status" && event.data.what === "jobs") jobNews.value = { run: null };
}
