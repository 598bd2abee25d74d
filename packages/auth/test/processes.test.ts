import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { fileStore } from '@x/auth/node'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callWithAuth, createTestEnvironment, completeResponse } from '../src/testing/world.ts'

let root = ''
let program = ''

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'auth-processes-'))
  program = join(root, 'caller.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('programs/caller.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // undici is CommonJS.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })
})
afterAll(() => rm(root, { recursive: true, force: true }))

interface Host {
  readonly child: ChildProcessWithoutNullStreams
  /** Has the host make its calls. Resolves with their results, or with nothing when the process ends. */
  go(): Promise<readonly string[]>
}

async function startHost(url: string, folder: string, ...args: string[]): Promise<Host> {
  const child = spawn(process.execPath, [program, url, folder, ...args])
  const lines = createInterface({ input: child.stdout })
  const read = lines[Symbol.asyncIterator]()
  await read.next()
  return {
    child,
    go: async () => {
      const exited = once(child, 'exit')
      child.stdin.write('go\n')
      const { value } = await read.next()
      await exited
      return typeof value === 'string' ? (JSON.parse(value) as string[]) : []
    },
  }
}

const folderOf = (name: string): string => join(root, name)

describe('Four processes that share a file store', () => {
  test('refresh once for fifty calls at once [AUE-023]', async () => {
    await using w = await createTestEnvironment()
    const { authorizationServer: as, resource } = w
    const folder = folderOf('refresh')
    const auth = w.createOAuth({ store: fileStore('caller', { folder }) })
    await callWithAuth(resource.url, auth)
    as.expireTokens()
    const counts = ['13', '13', '12', '12']
    const hosts = await Promise.all(counts.map((count) => startHost(resource.url, folder, count)))
    const results = (await Promise.all(hosts.map((host) => host.go()))).flat()
    expect(results).toEqual(Array.from({ length: 50 }, () => 'served'))
    expect([as.count('/authorize'), as.count('/token')]).toEqual([1, 2])
  })

  test('begin one login when there is no token [AUE-023]', async () => {
    await using w = await createTestEnvironment()
    const { authorizationServer: as, resource } = w
    const folder = folderOf('login')
    const hosts = await Promise.all([0, 1, 2, 3].map(() => startHost(resource.url, folder, '5')))
    const results = (await Promise.all(hosts.map((host) => host.go()))).flat()
    expect(results).toEqual(Array.from({ length: 20 }, () => 'served'))
    expect([as.count('/register'), as.count('/authorize'), as.count('/token')]).toEqual([1, 1, 1])
  })
})

test('A process that dies between receiving and storing rotated tokens costs one login, and leaves no lock', async () => {
  await using w = await createTestEnvironment()
  const { authorizationServer: as, resource } = w
  const folder = folderOf('die')
  const auth = w.createOAuth({ store: fileStore('caller', { folder }) })
  await callWithAuth(resource.url, auth)
  as.expireTokens()
  const dying = await startHost(resource.url, folder, '3', 'die')
  expect(await dying.go()).toEqual([])
  expect(dying.child.signalCode).toBe('SIGKILL')
  const next = await startHost(resource.url, folder, '3')
  expect(await next.go()).toEqual(['served', 'served', 'served'])
  expect(as.count('/authorize')).toBe(2)
  expect((await readdir(folder)).filter((name) => name.endsWith('.lock'))).toEqual([])
})

test('A login in a file is there for the next program', async () => {
  await using w = await createTestEnvironment()
  const { authorizationServer: as, resource } = w
  const login = (): ReturnType<typeof w.createOAuth> =>
    w.createOAuth({ store: fileStore('caller', { folder: folderOf('next') }) })
  await callWithAuth(resource.url, login())
  expect(await callWithAuth(resource.url, login())).toMatchObject(completeResponse)
  expect(as.count('/authorize')).toBe(1)
})
