/** Every seeded bug by room. A room that grows gets its bugs here; `npm run check` sees to it that each still fits its file. */
import { AGENTS_BUGS } from "./agents-bugs.ts";
import { CHANNELS_BUGS } from "./channels-bugs.ts";
import { CONFIG_BUGS } from "./config-bugs.ts";
import { DELIVERY_BUGS } from "./delivery-bugs.ts";
import { EGRESS_BUGS } from "./egress-bugs.ts";
import { EIGHTH_CHANNELS_BUGS } from "./eighth/channels-bugs.ts";
import { EIGHTH_CONFIG_BUGS } from "./eighth/config-bugs.ts";
import { EIGHTH_DELIVERY_BUGS } from "./eighth/delivery-bugs.ts";
import { EIGHTH_GUARDED_FETCH_BUGS } from "./eighth/guarded-fetch-bugs.ts";
import { EIGHTH_TOOLS_BUGS } from "./eighth/tools-bugs.ts";
import { FIFTH_CHANNELS_BUGS } from "./fifth/channels-bugs.ts";
import { FIFTH_CONFIG_BUGS } from "./fifth/config-bugs.ts";
import { FIFTH_DELIVERY_BUGS } from "./fifth/delivery-bugs.ts";
import { FIFTH_GUARDED_FETCH_BUGS } from "./fifth/guarded-fetch-bugs.ts";
import { FIFTH_TOOLS_BUGS } from "./fifth/tools-bugs.ts";
import { FOURTH_CHANNELS_BUGS } from "./fourth/channels-bugs.ts";
import { FOURTH_CONFIG_BUGS } from "./fourth/config-bugs.ts";
import { FOURTH_DELIVERY_BUGS } from "./fourth/delivery-bugs.ts";
import { FOURTH_GUARDED_FETCH_BUGS } from "./fourth/guarded-fetch-bugs.ts";
import { FOURTH_TOOLS_BUGS } from "./fourth/tools-bugs.ts";
import { FRESH_CHANNELS_BUGS } from "./fresh/channels-bugs.ts";
import { FRESH_CONFIG_BUGS } from "./fresh/config-bugs.ts";
import { FRESH_DELIVERY_BUGS } from "./fresh/delivery-bugs.ts";
import { FRESH_GUARDED_FETCH_BUGS } from "./fresh/guarded-fetch-bugs.ts";
import { FRESH_TOOLS_BUGS } from "./fresh/tools-bugs.ts";
import { GUARDED_FETCH_BUGS } from "./guarded-fetch-bugs.ts";
import { KEYS_BUGS } from "./keys-bugs.ts";
import { MCP_CLIENT_BUGS } from "./mcp-client-bugs.ts";
import { MCP_SERVER_BUGS } from "./mcp-server-bugs.ts";
import { MEDIA_BUGS, REDACTION_BUGS, REPLY_BUGS } from "./media-bugs.ts";
import { MODEL_DOOR_BUGS } from "./model-door-bugs.ts";
import { NINTH_CHANNELS_BUGS } from "./ninth/channels-bugs.ts";
import { NINTH_CONFIG_BUGS } from "./ninth/config-bugs.ts";
import { NINTH_DELIVERY_BUGS } from "./ninth/delivery-bugs.ts";
import { NINTH_GUARDED_FETCH_BUGS } from "./ninth/guarded-fetch-bugs.ts";
import { NINTH_TOOLS_BUGS } from "./ninth/tools-bugs.ts";
import { AUTOMATION_BUGS } from "./automation-bugs.ts";
import { SEARCH_AND_SDK_BUGS } from "./search-and-sdk-bugs.ts";
import { SECOND_CHANNELS_BUGS } from "./second/channels-bugs.ts";
import { SECOND_CONFIG_BUGS } from "./second/config-bugs.ts";
import { SECOND_DELIVERY_BUGS } from "./second/delivery-bugs.ts";
import { SECOND_GUARDED_FETCH_BUGS } from "./second/guarded-fetch-bugs.ts";
import { SECOND_TOOLS_BUGS } from "./second/tools-bugs.ts";
import { RESPONSES_BUGS } from "./responses-bugs.ts";
import { SANDBOX_BUGS } from "./sandbox-bugs.ts";
import type { MutantRoom } from "./seeded-bug.ts";
import { SEVENTH_CHANNELS_BUGS } from "./seventh/channels-bugs.ts";
import { SEVENTH_CONFIG_BUGS } from "./seventh/config-bugs.ts";
import { SEVENTH_DELIVERY_BUGS } from "./seventh/delivery-bugs.ts";
import { SEVENTH_GUARDED_FETCH_BUGS } from "./seventh/guarded-fetch-bugs.ts";
import { SEVENTH_TOOLS_BUGS } from "./seventh/tools-bugs.ts";
import { SIXTH_CHANNELS_BUGS } from "./sixth/channels-bugs.ts";
import { SIXTH_CONFIG_BUGS } from "./sixth/config-bugs.ts";
import { SIXTH_DELIVERY_BUGS } from "./sixth/delivery-bugs.ts";
import { SIXTH_GUARDED_FETCH_BUGS } from "./sixth/guarded-fetch-bugs.ts";
import { SIXTH_TOOLS_BUGS } from "./sixth/tools-bugs.ts";
import { THIRD_CHANNELS_BUGS } from "./third/channels-bugs.ts";
import { THIRD_CONFIG_BUGS } from "./third/config-bugs.ts";
import { THIRD_DELIVERY_BUGS } from "./third/delivery-bugs.ts";
import { THIRD_GUARDED_FETCH_BUGS } from "./third/guarded-fetch-bugs.ts";
import { THIRD_TOOLS_BUGS } from "./third/tools-bugs.ts";
import { TOOLS_BUGS } from "./tools-bugs.ts";
import { WIRING_BUGS } from "./wiring-bugs.ts";

export const MUTANT_ROOMS: readonly MutantRoom[] = [
  { room: "agents", bugs: AGENTS_BUGS },
  { room: "channels", bugs: CHANNELS_BUGS },
  { room: "config", bugs: CONFIG_BUGS },
  { room: "delivery", bugs: DELIVERY_BUGS },
  { room: "egress", bugs: EGRESS_BUGS },
  { room: "guarded fetch", bugs: GUARDED_FETCH_BUGS },
  { room: "keys", bugs: KEYS_BUGS },
  { room: "search and sdk", bugs: SEARCH_AND_SDK_BUGS },
  { room: "mcp client", bugs: MCP_CLIENT_BUGS },
  { room: "mcp server", bugs: MCP_SERVER_BUGS },
  { room: "model door", bugs: MODEL_DOOR_BUGS },
  { room: "media", bugs: MEDIA_BUGS },
  { room: "redaction", bugs: REDACTION_BUGS },
  { room: "reply", bugs: REPLY_BUGS },
  { room: "automation", bugs: AUTOMATION_BUGS },
  { room: "responses", bugs: RESPONSES_BUGS },
  { room: "sandbox", bugs: SANDBOX_BUGS },
  { room: "tools", bugs: TOOLS_BUGS },
  { room: "wiring", bugs: WIRING_BUGS },
  { room: "fresh channels", bugs: FRESH_CHANNELS_BUGS },
  { room: "fresh config", bugs: FRESH_CONFIG_BUGS },
  { room: "fresh delivery", bugs: FRESH_DELIVERY_BUGS },
  { room: "fresh guarded fetch", bugs: FRESH_GUARDED_FETCH_BUGS },
  { room: "fresh tools", bugs: FRESH_TOOLS_BUGS },
  { room: "second fresh channels", bugs: SECOND_CHANNELS_BUGS },
  { room: "second fresh config", bugs: SECOND_CONFIG_BUGS },
  { room: "second fresh delivery", bugs: SECOND_DELIVERY_BUGS },
  { room: "second fresh guarded fetch", bugs: SECOND_GUARDED_FETCH_BUGS },
  { room: "second fresh tools", bugs: SECOND_TOOLS_BUGS },
  { room: "third fresh channels", bugs: THIRD_CHANNELS_BUGS },
  { room: "third fresh config", bugs: THIRD_CONFIG_BUGS },
  { room: "third fresh delivery", bugs: THIRD_DELIVERY_BUGS },
  { room: "third fresh guarded fetch", bugs: THIRD_GUARDED_FETCH_BUGS },
  { room: "third fresh tools", bugs: THIRD_TOOLS_BUGS },
  { room: "fourth fresh channels", bugs: FOURTH_CHANNELS_BUGS },
  { room: "fourth fresh config", bugs: FOURTH_CONFIG_BUGS },
  { room: "fourth fresh delivery", bugs: FOURTH_DELIVERY_BUGS },
  { room: "fourth fresh guarded fetch", bugs: FOURTH_GUARDED_FETCH_BUGS },
  { room: "fourth fresh tools", bugs: FOURTH_TOOLS_BUGS },
  { room: "fifth fresh channels", bugs: FIFTH_CHANNELS_BUGS },
  { room: "fifth fresh config", bugs: FIFTH_CONFIG_BUGS },
  { room: "fifth fresh delivery", bugs: FIFTH_DELIVERY_BUGS },
  { room: "fifth fresh guarded fetch", bugs: FIFTH_GUARDED_FETCH_BUGS },
  { room: "fifth fresh tools", bugs: FIFTH_TOOLS_BUGS },
  { room: "sixth fresh channels", bugs: SIXTH_CHANNELS_BUGS },
  { room: "sixth fresh config", bugs: SIXTH_CONFIG_BUGS },
  { room: "sixth fresh delivery", bugs: SIXTH_DELIVERY_BUGS },
  { room: "sixth fresh guarded fetch", bugs: SIXTH_GUARDED_FETCH_BUGS },
  { room: "sixth fresh tools", bugs: SIXTH_TOOLS_BUGS },
  { room: "seventh fresh channels", bugs: SEVENTH_CHANNELS_BUGS },
  { room: "seventh fresh config", bugs: SEVENTH_CONFIG_BUGS },
  { room: "seventh fresh delivery", bugs: SEVENTH_DELIVERY_BUGS },
  { room: "seventh fresh guarded fetch", bugs: SEVENTH_GUARDED_FETCH_BUGS },
  { room: "seventh fresh tools", bugs: SEVENTH_TOOLS_BUGS },
  { room: "eighth fresh channels", bugs: EIGHTH_CHANNELS_BUGS },
  { room: "eighth fresh config", bugs: EIGHTH_CONFIG_BUGS },
  { room: "eighth fresh delivery", bugs: EIGHTH_DELIVERY_BUGS },
  { room: "eighth fresh guarded fetch", bugs: EIGHTH_GUARDED_FETCH_BUGS },
  { room: "eighth fresh tools", bugs: EIGHTH_TOOLS_BUGS },
  { room: "ninth fresh channels", bugs: NINTH_CHANNELS_BUGS },
  { room: "ninth fresh config", bugs: NINTH_CONFIG_BUGS },
  { room: "ninth fresh delivery", bugs: NINTH_DELIVERY_BUGS },
  { room: "ninth fresh guarded fetch", bugs: NINTH_GUARDED_FETCH_BUGS },
  { room: "ninth fresh tools", bugs: NINTH_TOOLS_BUGS },
];
