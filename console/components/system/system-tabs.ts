/** The views of the area System. */
import type { Tab } from "../parts/view-frame.tsx";

export const SYSTEM_TABS: readonly Tab[] = [
  { view: "health", name: "Health" },
  { view: "keys", name: "Keys" },
];
