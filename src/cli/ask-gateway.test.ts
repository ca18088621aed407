/** A gateway that takes a question and never answers it: whoever asked is told so, whatever the command. */
import { expect, test } from "bun:test";
import { deferred } from "../kit/deferred.ts";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

test.each([
  ["questions list"],
  ["approvals list"],
  ["tools list"],
  ["usage"],
  ["cron list"],
  ["pairing list"],
  ["sessions list"],
])("pi-gw %s ends after ten seconds without an answer", async (command) => {
  await using fx = await cliFixture();
  const [asked, over] = [deferred<void>(), deferred<Response>()];
  await using _gateway = await fakeGateway(fx.home, () => {
    asked.resolve();
    return over.promise;
  });
  const ended = fx.run(...command.split(" "));
  await asked.promise;
  await fx.clock.advance(10_000);
  expect(await ended).not.toBe(0);
  expect(fx.err()).toContain("did not answer within 10 seconds");
  over.resolve(new Response());
});
