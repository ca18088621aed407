import { describe, expect, test } from "bun:test";
import type { ApiKey } from "../../contracts/api-keys.ts";
import { isGatewayError } from "../../contracts/errors.ts";
import { OPERATOR, type Principal } from "../../contracts/ids.ts";
import type { ResponseEvent, ResponseObject } from "../../contracts/responses.ts";
import { deferred } from "../../kit/deferred.ts";
import { dies, type FakeAgent, NO_USAGE, says, waits } from "../../testing/fake-pool.ts";
import { OTHER, type ResponseBench, responseBench } from "../../testing/response-bench.ts";
import { waitFor } from "../../testing/wait-for.ts";

const never = new AbortController().signal;
const WEATHER = { type: "function", name: "get_weather", parameters: { type: "object" } };
const PDF = Buffer.from("%PDF-1.7 and more").toString("base64");

/** Calls the tool of the program once, and then answers. */
const asksForWeather: FakeAgent = async function* ({ request }, signal) {
  if (request.history?.some(({ role }) => role === "tool"))
    return yield* says("It is mild.")(undefined as never, signal);
  const call = { callId: "c1", tool: "get_weather" };
  yield { type: "tool_start", ...call, input: { city: "Oslo" } };
  yield { type: "tool_end", ...call, isError: false, output: "" };
  yield { type: "done", text: "", usage: NO_USAGE, model: "fake/one" };
};

async function failureOf(of: Promise<unknown>): Promise<unknown> {
  const error = await of.then(
    () => null,
    (failed: unknown) => failed,
  );
  return isGatewayError(error) ? (error.fields["code"] ?? error.fields["param"] ?? error.code) : error;
}

const create = async ({ door, asked }: ResponseBench, body: object, more: Parameters<typeof asked>[1] = {}) =>
  (await door.create(asked(body, more), () => undefined, never)).response;

describe("a response", () => {
  test("is kept for whoever asked for it, until they delete it", async () => {
    await using bench = await responseBench(says("hello"));
    const response = await create(bench, { input: "hi" });
    expect(response).toMatchObject({ status: "completed", output: [{ content: [{ text: "hello" }] }] });
    const { door } = bench;
    expect(await door.find(response.id, OPERATOR)).toEqual(response);
    expect([await door.find(response.id, OTHER), await door.remove(response.id, OTHER)]).toEqual([null, false]);
    expect([await door.remove(response.id, OPERATOR), await door.find(response.id, OPERATOR)]).toEqual([true, null]);
  });

  test("is stored before anybody hears that it is complete, so that a crash or a quick reader finds it", async () => {
    await using bench = await responseBench(says("hello"));
    const after = bench.anew(); // has nothing in memory
    const found: Promise<unknown>[] = [];
    const look = ({ type, response }: ResponseEvent): void => {
      if (type === "response.completed") found.push(after.find((response as ResponseObject).id, OPERATOR));
    };
    await bench.door.create(bench.asked({ input: "hi" }), look, never);
    const { id } = await bench.door.begin(bench.asked({ input: "later", background: true }));
    await bench.door.follow({ id, principal: OPERATOR, after: null }, look, never);
    expect(await Promise.all(found)).toMatchObject([{ status: "completed" }, { status: "completed" }]);
  });

  test("with store: false is not kept", async () => {
    await using bench = await responseBench(says("hello"));
    const { id } = await create(bench, { input: "hi", store: false });
    expect(await bench.door.find(id, OPERATOR)).toBeNull();
    expect(await failureOf(create(bench, { input: "more", previous_response_id: id }))).toBe(
      "previous_response_not_found",
    );
  });

  test("goes on from an earlier one, of which input and answer are heard again, but not its instructions", async () => {
    await using bench = await responseBench(says("hello"));
    const first = await create(bench, { input: "I am Ada.", instructions: "Be brief." });
    const second = await create(bench, { input: "Who am I?", previous_response_id: first.id });
    await create(bench, { input: "Really?", previous_response_id: second.id });
    const [, , third] = bench.pool.prompted;
    expect(third?.request.history?.map(({ role, text }) => [role, text])).toEqual([
      ["user", "I am Ada."],
      ["assistant", "hello"],
      ["user", "Who am I?"],
      ["assistant", "hello"],
    ]);
    expect(third?.input).toMatchObject({ text: "Really?" });
    expect(third?.input.instructions).toBeUndefined();
  });

  test("of another person, or behind a deleted one, cannot be continued", async () => {
    await using bench = await responseBench(says("hello"));
    const first = await create(bench, { input: "I am Ada." });
    const second = await create(bench, { input: "Who am I?", previous_response_id: first.id });
    const more = { input: "And now?", previous_response_id: second.id };
    expect(await failureOf(create(bench, more, { principal: OTHER }))).toBe("previous_response_not_found");
    await bench.door.remove(first.id, OPERATOR);
    expect(await failureOf(create(bench, more))).toBe("previous_response_not_found");
    expect(bench.pool.prompted).toHaveLength(2);
  });

  test("that cannot be read back whole is not continued as if nothing had been said", async () => {
    await using bench = await responseBench(says("hello"));
    const { id } = await create(bench, { input: '"'.repeat(9_000_000) }); // twice as long in the store
    expect(await failureOf(create(bench, { input: "go on", previous_response_id: id }))).toBe(
      "previous_response_not_found",
    );
  });

  test("ends with a call of the program's tool, and its output goes on after a restart", async () => {
    await using bench = await responseBench(asksForWeather);
    const first = await create(bench, { input: "weather in Oslo?", tools: [WEATHER] });
    expect(first.output).toMatchObject([{ type: "function_call", call_id: "c1", arguments: '{"city":"Oslo"}' }]);
    const input = [{ type: "function_call_output", call_id: "c1", output: "mild" }];
    const asked = bench.asked({ input, previous_response_id: first.id, tools: [WEATHER] });
    const { response } = await bench.anew().create(asked, () => undefined, never);
    expect(response.output).toMatchObject([{ content: [{ text: "It is mild." }] }]);
    expect(bench.pool.prompted[1]?.request.history?.at(-1)).toEqual({
      role: "tool",
      callId: "c1",
      tool: "get_weather",
      text: "mild",
    });
    const wrong = [{ type: "function_call_output", call_id: "c9", output: "?" }];
    expect(await failureOf(create(bench, { input: wrong, previous_response_id: first.id }))).toBe("input");
  });

  test("refers to items of earlier ones by their ids, unless they are another person's", async () => {
    await using bench = await responseBench(asksForWeather);
    const first = await create(bench, { input: "weather in Oslo?", tools: [WEATHER] });
    const [call] = first.output;
    const input = [
      { role: "user", content: "weather in Oslo?" },
      { type: "item_reference", id: call?.id },
      { type: "function_call_output", call_id: "c1", output: "mild" },
    ];
    expect((await create(bench, { input })).output).toMatchObject([{ content: [{ text: "It is mild." }] }]);
    expect(await failureOf(create(bench, { input }, { principal: OTHER }))).toBe("input[1]");
    expect(await failureOf(create(bench, { input: [{ id: "msg_none_0" }] }))).toBe("input[0]");
    expect(await failureOf(create(bench, { input: [{ id: call?.id.replace("fc_", "msg_") }] }))).toBe("input[0]");
  });

  test("hears text files, and is told where others are", async () => {
    await using bench = await responseBench(says("ok"));
    const content = [
      { type: "input_text", text: "Read these." },
      { type: "input_file", filename: "plan.md", file_data: `data:text/plain;base64,${btoa("Tuesday")}` },
      { type: "input_file", filename: "plan.pdf", file_data: PDF },
    ];
    await create(bench, { input: [{ role: "user", content }] });
    const text = bench.pool.prompted[0]?.input.text ?? "";
    expect(text).toContain('The file "plan.md":\n\nTuesday');
    expect(text).toContain('(The file "plan.pdf", application/pdf, 1 KiB, is saved as attachments/plan.pdf.)');
    const bad = (file: object) => ({ input: [{ role: "user", content: [{ type: "input_file", ...file }] }] });
    const many = Array.from({ length: 9 }, () => ({ type: "input_file", filename: "a", file_data: btoa("a") }));
    expect(await failureOf(create(bench, { input: [{ role: "user", content: many }] }))).toBe("input");
    expect(await failureOf(create(bench, bad({ file_url: "http://a.example/x" })))).toBe("input");
    expect(await failureOf(create(bench, bad({ file_url: "https://127.0.0.1/x" })))).toBe("input");
    expect(await failureOf(create(bench, bad({ file_data: btoa("x".repeat(2_000)) })))).toBe("input");
  });

  test("with an Idempotency-Key that was used before is the same one, and its events are told again", async () => {
    await using bench = await responseBench(says("hello"));
    const asked = bench.asked({ input: "hi" }, { idempotencyKey: "k" });
    const first = await bench.door.create(asked, () => undefined, never);
    const events: ResponseEvent[] = [];
    const second = await bench.door.create(asked, (event) => void events.push(event), never);
    expect(second.response.id).toBe(first.response.id);
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { id: first.response.id } });
    expect(bench.pool.prompted).toHaveLength(1);
    expect(await failureOf(create(bench, { input: "other" }, { idempotencyKey: "k" }))).toBe("key_reused");
  });

  test("that takes its time is announced after five seconds, and tells a later failure in events", async () => {
    const ended = deferred<void>();
    await using bench = await responseBench(async function* () {
      await ended.promise;
      const failed = { type: "failed", code: "provider_silent", detail: "", again: false, text: "" } as const;
      yield { ...failed, usage: NO_USAGE, model: "fake/one" };
    });
    const events: ResponseEvent[] = [];
    const answer = bench.door.create(bench.asked({ input: "hi" }), (event) => void events.push(event), never);
    await waitFor("the question", () => bench.pool.prompted.length === 1);
    expect(events).toEqual([]);
    await bench.clock.advance(5_000);
    expect(events.map(({ type }) => type)).toEqual(["response.created", "response.in_progress"]);
    ended.resolve();
    expect((await answer).response).toMatchObject({ status: "failed", error: { code: "provider_silent" } });
    expect(events.slice(2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    expect(await failureOf(create(bench, { input: "hi" }, { shows: "whole" }))).toBe("provider_silent");
  });
});

describe("a response as a whole", () => {
  test("that fails after its first words is an error and no response", async () => {
    await using bench = await responseBench(dies);
    expect(await failureOf(create(bench, { input: "hi" }, { shows: "whole" }))).toBe("agent_exited");
  });

  test("is not kept when it is too large, and says what to do", async () => {
    await using bench = await responseBench(says("hello"));
    const content = "x".repeat(6_500_000);
    const input = [1, 2].map(() => ({ role: "user", content }));
    expect(await failureOf(create(bench, { input }))).toBe("store");
    const instructions = "x".repeat(11_000_000);
    expect(await failureOf(create(bench, { input: "hi", instructions }))).toBe("store");
    expect(bench.pool.prompted).toEqual([]);
    const { response, said } = await bench.door.create(bench.asked({ input, store: false }), () => undefined, never);
    expect([response.status, said]).toEqual(["completed", null]);
  });
});

describe("a response in the background", () => {
  const begun = (bench: ResponseBench) => bench.door.begin(bench.asked({ input: "hi", background: true }));

  test("is queued at once, and is there when it has ended", async () => {
    await using bench = await responseBench(says("hello"));
    const queued = await begun(bench);
    expect(queued).toMatchObject({ status: "queued", background: true, output: [] });
    const done = await waitFor("its end", async () => {
      const now = await bench.door.find(queued.id, OPERATOR);
      return now?.status === "completed" && now;
    });
    expect(done).toMatchObject({ output: [{ content: [{ text: "hello" }] }] });
  });

  test("with an Idempotency-Key is begun once", async () => {
    await using bench = await responseBench(says("hello"));
    const asked = bench.asked({ input: "hi", background: true }, { idempotencyKey: "k" });
    const [first, second] = [await bench.door.begin(asked), await bench.door.begin(asked)];
    expect(second.id).toBe(first.id);
    await waitFor("its end", async () => (await bench.door.find(first.id, OPERATOR))?.status === "completed");
    expect((await bench.door.begin(asked)).status).toBe("completed");
    expect(bench.pool.prompted).toHaveLength(1);
  });

  test("is followed from any event on, and afterwards told by its end", async () => {
    await using bench = await responseBench(says("hel", "lo"));
    const { id } = await begun(bench);
    const follow = async (after: number | null) => {
      const numbers: number[] = [];
      const asked = { id, principal: OPERATOR, after };
      await bench.door.follow(asked, ({ sequence_number }) => void numbers.push(sequence_number), never);
      return numbers;
    };
    const all = await follow(null);
    expect(all).toEqual(all.map((_, at) => at));
    expect(await follow(4)).toEqual([5]);
    expect(await failureOf(bench.door.follow({ id, principal: OTHER, after: null }, () => undefined, never))).toBe(
      "not_found",
    );
  });

  test("is cancelled by whoever asked for it, and stays as it is when that is done again", async () => {
    await using bench = await responseBench(waits);
    const { id } = await begun(bench);
    await waitFor("the question", () => bench.pool.prompted.length === 1);
    expect(await failureOf(bench.door.cancel(id, OTHER))).toBe("not_found");
    expect(await bench.door.cancel(id, OPERATOR)).toMatchObject({ status: "cancelled" });
    expect(await bench.door.cancel(id, OPERATOR)).toMatchObject({ status: "cancelled" });
    expect(bench.pool.open()).toBe(0);
  });

  test("cannot be continued before it has ended", async () => {
    await using bench = await responseBench((prompted, signal) =>
      (prompted.input.text === "hi" ? waits : says("too early"))(prompted, signal),
    );
    const { id } = await begun(bench);
    expect(await failureOf(create(bench, { input: "more", previous_response_id: id }))).toBe("previous_response_id");
  });

  test("has no more than 75 of the same key beside it, and of all keys a hundred", async () => {
    await using bench = await responseBench(waits);
    const of = async (principal: Principal, length: number) => {
      const asked = () => bench.door.begin(bench.asked({ input: "hi", background: true }, { principal }));
      const all = await Promise.allSettled(Array.from({ length }, asked));
      return all.filter(({ status }) => status === "fulfilled").length;
    };
    expect([await of(OPERATOR, 110), await of(OTHER, 20)]).toEqual([75, 10]);
    const more = ["a", "b", "c"].map((name) => of(`key:user:${name}` as Principal, 20));
    expect(await Promise.all(more)).toEqual([10, 5, 0]);
    expect(await failureOf(begun(bench))).toBe("queue_full");
  });

  test("that the gateway did not survive has failed, and says why", async () => {
    await using bench = await responseBench(waits);
    const { id } = await begun(bench);
    const next = bench.anew();
    expect(await next.recover()).toBe(1);
    expect(await next.find(id, OPERATOR)).toMatchObject({
      status: "failed",
      error: { code: "outcome_unknown", message: expect.stringContaining("restarted") },
    });
    expect(await next.recover()).toBe(0);
  });

  test("of a gateway that died has failed when another one takes over, and those of that one go on", async () => {
    await using bench = await responseBench(waits);
    const [left, running] = [await begun(bench), await begun(bench)];
    const next = bench.anew();
    expect(await next.endLeft([left.id])).toBe(1);
    expect(await next.find(left.id, OPERATOR)).toMatchObject({ status: "failed", error: { code: "outcome_unknown" } });
    expect(await next.find(running.id, OPERATOR)).not.toMatchObject({ status: "failed" });
    expect(await next.endLeft([left.id])).toBe(0);
  });

  test("ends with the key that began it", async () => {
    await using bench = await responseBench(waits);
    const key = { id: "k1", agents: ["default"] as readonly string[] } as ApiKey;
    const { id } = await bench.door.begin(bench.asked({ input: "hi", background: true }, { key }));
    const operators = await begun(bench);
    await waitFor("both questions", () => bench.pool.prompted.length === 2);
    bench.revoke();
    await waitFor("its end", async () => (await bench.door.find(id, OPERATOR))?.error?.code === "unauthorized");
    expect((await bench.door.find(operators.id, OPERATOR))?.status).toBe("in_progress");
  });

  test("ends with the gateway, and has failed", async () => {
    await using bench = await responseBench(waits);
    const { id } = await begun(bench);
    await waitFor("the question", () => bench.pool.prompted.length === 1);
    await bench.door[Symbol.asyncDispose]();
    expect(await bench.door.find(id, OPERATOR)).toMatchObject({ status: "failed", error: { code: "stopping" } });
  });
});

describe("a response that runs with its request", () => {
  test("is not cancelled by its id, which says what to do instead", async () => {
    await using bench = await responseBench(says("hello"));
    const { id } = await create(bench, { input: "hi" });
    expect(await failureOf(bench.door.cancel(id, OPERATOR))).toBe("bad_request");
  });
});

describe("compaction", () => {
  test("gives one item that stands for the conversation in the next request", async () => {
    await using bench = await responseBench(says("Ada likes tea."));
    const { request: _request, shows: _shows, recalled: _recalled, ...asking } = bench.asked({ input: "x" });
    const body = { model: "pi-gateway", input: "I am Ada and like tea.", instructions: "Keep names." };
    const compacted = await bench.door.compact({ ...asking, body }, never);
    expect(compacted).toMatchObject({ object: "response.compaction", output: [{ type: "compaction" }] });
    expect(bench.pool.prompted[0]?.input.text).toContain("Keep names.");
    await create(bench, { input: [...compacted.output, { role: "user", content: "What do I like?" }] });
    expect(bench.pool.prompted[1]?.input.text).toContain("Ada likes tea.\n\nWhat do I like?");
    expect(await failureOf(bench.door.compact({ ...asking, body: { input: "x" } }, never))).toBe("model");
    expect(await failureOf(bench.door.compact({ ...asking, body: { model: "pi-gateway" } }, never))).toBe("input");
  });
});
