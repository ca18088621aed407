/** Columns and fields of the same name in two spellings. */
import { expect, test } from "bun:test";
import { fromColumns, toColumns } from "./named-columns.ts";

const COLUMNS = ["id", "session_key", "params_hash"] as const;

test("columns become fields in camel case, and a column that is not named stays behind", () => {
  const row = { seq: 7, id: "a", session_key: null, params_hash: "h" };
  expect(fromColumns(COLUMNS, row)).toEqual({ id: "a", sessionKey: null, paramsHash: "h" });
});

test("fields become columns in snake case, and a field that is not named stays behind", () => {
  const value = { id: "a", sessionKey: "k", paramsHash: "h", secret: "x" };
  expect(toColumns(COLUMNS, value)).toEqual({ id: "a", session_key: "k", params_hash: "h" });
});
