/** The questions of running turns that the web console has heard of. */
import { computed, signal } from "@preact/signals";
import type { OpenQuestion, QuestionNews } from "../../src/contracts/channels/question.ts";
import { type Asked, hear, withOpen } from "./turn-questions.ts";

export const asked = signal<Asked>([]);
export const askedIn = computed(() => new Set(asked.value.flatMap(({ end, sessionKey }) => (end ? [] : [sessionKey]))));

/** What a screen reader is told about it; null: nothing is new. */
export function hearAsked(news: QuestionNews): string | null {
  const before = asked.value;
  asked.value = hear(before, news);
  if (asked.value === before) return null;
  const { title } = news.question;
  return news.end === null ? `The assistant asks: ${title}` : `${title} ${news.end.because}`;
}

export async function readAskedWith(ask: () => Promise<{ readonly items: readonly OpenQuestion[] }>): Promise<void> {
  const before = asked.value;
  const { items } = await ask();
  asked.value = withOpen(asked.value, before, items);
}
