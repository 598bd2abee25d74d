import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { StdioError } from '@x/transport-stdio'
import { greetOverStdio, isRetryable, listen, listToolsOverSocket } from '../src/stdio.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'examples-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Bundles the server of the guide as a program for Node. */
async function buildServer(): Promise<string> {
  const outfile = join(folder, 'server.mjs')
  await build({
    stdin: {
      contents: `import { serve } from './stdio.ts'; serve()`,
      resolveDir: fileURLToPath(new URL('../src', import.meta.url)),
    },
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` },
  })
  return outfile
}

test('the server of the guide serves the client of the guide', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  expect(await greetOverStdio(await buildServer())).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
  expect(printed.mock.calls).toEqual([['server: The client has disconnected']])
})

test('a call whose process has ended is retryable, and one whose process never answers is not', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const failure: unknown = await greetOverStdio(join(folder, 'nothing.mjs')).catch((error: unknown) => error)
  expect(isRetryable(failure)).toBe(false)
  expect(isRetryable(new Error('it failed', { cause: new StdioError('exited', 'The process ended') }))).toBe(true)
})

test('a Unix socket transports the same messages', async () => {
  const path = join(folder, 'mcp.sock')
  const sockets = listen(path)
  await once(sockets, 'listening')
  expect(await listToolsOverSocket(path)).toContain('greet')
  sockets.close()
})
