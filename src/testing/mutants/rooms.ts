/** Every seeded bug by room. A room that grows gets its bugs here; `npm run check` sees to it that each still fits its file. */
import { CONFIG_BUGS } from "./config-bugs.ts";
import { DELIVERY_BUGS } from "./delivery-bugs.ts";
import { GUARDED_FETCH_BUGS } from "./guarded-fetch-bugs.ts";
import { MEDIA_BUGS, REDACTION_BUGS, REPLY_BUGS } from "./media-bugs.ts";
import { SCHEDULE_BUGS } from "./schedule-bugs.ts";
import type { MutantRoom } from "./seeded-bug.ts";
import { TOOLS_BUGS } from "./tools-bugs.ts";
import { WIRING_BUGS } from "./wiring-bugs.ts";

export const MUTANT_ROOMS: readonly MutantRoom[] = [
  { room: "config", bugs: CONFIG_BUGS },
  { room: "delivery", bugs: DELIVERY_BUGS },
  { room: "guarded fetch", bugs: GUARDED_FETCH_BUGS },
  { room: "media", bugs: MEDIA_BUGS },
  { room: "redaction", bugs: REDACTION_BUGS },
  { room: "reply", bugs: REPLY_BUGS },
  { room: "schedule", bugs: SCHEDULE_BUGS },
  { room: "tools", bugs: TOOLS_BUGS },
  { room: "wiring", bugs: WIRING_BUGS },
];
