import { expect, test } from "bun:test";
import { createUsageScan } from "./usage-scan.ts";

const LONG_CHARS = 600 * 1024;

function scanned(...pieces: readonly string[]) {
  const scan = createUsageScan();
  for (const piece of pieces) scan.push(new TextEncoder().encode(piece));
  return scan;
}

test.each([
  [
    "Anthropic, which counts what came from its cache apart",
    { usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 5 } },
    { input: 10, cacheRead: 4, cacheWrite: 2, output: 5 },
  ],
  [
    "the responses of OpenAI, which count it in",
    { response: { usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 5 } } },
    { input: 6, cacheRead: 4, cacheWrite: 0, output: 5 },
  ],
  [
    "Google, which counts thoughts apart",
    { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 3 } },
    { input: 10, cacheRead: 0, cacheWrite: 0, output: 8 },
  ],
])("tokens are counted as they are meant by %s", (_whom, event, expected) => {
  expect(scanned(`data: ${JSON.stringify(event)}\n`).tokens()).toEqual(expected);
});

test("a line that is too long is passed over, and the next one is read", () => {
  const long = "x".repeat(LONG_CHARS);
  const scan = scanned(`data: {"a":"${long}`, long, '","delta":1}\n');
  expect(scan.hasSpoken()).toBe(false);
  scan.push(new TextEncoder().encode('data: {"delta":1}\n'));
  expect(scan.hasSpoken()).toBe(true);
});
