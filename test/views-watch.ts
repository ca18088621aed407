/** Watches a page of the web console from the inside: how long it goes on changing after somebody has done something. Judges nothing. */
import type { Page } from "playwright-core";
import { ADDRESSES } from "../console/state/route.ts";

/** Views that have an address of their own. */
export type ViewName = keyof typeof ADDRESSES | "chat";

export const VIEW_NAMES: readonly ViewName[] = ["chat", ...(Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[])];

/** What must be there, so that an empty view does not count as a quick one. */
export const HOLDS: Readonly<Partial<Record<ViewName, string>>> = {
  chat: "[data-testid=session]",
  activity: "[data-testid=activity]",
  calls: "[data-testid=call]",
  jobs: "[data-testid=job]",
  calendar: "[data-testid=calendar]",
  tools: "[data-testid=tool]",
  usage: "[data-testid=totals]",
  settings: "[data-testid=setting]",
};

/** For an init script: notes when something was begun and when it last changed anything, and how long the browser took from a key or click to the next paint. */
export const WATCH = `
  window.watch = { began: 0, changed: 0, painted: [] };
  for (const kind of ["keydown", "click", "input", "change", "hashchange"])
    window.addEventListener(kind, () => { if (window.watch.began === 0) window.watch.began = performance.now(); }, true);
  new MutationObserver(() => { window.watch.changed = performance.now(); })
    .observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  new PerformanceObserver((list) => { for (const { duration, interactionId } of list.getEntries()) if (interactionId) window.watch.painted.push(duration); })
    .observe({ type: "event", durationThreshold: 16 });
`;

const MAX_WAIT_MS = 20_000;

/** Milliseconds from the first event that `act` causes to the last thing that changed, when nothing has changed for `quietMs`. */
export async function timeOf(page: Page, act: () => Promise<unknown>, quietMs: number): Promise<number> {
  await page.evaluate("window.watch.began = 0");
  await act();
  return page.evaluate<number>(`new Promise((resolve, reject) => {
    const until = performance.now() + ${MAX_WAIT_MS};
    const look = () => {
      const { began, changed } = window.watch;
      if (performance.now() > until) reject(new Error(began === 0 ? "nothing was begun" : "the page does not stop changing"));
      else if (began > 0 && performance.now() - Math.max(began, changed) > ${quietMs}) resolve(Math.max(0, changed - began));
      else setTimeout(look, 25);
    };
    look();
  })`);
}

/** Goes to a view as its link does. */
export function openView(page: Page, name: ViewName, quietMs: number): Promise<number> {
  const address = name === "chat" ? "#/" : ADDRESSES[name];
  return timeOf(page, () => page.evaluate(`location.hash = ${JSON.stringify(address)}`), quietMs);
}
