/** A bucket against a service that fails: tried again where that helps, told in words where it does not, and never waited for without end. */
import { expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { FAKE_BUCKET, type S3Fault, startFakeS3 } from "../../testing/fake-s3.ts";
import { createS3Bucket } from "./s3-bucket.ts";

const DATA = Buffer.from("content ".repeat(1_000));

async function fixture(...faults: (S3Fault | null)[]) {
  const service = await startFakeS3(() => faults.shift() ?? null);
  const keys = { accessKeyId: secret("id-of-the-key"), secretAccessKey: secret("the-secret-key") };
  const bucket = createS3Bucket(
    { clock: systemClock, requestMs: 100 },
    { endpoint: service.endpoint, bucket: FAKE_BUCKET, region: "auto", prefix: "gw/", ...keys },
  );
  return { service, bucket, faults, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

test("a bucket keeps what it was given under its prefix, and has nothing under another name", async () => {
  await using fx = await fixture();
  await fx.bucket.put("media/m 1/c", DATA);
  expect([...fx.service.contents.keys()]).toEqual(["gw/media/m 1/c"]);
  expect(DATA.equals((await fx.bucket.get("media/m 1/c")) ?? new Uint8Array())).toBe(true);
  expect(await fx.bucket.get("media/m 1")).toBeNull();
});

test("a bucket removes everything with a beginning, page by page, and nothing else", async () => {
  await using fx = await fixture();
  for (let n = 0; n < 5; n++) await fx.bucket.put(`a/${n}`, DATA);
  await fx.bucket.put("ab/1", DATA);
  await fx.bucket.remove("a/0");
  await fx.bucket.remove("a/0"); // gone already
  await fx.bucket.removeAll("a/");
  await fx.bucket.removeAll("none/");
  expect([...fx.service.contents.keys()]).toEqual(["gw/ab/1"]);
});

test.each(["error", "silence", "cut"] as const)("a service that answers with %s is asked again", async (fault) => {
  await using fx = await fixture(fault, fault);
  await fx.bucket.put("a/1", DATA);
  expect(fx.service.contents.size).toBe(1);
  fx.faults.push(fault, fault);
  expect(DATA.equals((await fx.bucket.get("a/1")) ?? new Uint8Array())).toBe(true);
  fx.faults.push(fault, fault);
  await fx.bucket.removeAll("a/");
  expect(fx.service.contents.size).toBe(0);
});

test("a service that keeps failing, is gone or refuses the key ends with a sentence without the key", async () => {
  await using fx = await fixture("error", "error", "error", "error", "denied");
  const failure = () =>
    fx.bucket.put("a/1", DATA).then(
      () => "stored",
      (error: { code: string; say: string }) => `${error.code}: ${error.say}`,
    );
  const told = [await failure(), await failure()];
  expect(fx.service.requests()).toBe(5); // a refusal is not tried again
  await fx.service[Symbol.asyncDispose]();
  told.push(await failure());
  const because = ["InternalError", "AccessDenied", "ConnectionRefused"];
  expect(
    told.map(
      (text, at) =>
        text.includes(`store_failed: The bucket ${FAKE_BUCKET} at http`) && text.includes(`(${because[at]})`),
    ),
  ).toEqual([true, true, true]);
  expect(told.join("")).not.toMatch(/the-secret-key|id-of-the-key/);
});
