/** Files left in the workspace whose code a careless next start would run before the wall is up, or outside of it. */
import { type Probe, probesOf } from "./probe.ts";

/** Writes a file below the probe's own place in the workspace; `EVIL` is code that changes its file outside. */
const PLANT = String.raw`
import os
place = os.path.join(w.workspace, "next-" + me.tag)
def plant(name, content, mode=0o644):
    path = os.path.join(place, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content)
    os.chmod(path, mode)
EVIL_JS = 'require("fs").writeFileSync(' + repr(me.target) + ', "changed")'
EVIL_SH = 'echo changed > "' + me.target + '"\n'
EVIL_PY = 'open(' + repr(me.target) + ', "w").write("changed")'
plant("index.ts", "export {};")
`;
const plants = (program: string): string => `${PLANT}\n${program}`;

export const NEXT_START: readonly Probe[] = probesOf("code for the next start", {
  "bunfig.toml with a preload": {
    program: plants(`plant("evil.js", EVIL_JS); plant("bunfig.toml", 'preload = ["./evil.js"]\\n')`),
    next: "$BUN index.ts",
  },
  ".env with options for Bun": {
    program: plants(
      `plant("evil.js", EVIL_JS); plant(".env", "RUN=./evil.js\\n"); plant("index.ts", "if (process.env.RUN) require(process.env.RUN)")`,
    ),
    next: "$BUN index.ts",
  },
  ".env.local": {
    program: plants(
      `plant("evil.js", EVIL_JS); plant(".env.local", "RUN=./evil.js\\n"); plant("index.ts", "if (process.env.RUN) require(process.env.RUN)")`,
    ),
    next: "$BUN index.ts",
  },
  "tsconfig.json with other paths": {
    program: plants(
      `plant("evil.js", EVIL_JS); plant("tsconfig.json", '{"compilerOptions":{"paths":{"safe":["./evil.js"]}}}'); plant("index.ts", 'import "safe";')`,
    ),
    next: "$BUN index.ts",
  },
  "package.json that maps a name": {
    program: plants(
      `plant("evil.js", EVIL_JS); plant("package.json", '{"imports":{"#safe":"./evil.js"}}'); plant("index.ts", 'import "#safe";')`,
    ),
    next: "$BUN index.ts",
  },
  "package.json with a script": {
    program: plants(
      `plant("package.json", '{"scripts":{"prestart":' + repr("sh ./evil.sh").replace("'", '"') + ',"start":"true"}}'); plant("evil.sh", EVIL_SH)`,
    ),
    next: "$BUN run start",
  },
  "node_modules that shadows a package": {
    program: plants(`plant("node_modules/safe/index.js", EVIL_JS); plant("index.ts", 'import "safe";')`),
    next: "$BUN index.ts",
  },
  ".bashrc": { program: plants(`plant(".bashrc", EVIL_SH)`), next: "bash -ic true" },
  ".profile": { program: plants(`plant(".profile", EVIL_SH)`), next: "bash -lc true" },
  ".gitconfig with a command": {
    program: plants(
      `plant("evil.sh", "#!/bin/sh\\n" + EVIL_SH, 0o755); plant(".gitconfig", "[alias]\\n st = !" + place + "/evil.sh\\n")`,
    ),
    next: "git st",
  },
  "a hook of git": {
    program: plants(`sh("git init -q " + place); plant(".git/hooks/post-checkout", "#!/bin/sh\\n" + EVIL_SH, 0o755)`),
    next: "git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m x && git checkout -q -b other",
  },
  "a module that every Python loads": {
    program: plants(`plant("lib/sitecustomize.py", EVIL_PY)`),
    next: "PYTHONPATH=$PLACE/lib /usr/bin/python3 -c 0",
  },
  "a program early in the path": {
    program: plants(`plant("bin/ls", "#!/bin/sh\\n" + EVIL_SH, 0o755)`),
    next: "PATH=$PLACE/bin:$PATH ls",
  },
});
