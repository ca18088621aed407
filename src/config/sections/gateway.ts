/** The port, who may reach it, and how they sign in. */
import { Type } from "typebox";
import { closed, duration, secretText } from "./kinds.ts";

export const GatewaySection = Type.Object(
  {
    port: Type.Integer({
      default: 18789,
      minimum: 0,
      maximum: 65535,
      description: "TCP port for everything. 0 picks a free one.",
    }),
    bind: Type.String({
      default: "loopback",
      pattern: "^(loopback|lan|[0-9.]+|[0-9a-fA-F:]+)$",
      expects: '"loopback", "lan" or an IP address',
      description:
        'Where to listen: "loopback", "lan" (all interfaces) or an IP address. Anything but loopback needs auth.token or auth.password here, and trustedProxies or insecure.',
    }),
    auth: Type.Object(
      {
        mode: Type.Union([Type.Literal("token"), Type.Literal("password")], {
          default: "token",
          description:
            "What browsers sign in with, besides the one-time link: the token, or the password and not the token. The bearer token always works for programs.",
        }),
        token: secretText(
          "The operator's bearer token, at least 22 characters. Without it, one is made at first start and kept in the state directory.",
        ),
        password: secretText("The password for signing in when mode is password, at least 12 characters."),
      },
      closed,
    ),
    allowedHosts: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      default: [],
      maxItems: 32,
      description:
        "Host names (with port, if not the usual one) under which the gateway is reached, besides its own address. Needed behind a proxy.",
    }),
    trustedProxies: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
      default: [],
      maxItems: 32,
      description:
        "Addresses or CIDR ranges of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. Loopback is not trusted unless listed.",
    }),
    insecure: Type.Boolean({
      default: false,
      description:
        "Allow a bind other than loopback without a TLS proxy in front. Passwords and messages then travel readable.",
    }),
    commands: Type.Object(
      {
        restart: Type.Boolean({
          default: false,
          description: "Allow POST /api/restart, and the tool `gateway` when it is offered, to restart the gateway.",
        }),
      },
      { ...closed, description: "What may be asked of the gateway itself." },
    ),
    stopGraceMs: duration(30_000, 0, "How long running turns may go on after a stop was asked for."),
  },
  { ...closed, security: true, description: "The port, who may reach it, and how they sign in." },
);
