/** The product's version, from package.json; put into the bundle when it is built. */
import manifest from "../package.json" with { type: "json" };

export const VERSION: string = manifest.version;
