import { expect, test } from "bun:test";
import type { PairedPerson } from "../../src/contracts/channels/pairing.ts";
import { keepPlaces, type PersonRow } from "./people.ts";

const person = (id: string, state: PairedPerson["state"] = "pending"): PairedPerson => ({
  id,
  state,
  role: state === "approved" ? "member" : null,
  principal: `telegram:user:${id}` as PairedPerson["principal"],
  name: id,
  channel: "telegram",
  account: "main",
  createdAt: 0,
  expiresAt: 1,
});
const ids = (rows: readonly PersonRow[]) => rows.map(({ person: { id } }) => id);

test("rows of the open pairing dialog keep their places when people come, go and change state", () => {
  const first = keepPlaces([], [person("a"), person("b"), person("c")]);
  expect(ids(first)).toEqual(["a", "b", "c"]);
  // The gateway lists new people first and approved ones last.
  const later = keepPlaces(first, [person("new"), person("c"), person("a", "approved")]);
  expect(ids(later)).toEqual(["a", "b", "c", "new"]);
  expect(later.map(({ gone }) => gone)).toEqual([false, true, false, false]);
  expect(later[0]?.person.state).toBe("approved");
  expect(ids(keepPlaces(later, []))).toEqual(["a", "b", "c", "new"]);
});

test("a row of the open pairing dialog keeps what was decided in it, and comes back when that is undone", () => {
  const rows = keepPlaces([], [person("a")]).map((row) => ({ ...row, decided: "Refused" }));
  const refused = keepPlaces(rows, []);
  expect(refused).toMatchObject([{ gone: true, decided: "Refused" }]);
  expect(keepPlaces(refused, [person("a")])).toMatchObject([{ gone: false, decided: "Refused" }]);
});
