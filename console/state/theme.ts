/** Light, dark, or as the system says; the choice is kept in this browser. */
import { signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";

type Theme = "auto" | "light" | "dark";
const DARK = "(prefers-color-scheme: dark)";
const KEY = "pi-gateway.theme";
const ORDER: readonly Theme[] = ["auto", "light", "dark"];

export const theme = signal<Theme>("auto");
/** What the web console looks like now. */
export const isDark = signal(false);

export function loadTheme(): void {
  matchMedia(DARK).addEventListener("change", readLook);
  const chosen = kept(KEY, "browser");
  show(ORDER.find((one) => one === chosen) ?? "auto");
}

export function nextTheme(): void {
  const next = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? "auto";
  keep(KEY, next, "browser");
  show(next);
}

function show(value: Theme): void {
  theme.value = value;
  document.documentElement.dataset.theme = value;
  readLook();
}

function readLook(): void {
  isDark.value = theme.value === "auto" ? matchMedia(DARK).matches : theme.value === "dark";
}
