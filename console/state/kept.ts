/** What this tab, or this browser, keeps across a reload. Without room or permission the convenience is lost, never the web console. */

/** There: this browser gets notifications, and says so again after a sign-in. */
export const NOTIFIED_KEY = "pi-gateway.notified";

export function keep(key: string, value: string, where: "tab" | "browser" = "tab"): void {
  try {
    if (value) storage(where).setItem(key, value);
    else storage(where).removeItem(key);
  } catch {
    // full or switched off: the words are still in the web console
  }
}

export function kept(key: string, where: "tab" | "browser" = "tab"): string | null {
  try {
    return storage(where).getItem(key);
  } catch {
    return null; // switched off
  }
}

/** Asking for it is what throws in a browser that does not allow it. */
function storage(where: "tab" | "browser"): Storage {
  return where === "tab" ? sessionStorage : localStorage;
}
