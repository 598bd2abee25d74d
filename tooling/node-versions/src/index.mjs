import { fileURLToPath } from 'node:url'

/** @param {string} alias */
const programOf = (alias) => fileURLToPath(new URL(`../node_modules/${alias}/bin/node`, import.meta.url))

export const node20 = programOf('node-20')
export const node22 = programOf('node-22')
export const node24 = programOf('node-24')
export const unsupportedNode = programOf('node-unsupported')
