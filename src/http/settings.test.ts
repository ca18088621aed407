/** The token of webhooks and the token of the gateway are never the same. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../config/index.ts";
import { secret } from "../kit/secret.ts";
import { accessSettings, httpOptions } from "./settings.ts";

const TOKEN = "a-token-of-the-gateway-3f9c1d";

function config(token: string, enabled = true) {
  const hooks = { enabled, token, secret: "s3cret-for-signing-4f81c2a97b" };
  const { config: checked } = checkConfigText(JSON.stringify({ hooks }), () => undefined);
  if (!checked) throw new Error("this is valid");
  return checked;
}

test("a gateway does not start when webhooks have its own token, which may be in a file of its own", () => {
  const open = (own: string, enabled?: boolean) => () =>
    httpOptions(() => config(own, enabled), { token: secret(TOKEN), mediaKey: new Uint8Array(32) });
  expect(open(TOKEN)).toThrow(
    expect.objectContaining({ code: "config_invalid", say: expect.stringContaining("Choose another one.") }),
  );
  expect(open(`${TOKEN}-2`)()).toMatchObject({ hostname: "127.0.0.1" });
  expect(open(TOKEN, false)()).toMatchObject({ hostname: "127.0.0.1" });
});

test("a reload that would give webhooks the gateway's own token leaves them closed", () => {
  const tokenOf = (own: string) => accessSettings(config(own), secret(TOKEN)).auth.hookToken?.reveal() ?? null;
  expect([tokenOf(TOKEN), tokenOf(`${TOKEN}-2`)]).toEqual([null, `${TOKEN}-2`]);
});
