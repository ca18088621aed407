/** Where everything that the gateway remembers is kept. */
import { Type } from "typebox";
import { closed, secretText } from "./kinds.ts";

export const StoreSection = Type.Object(
  {
    url: secretText(
      "A Postgres database instead of the SQLite file in the state directory: postgres://user:password@host:5432/name. Usually ${DATABASE_URL}, because it holds a password. See docs/postgres.md.",
    ),
  },
  { ...closed, security: true, description: "Where everything that the gateway remembers is kept." },
);
