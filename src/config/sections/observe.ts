/** What the gateway tells other systems about its work. */
import { Type } from "typebox";
import { closed, namedSecrets, text, webAddress } from "./kinds.ts";

const HEADER_NAME = "^[A-Za-z0-9-]{1,64}$";

export const ObserveSection = Type.Object(
  {
    otel: Type.Object(
      {
        endpoint: Type.Optional(
          webAddress(
            {},
            "The collector that gets turns, model calls and tool calls as OpenTelemetry spans, such as http://127.0.0.1:4318. Without it, OTEL_EXPORTER_OTLP_ENDPOINT counts; without both, nothing is sent. See docs/metrics.md.",
          ),
        ),
        headers: namedSecrets(HEADER_NAME, "Headers that are sent to it, such as Authorization."),
        serviceName: text(
          { default: "pi-gateway", maxLength: 128, pattern: "^\\S+$", expects: "a name without blanks" },
          "What this gateway is called there.",
        ),
      },
      { ...closed, description: "OpenTelemetry." },
    ),
  },
  { ...closed, description: "What the gateway tells other systems about its work." },
);
