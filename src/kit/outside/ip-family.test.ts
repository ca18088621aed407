/** Our answer against Node's: the same for everything that looks like an address, and for everything that nearly does. */
import { expect, test } from "bun:test";
import { isIP } from "node:net";
import { ipFamily } from "./ip-family.ts";

const EDGES = [
  ...[
    "",
    ".",
    ":",
    "::",
    ":::",
    "::1",
    "1::",
    "1::2",
    "1::2::3",
    "1:2:3::4:5:6::7:8",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7",
  ],
  ...[
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    "1::3:4:5:6:7:8",
    "1:2:3:4::5:6:7:8",
    "::ffff:1.2.3.4",
    "::1.2.3.4",
    "1.2.3.4::",
  ],
  ...[
    "1:2:3:4:5:6:1.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::1.2.3",
    "::1.2.3.256",
    "::1.2.3.4:5",
    "12345::",
    "::g",
    "fe80::1%eth0",
  ],
  ...[
    "fe80::1%",
    "fe80::1%a%b",
    "fe80::1%a/b",
    "1.2.3.4%eth0",
    "1.2.3.4",
    "01.2.3.4",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "1.2.3.-4",
  ],
  ...[
    " 1.2.3.4",
    "1.2.3.4 ",
    "::1 ",
    "[::1]",
    "0x1.2.3.4",
    "1.2.3.4\n",
    "::\u0661",
    "1..2.3",
    ":1",
    "1:",
    "::1:",
    ":1::",
  ],
];

/** Small, seeded, so that a failure is the same failure tomorrow. */
function* noise(count: number): Generator<string> {
  const pieces = [
    "1",
    "0",
    "255",
    "256",
    "f",
    "ffff",
    "10000",
    ":",
    "::",
    ".",
    "%",
    "eth0",
    "1.2.3.4",
    "abcd",
    "g",
    " ",
  ];
  let state = 42;
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  for (let n = 0; n < count; n++) {
    const separated = next(2) === 0;
    const parts = Array.from({ length: 1 + next(10) }, () => pieces[next(pieces.length)]);
    yield parts.join(separated ? (next(3) === 0 ? "." : ":") : "");
  }
}

test("a text is an address to us exactly when it is one to Node", () => {
  const different = [...EDGES, ...noise(50_000)].filter((text) => ipFamily(text) !== isIP(text));
  expect(different).toEqual([]);
});

test("the cases hold addresses of both families", () => {
  const families = new Set([...EDGES, ...noise(50_000)].map(ipFamily));
  expect([...families].sort()).toEqual([0, 4, 6]);
});
