/** What is shown where the gateway cannot be reached. Nothing of the gateway is kept in the browser for it. */

const STYLE = `body{margin:0;min-height:100vh;display:grid;place-content:center;gap:1rem;padding:1.5rem;text-align:center;font:1rem/1.5 system-ui,sans-serif;color-scheme:light dark}p{margin:0;max-width:30rem}a{color:inherit}`;
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>pi-gateway</title><style>${STYLE}</style><main><h1>The gateway cannot be reached</h1><p>It may be stopped, or this device is not connected to its network.</p><p><a href="">Try again</a></p></main></html>`;

export function offlinePage(): Response {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  };
  return new Response(PAGE, { status: 503, headers });
}
