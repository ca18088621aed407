/** A gateway whose model says what the tests of the web console need: failures, hostile answers, and one that stops halfway. */
import { type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked as questionOf } from "./whole-fixture.ts";

export interface ScriptedGateway extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  /** After a kill: the same state directory on the same port. */
  startAgain(): Promise<void>;
  /** How many images came with this question. */
  imagesIn(question: string): number;
}

/** Everything a page must not do, in the ways a model can ask for it. */
const HOSTILE = `<img src=x onerror="window.seen.ran = true">
<script>window.seen.ran = true</script>
<svg onload="window.seen.ran = true"></svg>
<iframe src="https://evil.example/frame"></iframe>
<style>@import "https://evil.example/style.css";</style>

![track](https://evil.example/pixel.png) ![local](x.png "t\\" onerror=\\"window.seen.ran = true")

[press](javascript:window.seen.ran=true) [data](data:text/html,<script>window.seen.ran=true</script>) [ok](https://example.com/ok)

<a href="javascript:window.seen.ran=true">press</a> <form action="https://evil.example"><button>send</button></form>

End of the attack.`;

export async function startScriptedGateway(): Promise<ScriptedGateway> {
  const home: TempHome = await tempHome();
  const asked = new Map<string, number>();
  const provider = await startFakeProvider((request) => {
    const question = questionOf(request);
    const times = (asked.get(question) ?? 0) + 1;
    asked.set(question, times);
    return answer(question, times);
  });
  const model = { id: "fake-1", input: ["text", "image"] };
  const pool = { min: 0, max: 1 };
  const config = {
    agent: { pool },
    models: { providers: { fake: { baseUrl: provider.baseUrl, apiKey: "test", models: [model] } } },
  };
  let gateway = await startGatewayProcess({ home: home.path, config });
  return {
    get gateway() {
      return gateway;
    },
    async startAgain() {
      gateway = await startGatewayProcess({ home: home.path, port: Number(new URL(gateway.url).port) });
    },
    imagesIn(question) {
      const request = provider.requests.findLast((one) => questionOf(one).includes(question));
      const content = request?.messages.findLast(({ role }) => role === "user")?.content;
      return Array.isArray(content) ? content.filter((part) => part.type === "image_url").length : 0;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

function answer(question: string, times: number): FakeReply {
  if (question.includes("fail once") && times === 1) return { kind: "status", status: 401, message: "wrong key" };
  if (question.includes("fail once")) return says("Now it works.");
  if (question.includes("be hostile")) return says(...(HOSTILE.match(/[\s\S]{1,40}/g) ?? []));
  if (!question.includes("a slow answer")) return says("An ordinary answer.");
  // The first time it never gets past the middle: whoever asked is killed, and asks again.
  return times === 1
    ? says("Half of the", new Promise<never>(() => undefined))
    : says("Half of the", " answer,", " and the rest.");
}
