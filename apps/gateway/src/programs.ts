import { fileURLToPath } from 'node:url'

const packagePath = (path: string): string => fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${path}`))

/** The program of server-everything. */
export const everythingProgram = packagePath('server-everything/dist/index.js')

/** The same program with another description of one tool, in place of a later version of it. */
export const laterEverythingProgram = fileURLToPath(new URL('later-everything.js', import.meta.url))

/** The program of server-filesystem. */
export const filesystemProgram = packagePath('server-filesystem/dist/index.js')
