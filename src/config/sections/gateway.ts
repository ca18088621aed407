/** The port, who may reach it, and how they sign in. */
import { Type } from "typebox";
import { choice, closed, duration, flag, list, secretText, text, wholeNumber } from "./kinds.ts";

export const GatewaySection = Type.Object(
  {
    port: wholeNumber({ default: 18789, minimum: 0, maximum: 65535 }, "TCP port for everything. 0 picks a free one."),
    bind: text(
      {
        default: "loopback",
        pattern: "^(loopback|lan|[0-9.]+|[0-9a-fA-F:]+)$",
        expects: '"loopback", "lan" or an IP address',
      },
      'Where to listen: "loopback", "lan" (all interfaces) or an IP address. Anything but loopback needs auth.token or auth.password here, and trustedProxies or insecure.',
    ),
    auth: Type.Object(
      {
        mode: choice(
          { of: ["token", "password"], default: "token" },
          "What browsers sign in with, besides the one-time link: the token, or the password and not the token. The bearer token always works for programs.",
        ),
        token: secretText(
          "The operator's bearer token, at least 22 characters. Without it, one is made at first start and kept in the state directory.",
        ),
        password: secretText("The password for signing in when mode is password, at least 12 characters."),
      },
      closed,
    ),
    allowedHosts: list(
      Type.String({ minLength: 1, maxLength: 255 }),
      32,
      "Host names (with port, if not the usual one) under which the gateway is reached, besides its own address. Needed behind a proxy.",
    ),
    trustedProxies: list(
      Type.String({ minLength: 2, maxLength: 64 }),
      32,
      "Addresses or CIDR ranges of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. Loopback is not trusted unless listed.",
    ),
    insecure: flag(
      { default: false },
      "Allow a bind other than loopback without a TLS proxy in front. Passwords and messages then travel readable.",
    ),
    commands: Type.Object(
      {
        restart: flag(
          { default: false },
          "Allow POST /api/restart, and the tool `gateway` when it is offered, to restart the gateway.",
        ),
      },
      { ...closed, description: "What may be asked of the gateway itself." },
    ),
    stopGraceMs: duration(
      { default: 30_000, minimum: 0 },
      "How long running turns may go on after a stop was asked for.",
    ),
  },
  { ...closed, security: true, description: "The port, who may reach it, and how they sign in." },
);
