import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as z from 'zod'

const run = promisify(execFile)

/** The imports of a server. Each package follows its dependencies, so that its time excludes them. */
const importOrder = [
  'node:http',
  '@cfworker/json-schema',
  'eventsource-parser',
  'undici',
  'jose',
  '@x/schema',
  '@x/exchange',
  '@x/state-codec',
  '@x/server',
  '@x/transport-http/node',
  'zod',
]

const times = z.array(z.tuple([z.string(), z.number()]))

/**
 * Returns the milliseconds of a process before the first line of its program, as `node`, and of the import of each
 * package.
 */
export async function importTimes(folder: string, packages: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  const specifiers = importOrder.filter(
    (specifier) => specifier.startsWith('node:') || packages.has(packageOf(specifier)),
  )
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
