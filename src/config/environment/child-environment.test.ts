import { expect, test } from "bun:test";
import { childEnvironment } from "./child-environment.ts";

test("a program in the gateway's place has all of its variables, and what is given besides goes before them", () => {
  const before = { ...process.env };
  const made = childEnvironment({ PATH: "/given", PI_GATEWAY_CHILD: "yes" });
  expect(made).toEqual({ ...before, PATH: "/given", PI_GATEWAY_CHILD: "yes" });
  expect({ ...process.env }).toEqual(before);
});
