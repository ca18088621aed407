/** The Postgres store against the promises of every store. */
import { afterAll, describe } from "bun:test";
import { storeContract } from "../../testing/contracts/store/store-contract.ts";
import { testPostgres } from "../../testing/postgres/database.ts";
import { createPostgresWorlds } from "../../testing/postgres/store-world.ts";

const worlds = createPostgresWorlds();
afterAll(() => worlds[Symbol.asyncDispose]());

describe.skipIf((await testPostgres()) === null)("on Postgres", () => storeContract("a Postgres store", worlds.open));
