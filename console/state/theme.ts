/** Light, dark, or as the system says; the choice is kept in this browser. */
import { signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";

type Theme = "auto" | "light" | "dark";
const KEY = "pi-gateway.theme";
const ORDER: readonly Theme[] = ["auto", "light", "dark"];

export const theme = signal<Theme>("auto");

export function loadTheme(): void {
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
}
