/** Asks the composer for the focus from anywhere in the web console. */
import { signal } from "@preact/signals";

export const focusAsked = signal(0);

export function focusComposer(): void {
  focusAsked.value++;
}
