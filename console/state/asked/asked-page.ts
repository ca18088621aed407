/** The questions of running turns that the page has heard of, which are shown where, and answering one. */
import { computed, signal } from "@preact/signals";
import type { OpenQuestion, QuestionNews } from "../../../src/contracts/channels/question.ts";
import { announced } from "../questions.ts";
import { type Asked, hear, legible, withOpen } from "./asked.ts";

export const asked = signal<Asked>([]);
export const askedIn = computed(() => new Set(asked.value.flatMap(({ end, sessionKey }) => (end ? [] : [sessionKey]))));

export function hearAsked(news: QuestionNews): void {
  const before = asked.value;
  asked.value = hear(before, news);
  if (asked.value === before) return;
  const title = legible(news.question.title);
  announced.value = news.end === null ? `The assistant asks: ${title}` : `${title} ${news.end.because}`;
}

export async function readAskedWith(ask: () => Promise<{ readonly items: readonly OpenQuestion[] }>): Promise<void> {
  const before = asked.value;
  try {
    const { items } = await ask();
    asked.value = withOpen(asked.value, before, items);
  } catch {
    // the line is down; what is open is read again when it is back
  }
}
