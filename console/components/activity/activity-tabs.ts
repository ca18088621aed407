/** The views of the area Activity. */
import type { Tab } from "../parts/view-frame.tsx";

export const ACTIVITY_TABS: readonly Tab[] = [
  { view: "activity", name: "Timeline" },
  { view: "calls", name: "Tool calls" },
  { view: "tools", name: "Tools" },
];
