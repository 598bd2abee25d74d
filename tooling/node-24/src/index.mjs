import { fileURLToPath } from 'node:url'

/** Where the program is. */
export const node24 = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
