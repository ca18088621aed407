/** What a browser called itself when it signed in, for the list of browsers. Never edited once released. */
import type { Migration } from "./migration.ts";

export const signInBrowsers: Migration = {
  name: "sign-in-browsers",
  sql: `
alter table sign_ins add column browser text; -- null: it has not said
`,
};
