/** The views of the area Automations. */
import type { Tab } from "../parts/view-frame.tsx";

export const AUTOMATION_TABS: readonly Tab[] = [
  { view: "jobs", name: "Jobs" },
  { view: "calendar", name: "Calendar" },
  { view: "heartbeat", name: "Heartbeat" },
  { view: "webhooks", name: "Webhooks" },
];
