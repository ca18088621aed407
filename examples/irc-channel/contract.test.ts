/** The IRC channel keeps what every channel promises, against a real server. */
import { test } from "bun:test";
import { channelContract } from "../../src/testing/contracts/channel-contract.ts";
import { ircWorld } from "../../src/testing/irc/irc-world.ts";
import { findNgircd, HOW_TO_GET_NGIRCD } from "../../src/testing/irc/ngircd.ts";

if (findNgircd()) channelContract("irc", () => ircWorld());
else test.skip(`the channel irc keeps the promises of a channel. ${HOW_TO_GET_NGIRCD}`, () => undefined);
