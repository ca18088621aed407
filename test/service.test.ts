/** The gateway as a service: the supervisor is told when it is ready, alive and stopping, over a real datagram socket. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { listenForDatagrams } from "../src/testing/datagram-socket.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { eventually, SMALL_POOL, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

test.if(process.platform === "linux")(
  "a gateway under a supervisor says that it is ready, shows signs of life, and says that it is stopping",
  async () => {
    await using folder = await tempHome();
    using socket = listenForDatagrams(join(folder.path, "notify"));
    await using gateway = await startGatewayProcess({
      config: { agent: { pool: SMALL_POOL } },
      env: { NOTIFY_SOCKET: join(folder.path, "notify"), WATCHDOG_USEC: "300000" },
    });
    await socket.until("READY=1");
    const signs = () => socket.messages().filter((message) => message === "WATCHDOG=1").length;
    const before = signs();
    await eventually("signs of life", signs, (count) => count >= before + 3);
    expect(socket.messages()).toContain(`READY=1\nSTATUS=Serving on ${gateway.url}`);
    expect(await gateway.stop()).toBe(0);
    expect(socket.messages().at(-1)).toMatch(/^(STOPPING=1\nSTATUS=Stopping: SIGTERM|WATCHDOG=1)$/);
    await socket.until("STOPPING=1");
  },
);
