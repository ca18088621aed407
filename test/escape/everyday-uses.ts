/** What people have their agents do all day, as data: a shell command, and what it must say. Each must work behind the wall. */

export interface Use {
  readonly name: string;
  /** For `/bin/bash -c`, in an empty folder of the workspace. `$BUN` is Bun. */
  readonly command: string;
  readonly says: RegExp;
  /** A program that must be there. */
  readonly needs?: string;
  /** Only where the tier gives a network, /tmp and /dev/shm of its own. */
  readonly tier?: "full";
}

const GIT = "git -c user.name=a -c user.email=a@localhost";

const VERSIONS: readonly Use[] = [
  {
    name: "git init, commit and log",
    command: `git init -q . && echo a > a && git add a && ${GIT} commit -qm first && git log --format=%s`,
    says: /^first$/m,
    needs: "git",
  },
  {
    name: "git branch, merge and diff",
    command: `git init -q -b main . && echo a > a && git add a && ${GIT} commit -qm first && git checkout -qb side && echo b >> a && ${GIT} commit -qam second && git checkout -q main && ${GIT} merge -q side && git diff HEAD~1 --stat`,
    says: /1 insertion/,
    needs: "git",
  },
  {
    name: "git clone of a local repository, and stash",
    command: `git init -q one && cd one && echo a > a && git add a && ${GIT} commit -qm first && cd .. && git clone -q one two && cd two && echo b > a && ${GIT} stash -q && cat a && git stash list`,
    says: /a\nstash@\{0\}/,
    needs: "git",
  },
];

const LANGUAGES: readonly Use[] = [
  {
    name: "node",
    command: `node -e 'console.log(6 * 7, process.version[0])'`,
    says: /^42 v$/m,
    needs: "/usr/bin/node",
  },
  {
    name: "node with a child and a worker",
    command: `node -e 'const { Worker } = require("worker_threads"); console.log(require("child_process").execSync("echo child").toString()); new Worker("console.log(1 + 1)", { eval: true })'`,
    says: /child\n\n2/,
    needs: "/usr/bin/node",
  },
  {
    name: "bun run of a TypeScript file",
    command: `echo 'const n: number = 42; console.log(n)' > a.ts && $BUN run a.ts`,
    says: /^42$/m,
  },
  {
    name: "bun test",
    command: `echo 'import { expect, test } from "bun:test"; test("sums", () => expect(1 + 1).toBe(2));' > a.test.ts && $BUN test 2>&1`,
    says: /1 pass/,
  },
  {
    name: "SQLite from Bun",
    command: `$BUN -e 'import { Database } from "bun:sqlite"; const d = new Database("a.db"); d.run("pragma journal_mode = wal"); d.run("create table t (x)"); d.run("insert into t values (42)"); console.log(d.query("select x from t").get())'`,
    says: /x: 42/,
  },
  {
    name: "SQLite by its command",
    command: `sqlite3 a.db 'create table t (x); insert into t values (42); select * from t'`,
    says: /^42$/m,
    needs: "sqlite3",
  },
  {
    name: "a Python script",
    command: `printf 'import json, sys\\nprint(json.dumps({"n": 42}), sys.argv[1])' > a.py && /usr/bin/python3 a.py x`,
    says: /\{"n": 42\} x/,
    needs: "/usr/bin/python3",
  },
  {
    name: "Python with subprocesses and threads",
    command: `/usr/bin/python3 -c 'import subprocess, concurrent.futures as f; print(subprocess.check_output(["echo", "child"]), sum(f.ThreadPoolExecutor(4).map(lambda n: n * n, range(10))))'`,
    says: /child.* 285/,
    needs: "/usr/bin/python3",
  },
  {
    name: "Python with a pool of processes",
    command: `printf 'import multiprocessing as m\\ndef f(n): return n * n\\nif __name__ == "__main__": print(sum(m.Pool(2).map(f, range(10))))' > a.py && /usr/bin/python3 a.py`,
    says: /285/,
    needs: "/usr/bin/python3",
    tier: "full",
  },
  { name: "Perl", command: `perl -e 'print 6 * 7, "\\n"'`, says: /^42$/m, needs: "perl" },
  {
    name: "a compiler",
    command: `printf '#include <stdio.h>\\nint main(void) { puts("compiled"); return 0; }' > a.c && gcc -O2 -o a a.c && ./a`,
    says: /^compiled$/m,
    needs: "gcc",
  },
  {
    name: "make",
    command: `printf 'all: a\\n\\t@cat a\\na:\\n\\t@echo made > a\\n' > Makefile && make -s`,
    says: /^made$/m,
    needs: "make",
  },
  {
    name: "npm init and a script, offline",
    command: `npm init -y >/dev/null && npm pkg set scripts.hello='echo hello-from-npm' && npm run -s hello`,
    says: /^hello-from-npm$/m,
    needs: "/usr/bin/npm",
  },
];

const SHELL: readonly Use[] = [
  { name: "pipes", command: `seq 1 100 | tac | head -1 | tr 0 x`, says: /^1xx$/m },
  { name: "a here-document", command: `cat <<END\nin the document\nEND`, says: /^in the document$/m },
  {
    name: "temporary files",
    command: `f=$(mktemp) && d=$(mktemp -d) && echo kept > "$f" && cp "$f" "$d" && cat "$d"/*`,
    says: /^kept$/m,
  },
  {
    name: "long output",
    command: `head -c 1000000 /dev/zero | tr '\\0' x | wc -c; head -c 1000000 /dev/zero | tr '\\0' x`,
    says: /^1000000\nx{1000000}/,
  },
  { name: "a job in the background", command: `(sleep 0.1; echo later > a) & wait && cat a`, says: /^later$/m },
  {
    name: "tar and gzip",
    command: `mkdir d && echo in > d/a && tar czf d.tgz d && rm -r d && tar xzf d.tgz && gzip -t d.tgz && cat d/a`,
    says: /^in$/m,
  },
  {
    name: "find, grep, sed, awk and sort",
    command: `for n in 3 1 2; do echo "n $n" > f$n; done; find . -name 'f*' | xargs grep -h n | sed s/n/m/ | awk '{ print $2 }' | sort | tr '\\n' ,`,
    says: /1,2,3,/,
  },
  {
    name: "names in other scripts",
    command: `echo ja > 'größe 文件 🙂.txt' && cat größe* && ls`,
    says: /ja\ngröße 文件 🙂\.txt/,
  },
  {
    name: "links in the workspace",
    command: `mkdir d && echo a > d/a && ln -s d e && ln d/a hard && cat e/a hard && readlink e`,
    says: /a\na\nd/,
  },
  {
    name: "a big file",
    command: `head -c 200000000 /dev/zero > big && stat -c %s big && cp big copy && rm big copy`,
    says: /^200000000$/m,
  },
  { name: "random bytes", command: `head -c 8 /dev/urandom | wc -c && od -An -N2 /dev/random | wc -c`, says: /^8\n/ },
  { name: "dates and time zones", command: `TZ=Asia/Tokyo date -d @0 +%H:%M && date +%Y`, says: /^09:00\n20\d\d$/m },
  {
    name: "locales",
    command: `locale -a | grep -ci '^c' && printf 'b\\nA\\na\\n' | LC_ALL=C sort | tr -d '\\n'`,
    says: /Aab/,
  },
  {
    name: "a script on standard input",
    command: `echo 'echo from stdin' | bash -s && echo 'print("py")' | /usr/bin/python3 -`,
    says: /from stdin\npy/,
    needs: "/usr/bin/python3",
  },
  {
    name: "exit codes",
    command: `false; echo $?; (exit 42); echo $?; nothing-there 2>/dev/null; echo $?`,
    says: /^1\n42\n127$/m,
  },
  {
    name: "signals to its own children",
    command: `sleep 30 & kill -TERM $!; wait $!; echo $?; timeout 0.1 sleep 5; echo $?; trap 'echo caught' USR1; kill -USR1 $$`,
    says: /143\n124\ncaught/,
  },
  {
    name: "process substitution",
    command: `diff <(echo a) <(echo b); paste <(echo 1) <(echo 2)`,
    says: /< a\n---\n> b\n1\t2/,
  },
  {
    name: "several at once",
    command: `seq 1 8 | xargs -P 4 -I{} sh -c 'echo {}' | sort -n | tr -d '\\n'`,
    says: /12345678/,
  },
  {
    name: "named pipes and locks",
    command: `mkfifo p && (echo through > p &) && cat p && flock lock echo locked`,
    says: /through\nlocked/,
  },
  {
    name: "a script that is made executable",
    command: `printf '#!/usr/bin/env bash\\necho ran $1' > run && chmod 755 run && ./run it`,
    says: /^ran it$/m,
  },
  {
    name: "diff and patch",
    command: `echo a > a; echo b > b; diff -u a b > p; patch -s a p && cat a`,
    says: /^b$/m,
    needs: "patch",
  },
  {
    name: "sums and encodings",
    command: `printf x | sha256sum | cut -c1-8; printf x | base64`,
    says: /2d711642\neA==/,
  },
  {
    name: "standard output and error by name",
    command: `(echo out > /dev/stdout; echo err > /dev/stderr) 2>&1 | cat; echo gone > /dev/null`,
    says: /out\nerr/,
  },
  {
    name: "who and where it is",
    command: `id -u >/dev/null && pwd >/dev/null && test -w . && echo mine && cat /proc/self/comm && nproc >/dev/null && ps -o comm= -p $$; true`,
    says: /mine\ncat\nbash/,
    needs: "ps",
  },
  {
    name: "sockets between two of its own programs",
    command: `/usr/bin/python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; curl -s http://127.0.0.1:8123/ && break; done; kill $!`,
    says: /Directory listing/,
    needs: "curl",
    tier: "full",
  },
  {
    name: "/tmp and /dev/shm",
    command: `echo a > /tmp/a && echo b > /dev/shm/b && cat /tmp/a /dev/shm/b`,
    says: /a\nb/,
    tier: "full",
  },
];

export const USES: readonly Use[] = [...VERSIONS, ...LANGUAGES, ...SHELL];
