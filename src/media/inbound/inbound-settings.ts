/** What files of people may cost, and whether voice is written down by a service: from the configuration. Pure. */
import type { Config } from "../../config/index.ts";
import type { InboundSettings } from "./inbound-files.ts";

const MIB = 1024 * 1024;
/** The service that the configuration names by itself. Nothing is sent to it without a key. */
const DEFAULT_SERVICE = "https://api.groq.com/openai/v1";

export function inboundSettings({ media }: Pick<Config, "media">): InboundSettings {
  const { baseUrl, model, apiKey, enabled } = media.transcription;
  const on = enabled ?? (apiKey !== undefined || baseUrl !== DEFAULT_SERVICE);
  return {
    maxBytes: media.maxMb * MIB,
    dailyBytes: media.dailyMb * MIB,
    transcription: on ? { baseUrl, model, apiKey } : null,
  };
}
