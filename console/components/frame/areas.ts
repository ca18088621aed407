/** The areas of the rail in their order, with the views of each. An area whose view does not exist is not in the table. */
import { ADDRESSES, type View } from "../../state/route.ts";
import type { IconName } from "../icons.tsx";

export interface Area {
  readonly name: string;
  readonly icon: IconName;
  /** The first one is where the area leads; null: the open conversation. */
  readonly address: string | null;
  readonly views: readonly View[];
  /** On a phone the bar has room for few; the others are behind More. */
  readonly onPhone: boolean;
}

export const AREAS: readonly Area[] = [
  { name: "Chat", icon: "chat", address: null, views: ["chat"], onPhone: true },
  { name: "Inbox", icon: "inbox", address: ADDRESSES.inbox, views: ["inbox"], onPhone: true },
  {
    name: "Activity",
    icon: "activity",
    address: ADDRESSES.activity,
    views: ["activity", "turn", "calls", "tools"],
    onPhone: true,
  },
  {
    name: "Automations",
    icon: "clock",
    address: ADDRESSES.jobs,
    views: ["jobs", "calendar", "heartbeat", "webhooks"],
    onPhone: false,
  },
  { name: "Channels", icon: "people", address: ADDRESSES.channels, views: ["channels"], onPhone: false },
  { name: "Agents", icon: "agent", address: ADDRESSES.agents, views: ["agents"], onPhone: false },
  { name: "Usage", icon: "chart", address: ADDRESSES.usage, views: ["usage"], onPhone: false },
  {
    name: "System",
    icon: "tools",
    address: ADDRESSES.health,
    views: ["health", "setup", "settings", "models", "extensions", "logs", "gateways", "browsers", "keys"],
    onPhone: false,
  },
];
