import { expect, test } from "bun:test";
import type { NetworkSetting } from "../../contracts/egress.ts";
import { networkFor } from "./network.ts";

const LISTED: NetworkSetting = { allow: ["example.org"] };

test.each<[Parameters<typeof networkFor>[0], ReturnType<typeof networkFor>["by"], boolean, "open" | "closed"]>([
  [{ tier: "none", setting: "none", callsItself: false }, "machine", false, "open"],
  [{ tier: "none", setting: "all", callsItself: false }, "machine", false, "open"],
  [{ tier: "full", setting: "none", callsItself: false }, "relay", false, "closed"],
  [{ tier: "full", setting: LISTED, callsItself: false }, "relay", true, "closed"],
  [{ tier: "full", setting: "all", callsItself: false }, "relay", true, "closed"],
  [{ tier: "basic", setting: "none", callsItself: false }, "nothing", false, "closed"],
  [{ tier: "basic", setting: LISTED, callsItself: false }, "ports", true, "closed"],
  [{ tier: "full", setting: "none", callsItself: true }, "machine", false, "open"],
  [{ tier: "basic", setting: "all", callsItself: true }, "machine", false, "open"],
])("a process with %j reaches others by %s, told of a proxy: %p, its network %s", (situation, by, proxy, confined) => {
  expect(networkFor(situation)).toMatchObject({ by, proxy, confined });
});
