/** Notifications in browsers. */
import { Type } from "typebox";
import { closed, flag, list, text, webAddress } from "./kinds.ts";

const MAX_SERVICES = 20;

export const NotificationsSection = Type.Object(
  {
    enabled: flag(
      { default: true },
      "Whether browsers that asked for it are told of approvals and other things that wait. See docs/notifications.md.",
    ),
    contact: text(
      {
        default: "mailto:pi-gateway@example.com",
        maxLength: 200,
        pattern: "^(mailto:\\S+@\\S+|https://\\S+)$",
        expects: "an address such as mailto:you@example.com or https://example.com",
      },
      "Where push services reach you when this gateway sends too much. They get it with each notification.",
    ),
    pushServices: {
      ...list(
        webAddress({}, "An origin."),
        MAX_SERVICES,
        "Origins of push services on a private network, such as http://10.0.0.5:8080, that may be called. All others have to be on the open internet and to use https.",
      ),
      security: true,
    },
  },
  { ...closed, description: "Notifications in browsers." },
);
