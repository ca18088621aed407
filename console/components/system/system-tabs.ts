/** The views of the area System. */
import type { Tab } from "../parts/view-frame.tsx";

export const SYSTEM_TABS: readonly Tab[] = [
  { view: "health", name: "Health" },
  { view: "setup", name: "Setup" },
  { view: "settings", name: "Settings" },
  { view: "models", name: "Models" },
  { view: "extensions", name: "Extensions" },
  { view: "logs", name: "Logs" },
  { view: "gateways", name: "Gateways" },
  { view: "browsers", name: "Browsers" },
  { view: "keys", name: "Keys" },
];
