/** What every store promises about letters between gateways. Where one gateway at a time can open it, there is nobody to write to. */
import { expect, test } from "bun:test";
import type { InboxId } from "../../../contracts/ids.ts";
import type { LetterStore, OtherChange, ReceivedLetter } from "../../../contracts/store/letters.ts";
import { waitFor } from "../../wait-for.ts";
import { row, type StoreWorld } from "./store-world.ts";

function reader(letters: LetterStore) {
  const read: ReceivedLetter[] = [];
  const missed: string[] = [];
  const changes: OtherChange[] = [];
  letters.onLetter((letter) => void read.push(letter));
  letters.onMissed((from) => void missed.push(from));
  letters.onOther((change) => void changes.push(change));
  return { read, missed, changes };
}

export function letterPromises(open: () => Promise<StoreWorld>): void {
  test("a letter reaches the gateway it is for, one for all reaches every other, in order, each once, and nobody their own", async () => {
    await using world = await open();
    const one = world.store;
    expect(one.nodes.several).toBe(world.isShared);
    const sent = reader(one.letters);
    if (!world.isShared) {
      one.letters.send({ to: null, kind: "count", body: "0" });
      expect([one.letters.others(), await one.letters.live(), sent.read]).toEqual([[], [], []]);
      return;
    }
    const two = await world.openSecond();
    const three = await world.openSecond();
    const [second, third] = [reader(two.letters), reader(three.letters)];
    expect((await one.letters.live()).toSorted()).toEqual([two.instanceId, three.instanceId].toSorted());
    expect(one.letters.others()).toEqual(await one.letters.live());
    for (const { letters } of [two, three]) await waitFor("the others", () => letters.others().length === 2);
    for (const body of ["0", "1"]) one.letters.send({ to: null, kind: "count", body });
    one.letters.send({ to: two.instanceId, kind: "ask", body: "2" });
    one.letters.send({ to: null, kind: "count", body: "3" });
    const bodies = ({ read }: typeof second) => read.map(({ body }) => body);
    for (const each of [second, third])
      await waitFor(
        "the last letter",
        () => bodies(each),
        (seen) => seen.includes("3"),
      );
    expect([bodies(second), bodies(third)]).toEqual([
      ["0", "1", "2", "3"],
      ["0", "1", "3"],
    ]);
    expect(second.read[2]).toEqual({ from: one.instanceId, to: two.instanceId, kind: "ask", body: "2" });
    expect([sent.read, second.missed, third.missed]).toEqual([[], [], []]);
  });

  test("a gateway hears that another one has begun, and that it has ended", async () => {
    await using world = await open();
    if (!world.isShared) return;
    const { changes } = reader(world.store.letters);
    const other = await world.openSecond();
    const about = () => changes.filter(({ node }) => node === other.instanceId).map(({ is }) => is);
    await waitFor("the other gateway", about, (seen) => seen.includes("here"));
    await other[Symbol.asyncDispose]();
    await waitFor("its end", about, (seen) => seen.includes("gone"));
    expect(about()).toEqual(["here", "gone"]);
    expect(world.store.letters.others()).not.toContain(other.instanceId);
  });

  test("a message says which gateway answers it", async () => {
    await using world = await open();
    const { inbox, instanceId } = world.store;
    await inbox.accept(row("msg_1", "hello"));
    expect(await inbox.nodeOf("msg_1" as InboxId)).toBe(instanceId);
    expect(await inbox.nodeOf("msg_2" as InboxId)).toBeNull();
  });
}
