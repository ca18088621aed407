import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readSupervisor } from "../config/index.ts";
import { listenForDatagrams } from "../testing/datagram-socket.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { tempHome } from "../testing/temp-home.ts";
import { openSupervisor } from "./index.ts";

describe("the supervisor's wishes in the environment", () => {
  const read = (variables: Readonly<Record<string, string>>) => readSupervisor((name) => variables[name], 42);
  test.each([
    [{}, null],
    [{ NOTIFY_SOCKET: "" }, null],
    [{ NOTIFY_SOCKET: "vsock:2:1" }, null],
    [{ NOTIFY_SOCKET: "/run/notify" }, { notifySocket: "/run/notify", watchdogMs: null }],
    [
      { NOTIFY_SOCKET: "@notify", WATCHDOG_USEC: "3000000" },
      { notifySocket: "@notify", watchdogMs: 3_000 },
    ],
    [
      { NOTIFY_SOCKET: "@n", WATCHDOG_USEC: "3000000", WATCHDOG_PID: "42" },
      { notifySocket: "@n", watchdogMs: 3_000 },
    ],
    [
      { NOTIFY_SOCKET: "@n", WATCHDOG_USEC: "3000000", WATCHDOG_PID: "7" },
      { notifySocket: "@n", watchdogMs: null },
    ],
    [
      { NOTIFY_SOCKET: "@n", WATCHDOG_USEC: "soon" },
      { notifySocket: "@n", watchdogMs: null },
    ],
  ])("%j mean %j", (variables, expected) => {
    expect(read(variables)).toEqual(expected);
  });
});

describe.if(process.platform === "linux")("the supervisor", () => {
  const told = async (address: string): Promise<readonly string[]> => {
    using socket = listenForDatagrams(address);
    const clock = createFakeClock();
    {
      const deps = { clock, log: recordingLog() };
      await using supervisor = openSupervisor(deps, { notifySocket: address, watchdogMs: 3_000 });
      supervisor.starting("Making a backup");
      supervisor.ready("Serving\non http://localhost");
      await clock.advance(2_500);
      supervisor.stopping("SIGTERM");
    }
    expect(clock.pending()).toBe(0);
    return [...socket.messages()];
  };
  const expected = [
    "WATCHDOG=1",
    "EXTEND_TIMEOUT_USEC=120000000\nSTATUS=Making a backup",
    "READY=1\nSTATUS=Serving on http://localhost",
    "WATCHDOG=1",
    "WATCHDOG=1",
    "STOPPING=1\nSTATUS=Stopping: SIGTERM",
  ];

  test("is told over a socket with a path", async () => {
    await using folder = await tempHome();
    expect(await told(join(folder.path, "notify"))).toEqual(expected);
  });

  test("is told over a socket with an abstract name", async () => {
    expect(await told(`@pi-gateway-test-${process.pid}`)).toEqual(expected);
  });

  test("that does not listen, or has too long an address, is logged once and hurts nothing", async () => {
    await using folder = await tempHome();
    for (const notifySocket of [join(folder.path, "nobody"), `/${"x".repeat(120)}`]) {
      const log = recordingLog();
      await using supervisor = openSupervisor({ clock: createFakeClock(), log }, { notifySocket, watchdogMs: 1_000 });
      supervisor.ready("ready");
      expect(log.lines.map(({ words }) => words)).toEqual(["the supervisor could not be told"]);
    }
  });
});
