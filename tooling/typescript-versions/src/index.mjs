import { fileURLToPath } from 'node:url'

/** @param {string} version */
const compilerOf = (version) => fileURLToPath(new URL(`../node_modules/typescript-${version}/bin/tsc`, import.meta.url))

export const compilers = new Map(['5.4', '5.9', '6.0', '7.0'].map((version) => [version, compilerOf(version)]))
