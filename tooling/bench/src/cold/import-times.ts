import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as z from 'zod'

const run = promisify(execFile)

/** What a server imports, each behind what it imports itself, so that its time is its own. */
const importOrder = [
  'node:http',
  '@cfworker/json-schema',
  'eventsource-parser',
  'undici',
  'jose',
  '@x/schema',
  '@x/state-codec',
  '@x/server',
  '@x/transport-http/node',
  'zod',
]

const times = z.array(z.tuple([z.string(), z.number()]))

/**
 * Milliseconds that a process takes before its first line, as `node`, and then for each of the packages that are given.
 */
export async function importTimes(folder: string, packages: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  const specifiers = importOrder.filter((specifier) => specifier.startsWith('node:') || packages.has(packageOf(specifier)))
  const { stdout } = await run(process.execPath, ['import-probe.js', ...specifiers], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  return new Map(times.parse(JSON.parse(stdout)))
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
