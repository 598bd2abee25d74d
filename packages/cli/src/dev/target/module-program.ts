import type { Program } from '../../calls/target.ts'
import { CliError } from '../../cli-error.ts'

/** Begins the line in which a module says why it must be the only process of its server. */
export const noticeStart = 'mcpx dev: '

/**
 * Serves the module whose path is the first argument over HTTP. What it needs is resolved from this package, and not
 * from the module, whose project may have no transport yet.
 */
const program = `
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
const [, path, base] = process.argv
process.env.MCPX_DEV = 'module'
const { serveHttp } = await import(pathToFileURL(createRequire(base).resolve('@x/transport-http/node')).href)
const exported = await import(pathToFileURL(path).href)
const server = [exported.server, exported.default].find((one) => typeof one?.exchange === 'function')
if (server === undefined) {
  console.error(path + ' exports no server. Export the result of createServer as "server" or by default, or write the command that starts the program, such as "node ' + path + '"')
  process.exit(1)
}
const reason = server.localOnly ?? server.singleProcess
if (reason !== undefined) console.error('${noticeStart}' + reason)
const { url } = await serveHttp(server, { port: 0, stopOnSignals: true })
console.log(url)
`

/** Throws if this version of Node cannot run the module. */
export function moduleProgram(path: string): Program {
  const needsTypes = /\.[cm]?ts$/.test(path) && Reflect.get(process.features, 'typescript') === undefined
  if (needsTypes && !/--(import|require|loader)/.test(process.env['NODE_OPTIONS'] ?? ''))
    throw new CliError(
      'usage',
      `Node ${process.version} runs no TypeScript: write --watch src -- npx tsx ${path} for a program, or the built module, or use Node 22.18 or newer`,
    )
  return { command: process.execPath, args: ['--input-type=module', '-e', program, '--', path, import.meta.url] }
}
