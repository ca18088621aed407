/** `/timezone` on a real store: what a person chose is there after a restart, for all ids of that person, and for nobody else. */
import { expect, test } from "bun:test";
import type { CommandContext } from "../contracts/command.ts";
import type { Principal } from "../contracts/ids.ts";
import { systemClock } from "../kit/clock.ts";
import { openPersonTimes } from "../automation/index.ts";
import { inbound } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { timezoneCommand } from "./timezone-command.ts";

test("a person's time zone is chosen, shown, kept over a restart and given up; a zone that does not exist is rejected", async () => {
  await using real = await realStore(systemClock);
  const deps = {
    clock: systemClock,
    facts: real.store.channelState,
    hostZone: () => "UTC",
    person: (who: Principal) => (who.endsWith(":ann") ? "@ann" : who),
  };
  const say = async (args: string, who: string) => {
    const message = { ...inbound("/timezone"), sender: { principal: who as Principal, name: "x" } };
    const people = await openPersonTimes(deps); // as after a restart
    return timezoneCommand({ people }).run(args, { message } as CommandContext, new AbortController().signal);
  };
  expect(await say("", "telegram:user:ann")).toContain("in UTC, the zone of the machine");
  expect(await say("Mars/Olympus", "telegram:user:ann")).toContain("is not a time zone");
  expect(await say("Europe/Berlin", "telegram:user:ann")).toBe("Your times are read in Europe/Berlin from now on.");
  expect(await say("", "discord:user:ann")).toContain("in Europe/Berlin.");
  expect(await say("", "telegram:user:bob")).toContain("in UTC,");
  expect(await say("default", "discord:user:ann")).toContain("in UTC from now on");
  expect(await say("", "telegram:user:ann")).toContain("in UTC,");
});
