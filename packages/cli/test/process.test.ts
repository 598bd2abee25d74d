import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

const program = fileURLToPath(new URL('../.results/mcpx.mjs', import.meta.url))

beforeAll(async () => {
  const entry = fileURLToPath(new URL('../src/mcpx.ts', import.meta.url))
  // Within the package, so that what is not bundled is found from there.
  const options = { bundle: true, format: 'esm', platform: 'node', target: 'node20.19' } as const
  const banner = { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` }
  const external = ['chokidar', 'commander', '@clack/prompts', 'pg', '@electric-sql/pglite', '@redis/client']
  await build({ entryPoints: [entry], outfile: program, external, banner, ...options })
})
afterAll(() => rm(program, { force: true }))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the program, and resolves when the process has ended. */
function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { env: { PATH: process.env['PATH'], ...env } })
    const ended = { out: '', err: '' }
    child.stdout?.on('data', (text: string) => (ended.out += text))
    child.stderr?.on('data', (text: string) => (ended.err += text))
    child.once('close', (code) => resolve({ code, ...ended }))
  })
}

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)

test('the program ends by itself with the exit code of the command [OPS-010]', async () => {
  expect(await run(['keys', 'new'])).toMatchObject({ code: 0, out: expect.stringMatching(/^[\w-]{43}\n$/) })
  const failed = await run(['tasks', 'counts', '--store', 'postgres://127.0.0.1:1/x'])
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED') })
  expect(await run(['tasks'])).toMatchObject({ code: 2 })
  expect(await run(['--version'])).toMatchObject({ code: 0, out: `${manifest.version}\n` })
})

test('what has begun when a signal stops a command is done before the process ends', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcpx-stop-'))
  const [written, outfile] = [join(folder, 'written'), join(folder, 'stopped.mjs')]
  const contents = `
    import { appendFile } from 'node:fs/promises'
    import { openProcessIo } from './cli-io.ts'
    const io = openProcessIo()
    const stopped = new Promise((resolve) => io.signal.addEventListener('abort', resolve))
    const open = setInterval(() => process.stdout.write('ready'), 10)
    await stopped
    clearInterval(open)
    void (async () => { for (let i = 0; i < 9; i += 1) await appendFile(process.argv[2], String(i)) })()
    io.endIfStopped()`
  const resolveDir = fileURLToPath(new URL('../src', import.meta.url))
  await build({ stdin: { contents, resolveDir }, bundle: true, format: 'esm', platform: 'node', outfile })
  const child = spawn(process.execPath, [outfile, written], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  expect(await ended).toEqual([null, 'SIGINT'])
  expect(readFileSync(written, 'utf8')).toBe('012345678')
  await rm(folder, { recursive: true })
})

test('a store whose package is not installed is named with the command to install it, without a stack trace', async () => {
  // This package has no `@redis/client`.
  expect(await run(['tasks', 'counts', '--store', 'redis://127.0.0.1:1'])).toEqual({
    code: 1,
    out: '',
    err:
      'mcpx: A URL needs the package @redis/client, which is not installed: npm install @redis/client@6 ' +
      '(beside @x/cli)\n',
  })
})

const overHttp = `process.stdout.write('http://127.0.0.1:9/mcp?pid=' + process.pid + '\\n'); setInterval(() => {}, 1000)`
/** The end of its input does not end it. A first process only answers the probe. */
const overStdio = `
  import { createInterface } from 'node:readline'
  const result = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, tools: [] }
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (method === 'tools/list') console.error('mcp?pid=' + process.pid)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  setInterval(() => {}, 1000)`

test.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
])('a server over %s that mcpx dev has started ends with it, even by SIGKILL', async (_, source) => {
  const folder = await mkdtemp(join(tmpdir(), 'mcpx-killed-'))
  await writeFile(join(folder, 'server.mjs'), source)
  const args = [program, 'dev', '--no-open', '--port', '0', '--watch', folder, `node ${join(folder, 'server.mjs')}`]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const { pageUrl } = await new Promise<{ readonly pageUrl: string }>((resolve) => {
    child.stdout.on('data', (text) => {
      const [, found] = /page +(\S+)/.exec(String(text)) ?? []
      if (found !== undefined) resolve({ pageUrl: found })
    })
  })
  const { origin, hash } = new URL(pageUrl)
  const headers = { authorization: `Bearer ${hash.slice(1)}` }
  const findPid = async (): Promise<number> => {
    const response = await fetch(`${origin}/api/events`, { headers })
    let text = ''
    for await (const part of (response.body ?? new Blob([]).stream()).pipeThrough(new TextDecoderStream())) {
      text += part
      const [, pid] = /mcp\?pid=(\d+)/.exec(text) ?? []
      if (pid !== undefined) return Number(pid)
    }
    throw new Error('The server has written nothing')
  }
  const pid = await findPid()
  child.kill('SIGKILL')
  await expect.poll(() => isRunning(pid)).toBe(false)
  await rm(folder, { recursive: true, force: true })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const silentProgram = {
  command: process.execPath,
  args: ['-e', 'console.error("started"), setInterval(() => {}, 1000)'],
}

test.each([
  [
    'SIGTERM ends a call, with a message',
    ['list', '--verbose', '--', process.execPath, ...silentProgram.args],
    'SIGTERM',
    true,
  ],
  ['Ctrl-C ends a command that has nothing to stop', ['gateway', 'check', '--config', 'gateway.json'], 'SIGINT', false],
] as const)('%s, and the exit is that of the signal', async (_title, args, signal, hasMessage) => {
  const cwd = await mkdtemp(join(tmpdir(), 'mcpx-stopped-'))
  const file = { name: 'g', state: { keys: { env: 'KEYS' } }, listen: { port: 0 }, upstreams: { up: silentProgram } }
  await writeFile(join(cwd, 'gateway.json'), JSON.stringify(file))
  const env = { PATH: process.env['PATH'], KEYS: '790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef' }
  const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  let err = ''
  child.stderr.on('data', (text) => (err += String(text)))
  await once(child.stderr, 'data')
  child.kill(signal)
  expect(await ended).toEqual([null, signal])
  expect(err.includes('mcpx: Stopped')).toBe(hasMessage)
  await rm(cwd, { recursive: true })
})

test('a pipe gets no colours, unless FORCE_COLOR asks for them', async () => {
  const path = fileURLToPath(new URL('../src/testing/two.keys', import.meta.url))
  const args = ['keys', 'check', '--keys-file', path]
  expect((await run(args)).out).not.toContain('\u001B[')
  expect((await run(args, { FORCE_COLOR: '1' })).out).toContain('\u001B[')
})

test('a reader that closes the pipe ends the program without an error', async () => {
  const child = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let err = ''
  child.stderr.on('data', (text) => (err += String(text)))
  const [code] = await once(child, 'close')
  expect([code, err]).toEqual([0, ''])
})
