import { fileURLToPath } from 'node:url'

/** The path of the program. */
export const node24 = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
