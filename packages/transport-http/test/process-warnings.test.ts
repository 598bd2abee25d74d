import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

const requireForBundles = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'http-'))
  await build({
    entryPoints: [fileURLToPath(new URL('./programs/left-open.ts', import.meta.url))],
    bundle: true,
    outfile: join(folder, 'left-open.mjs'),
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: requireForBundles },
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Starts the program in a shell after a command, and returns it with the address that it serves. */
async function startProgram(
  command: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ child: ChildProcess & { stderr: Readable }; url: URL }> {
  const program = join(folder, 'left-open.mjs')
  const child = spawn('sh', ['-c', `${command} && exec "$0" "$1"`, process.execPath, program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const [printed] = await once(child.stdout, 'data')
  return { child, url: new URL(String(printed).trim()) }
}

/** Resolves with the standard error of a program once it has a text. */
function waitForWarning({ stderr }: { readonly stderr: Readable }, text: string): Promise<string> {
  let printed = ''
  return new Promise((resolve) => {
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
      if (printed.includes(text)) resolve(printed)
    })
  })
}

test('a process that does not exit after a stop by a signal names its open resources and connections', async () => {
  const database = createServer().listen(0, '127.0.0.1')
  await once(database, 'listening')
  const { port } = database.address() as AddressInfo
  const { child } = await startProgram('true', { DATABASE_PORT: String(port) })
  try {
    const warning = waitForWarning(child, 'still alive')
    child.kill('SIGTERM')
    const text = await warning
    expect(text).toMatch(/stopped 5 seconds ago, and the process is still alive \(.*Timeout.*\)/)
    expect(text).toContain(`; connected to 127.0.0.1:${port})`)
  } finally {
    child.kill('SIGKILL')
    database.close()
  }
})

test('a process without a file descriptor for new connections says so', async () => {
  const { child, url } = await startProgram('ulimit -n 60')
  const connections = []
  try {
    const warning = waitForWarning(child, 'No file descriptor is left')
    for (let count = 0; count < 80; count += 1) {
      connections.push(connect(Number(url.port), url.hostname).on('error', () => {}))
    }
    expect(await warning).toContain('ulimit -n')
  } finally {
    child.kill('SIGKILL')
    for (const connection of connections) connection.destroy()
  }
})
