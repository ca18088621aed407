/** The window around the views: narrow or wide, the drawer with the list of conversations, and the minute that relative times are counted from. */
import { signal } from "@preact/signals";

const NARROW = "(max-width: 47.99rem)";
const MINUTE_MS = 60_000;

/** On narrow screens the list of conversations is a drawer; on wide ones it is always there. */
export const drawer = signal(false);
/** Relative times grow old without any event; this makes them fresh. */
export const minute = signal(Date.now());

export function isNarrow(): boolean {
  return matchMedia(NARROW).matches;
}

/** Keeps both up to date until it is called. */
export function followScreen(): () => void {
  const media = matchMedia(NARROW);
  // A window that grows wide has no drawer, and other views have none: nothing must stay behind it.
  const close = () => (drawer.value = false);
  media.addEventListener("change", close);
  addEventListener("hashchange", close);
  const timer = setInterval(() => (minute.value = Date.now()), MINUTE_MS);
  return () => {
    media.removeEventListener("change", close);
    removeEventListener("hashchange", close);
    clearInterval(timer);
  };
}
