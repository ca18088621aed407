/** What errors of Postgres mean. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../contracts/errors.ts";
import { ConnectionLost, postgresFault } from "./faults.ts";

const state = (code: string) => Object.assign(new Error("said by the server"), { code });

test.each([
  ["a row that is there already", state("23505"), "statement"],
  ["a value of the wrong form", state("22P02"), "statement"],
  ["two transactions that cannot both be", state("40001"), "again"],
  ["two transactions that wait for each other", state("40P01"), "again"],
  ["a full disk of the server", state("53100"), "wait"],
  ["too many connections", state("53300"), "lost"],
  ["a statement that took too long", state("57014"), "wait"],
  ["damaged data", state("XX001"), "wait"],
  ["a server that stops", state("57P01"), "lost"],
  ["a server that has become a standby", state("25006"), "lost"],
  ["a connection that failed", state("08006"), "lost"],
  ["a connection that ended", new ConnectionLost("cut"), "lost"],
  ["an error of row code", new GatewayError("conflict", "taken"), "statement"],
  ["an error of the system", Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), "statement"],
] as const)("%s", (_, error, meaning) => {
  expect(postgresFault(error)).toBe(meaning);
});
