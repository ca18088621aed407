/** Asks the composer for the focus from anywhere in the page. */
import { signal } from "@preact/signals";

export const focusAsked = signal(0);

export function focusComposer(): void {
  focusAsked.value++;
}
