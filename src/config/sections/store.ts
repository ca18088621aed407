/** Where everything that the gateway remembers is kept. */
import { Type } from "typebox";
import { choice, closed, requiredSecret, secretText, text, webAddress } from "./kinds.ts";

const FilesSection = Type.Object(
  {
    kind: choice({ of: ["s3"] }, "The kind of service: one that speaks the protocol of Amazon S3."),
    endpoint: webAddress({}, "Its address, such as https://s3.eu-central-1.amazonaws.com."),
    bucket: text({ minLength: 1, maxLength: 255 }, "The bucket, which has to be there."),
    region: text({ default: "auto", minLength: 1, maxLength: 64 }, "Its region, where the service has several."),
    prefix: text(
      { default: "pi-gateway/", maxLength: 255 },
      "What every name in the bucket begins with: one for each database that shares the bucket.",
    ),
    accessKeyId: requiredSecret("Usually ${S3_ACCESS_KEY_ID}."),
    secretAccessKey: requiredSecret("Usually ${S3_SECRET_ACCESS_KEY}."),
  },
  {
    ...closed,
    description:
      "An S3-compatible bucket for session files and media, instead of the Postgres database itself. Only with store.url. See docs/postgres.md.",
  },
);

export const StoreSection = Type.Object(
  {
    url: secretText(
      "A Postgres database instead of the SQLite file in the state directory: postgres://user:password@host:5432/name. Usually ${DATABASE_URL}, because it holds a password. See docs/postgres.md.",
    ),
    secret: secretText(
      "For several gateways on one Postgres database: the same long random text at each, usually ${PI_GATEWAY_SECRET}. A state directory without keys of its own makes them of it: those of the audit log and of links to files, and the token. See docs/scaling.md.",
    ),
    files: Type.Optional(FilesSection),
  },
  { ...closed, security: true, description: "Where everything that the gateway remembers is kept." },
);
