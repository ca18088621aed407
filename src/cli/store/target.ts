/** Where a move goes: what was typed, and what the configuration may say about it afterwards. A password is in no sentence of this. */
import { GatewayError } from "../../contracts/errors.ts";
import { type Secret, secret } from "../../kit/secret.ts";

export type MoveTarget =
  | { readonly to: "sqlite" }
  | {
      readonly to: "postgres";
      readonly url: Secret;
      /** For `store.url`; null: the address holds a password, and belongs into a variable. */
      readonly setting: string | null;
    };

interface Given {
  /** Of `--to`, as typed. */
  readonly target: string | undefined;
  /** The first line of `--to-file`. */
  readonly line: string | undefined;
  variables(name: string): string | undefined;
}

const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]{0,254})\}$/;
const PROTOCOLS = new Set(["postgres:", "postgresql:"]);
const WHAT = "Give --to sqlite, --to postgres://user:password@host:5432/name, --to '${DATABASE_URL}', or --to-file.";

/** Throws `bad_request`. */
export function targetOf({ target, line, variables }: Given): MoveTarget {
  if ((target === undefined) === (line === undefined)) throw refused(WHAT);
  if (target === "sqlite") return { to: "sqlite" };
  const [, name] = VARIABLE.exec(target ?? "") ?? [];
  if (name !== undefined) {
    const value = variables(name);
    if (!value) throw refused(`The variable ${name} is not set.`);
    checkedUrl(value);
    return { to: "postgres", url: secret(value), setting: `\${${name}}` };
  }
  const address = target ?? line ?? "";
  const { password } = checkedUrl(address);
  return { to: "postgres", url: secret(address), setting: password === "" ? address : null };
}

function checkedUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !PROTOCOLS.has(url.protocol)) throw refused(`That is no address of a Postgres database. ${WHAT}`);
  return url;
}

export function refused(say: string): GatewayError {
  return new GatewayError("bad_request", "the store cannot be moved", { say });
}
