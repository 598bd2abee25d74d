import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder = ''
let outfile = ''

// The program is bundled, because the oldest supported Node cannot run TypeScript.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bus-program-'))
  outfile = join(folder, 'program.mjs')
  const entry = fileURLToPath(new URL('./programs/listen-and-stop.ts', import.meta.url))
  const banner = { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` }
  const external = ['pg-native', 'pg-cloudflare']
  await build({ entryPoints: [entry], bundle: true, outfile, format: 'esm', platform: 'node', banner, external })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function exitOf(kind: string, address: string): Promise<{ readonly code: unknown; readonly stderr: string }> {
  const child = spawn(process.execPath, [outfile, kind, address], { stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code]: unknown[] = await once(child, 'close')
  return { code, stderr }
}

describeNeeding('redis', 'a process that listened over Redis', (program) => {
  test('exits after it has stopped listening', async () => {
    const server = await startRedis(program)
    expect(await exitOf('redis', server.path)).toEqual({ code: 0, stderr: '' })
    await server.close()
  })
})

test('a process that listened over PostgreSQL exits after it has stopped listening', async () => {
  const server = await startPostgres()
  expect(await exitOf('postgres', server.url)).toEqual({ code: 0, stderr: '' })
  await server.close()
})

test('a process that could not listen exits', async () => {
  const { code, stderr } = await exitOf('postgres', 'postgres://nobody@127.0.0.1:1/none')
  expect(code).toBe(1)
  expect(stderr).toMatch(/BusError: PostgreSQL cannot be reached: .*ECONNREFUSED/)
})
