import { expect, test } from "bun:test";
import { checkConfigText } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import { secret } from "../kit/secret.ts";
import { accessSettings } from "../http/index.ts";
import { openPort, refuseSharedToken } from "./port.ts";

const TOKEN = "a-token-of-the-gateway-3f9c1d";

function config(token: string, enabled = true) {
  const hooks = { enabled, token, secret: "s3cret-for-signing-4f81c2a97b" };
  const { config: checked } = checkConfigText(JSON.stringify({ hooks }), () => undefined);
  if (!checked) throw new Error("this is valid");
  return checked;
}

test("a gateway does not start when hooks have its own token, which may be in a file of its own", () => {
  try {
    refuseSharedToken(config(TOKEN), secret(TOKEN));
    throw new Error("it was not refused");
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: "config_invalid", say: expect.stringContaining("Choose another one.") });
  }
  refuseSharedToken(config(`${TOKEN}-2`), secret(TOKEN));
  refuseSharedToken(config(TOKEN, false), secret(TOKEN));
});

test("a reload that would do the same leaves hooks closed", () => {
  const tokenOf = (own: string) => accessSettings(config(own), secret(TOKEN)).auth.hookToken?.reveal() ?? null;
  expect([tokenOf(TOKEN), tokenOf(`${TOKEN}-2`)]).toEqual([null, `${TOKEN}-2`]);
});

test("a port is not opened with a token that hooks have too", () => {
  const shared = () => openPort({} as never, () => config(TOKEN), { token: secret(TOKEN), mediaKey: {} as never });
  expect(shared).toThrow("hooks.token is the token of the gateway");
});
