/** An instant model provider in a process of its own, so that serving it does not slow down the side that is being measured. */
import { says, startFakeProvider } from "../../src/testing/fake-provider.ts";

export interface ProviderProcess extends AsyncDisposable {
  readonly baseUrl: string;
}

export async function startProviderProcess(): Promise<ProviderProcess> {
  const child = Bun.spawn([process.execPath, "--no-env-file", import.meta.path], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  return {
    baseUrl: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

if (import.meta.main) {
  const provider = await startFakeProvider(() => says("ok"));
  console.log(provider.baseUrl);
}
