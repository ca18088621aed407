/**
 * A proxy on loopback that adds the gateway's token to each request, for foreign programs that cannot send one. Requests for its own address are
 * passed on as requests for the gateway's; any other host or origin reaches the gateway as it is, and is the gateway's to refuse.
 */
interface TokenProxy extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
}

export function startTokenProxy(gateway: { readonly url: string; readonly token: string }): TokenProxy {
  const target = new URL(gateway.url);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      const own = `127.0.0.1:${server.port}`;
      if (headers.get("host") === own) headers.set("host", target.host);
      if (headers.get("origin") === `http://${own}`) headers.set("origin", target.origin);
      headers.set("authorization", `Bearer ${gateway.token}`);
      const { method, signal } = request;
      const body = method === "GET" || method === "HEAD" ? {} : { body: await request.arrayBuffer() };
      return fetch(`${gateway.url}${pathname}${search}`, { method, headers, signal, redirect: "manual", ...body });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
