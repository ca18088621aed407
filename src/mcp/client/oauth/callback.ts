/** A page on the loopback network that the browser comes back to after a login. */
import { deferred, orAborted } from "../../../kit/deferred.ts";

interface CallbackPage extends AsyncDisposable {
  readonly url: string;
  /** What the browser brought along. Rejects when the signal aborts. */
  answer(signal: AbortSignal): Promise<URLSearchParams>;
}

const PATH = "/callback";

/** `port` 0, or one that is taken: any free one. `state`: what an answer of this login carries. */
export function openCallbackPage(port: number, state: string): CallbackPage {
  let answered = deferred<URLSearchParams>();
  const listen = (wanted: number) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port: wanted,
      fetch(request) {
        const { pathname, searchParams } = new URL(request.url);
        // no page that guesses the port can end the login
        if (request.method !== "GET" || pathname !== PATH || searchParams.get("state") !== state)
          return new Response("Not found", { status: 404 });
        answered.resolve(searchParams);
        const words = searchParams.has("error") ? "The login was refused." : "You are signed in.";
        return new Response(`${words} You can close this page and go back to the terminal.\n`);
      },
    });
  const server = listenOn(listen, port);
  return {
    url: `http://127.0.0.1:${server.port}${PATH}`,
    async answer(signal) {
      const given = await orAborted(answered.promise, signal);
      answered = deferred(); // a server may want another login
      return given;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(); // the browser still gets its page
    },
  };
}

function listenOn<T>(listen: (port: number) => T, port: number): T {
  try {
    return listen(port);
  } catch {
    return listen(0); // somebody else has it now; the service is told of another one
  }
}
