/** Whether voice is sent to a service. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../../config/index.ts";
import { inboundSettings } from "./inbound-settings.ts";

function configOf(settings: object) {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config;
}

test.each([
  [{}, false],
  [{ apiKey: "a-key-for-voice-5521" }, true],
  [{ baseUrl: "http://127.0.0.1:9000/v1" }, true],
  [{ apiKey: "a-key-for-voice-5521", enabled: false }, false],
  [{ enabled: true }, true],
])("voice is sent to a service with the settings %j: %p", (transcription, on) => {
  expect(inboundSettings(configOf({ media: { transcription } })).transcription !== null).toBe(on);
});

test("sizes of the configuration are mebibytes", () => {
  const { maxBytes, dailyBytes } = inboundSettings(configOf({ media: { maxMb: 2, dailyMb: 3 } }));
  expect([maxBytes, dailyBytes]).toEqual([2 * 1024 ** 2, 3 * 1024 ** 2]);
});
