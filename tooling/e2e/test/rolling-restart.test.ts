import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request as sendRequest, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { keys, textOf } from './asking.ts'
import { childProgram } from './child-program.ts'

const host = { name: 'e2e-client', version: '1.0.0' }

interface Instance {
  readonly child: ChildProcess
  readonly port: number
  readonly exited: Promise<unknown>
  /** Whether the last health check was answered with 200. */
  isReady: boolean
}

async function startInstance(path: string, files: NodeJS.ProcessEnv): Promise<Instance> {
  const env = { ...process.env, STATE_KEY: keys.first, ...files, VITEST: undefined }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [line] = await once(child.stdout, 'data')
  return { child, port: Number(String(line)), exited, isReady: true }
}

/** A plain balancer: each request goes to the next instance that was ready when it was last checked, and is sent once. */
function startBalancer(instances: readonly Instance[]): { readonly server: Server; stop(): void } {
  let turn = 0
  const server = createServer((request, response) => {
    const ready = instances.filter(({ isReady }) => isReady)
    const chosen = ready[turn++ % ready.length]
    if (chosen === undefined) response.writeHead(502).end()
    else passOn(request, response, chosen.port)
  })
  const checks = setInterval(() => {
    for (const instance of instances) void checkHealth(instance)
  }, 25)
  const stop = (): void => {
    clearInterval(checks)
    server.closeAllConnections()
    server.close()
  }
  return { server, stop }
}

async function checkHealth(instance: Instance): Promise<void> {
  const checked = fetch(`http://127.0.0.1:${instance.port}/readyz`, { headers: { connection: 'close' } })
  instance.isReady = await checked.then(({ ok }) => ok).catch(() => false)
}

function passOn(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, url, headers } = request
  const forwarded = sendRequest({ port, host: '127.0.0.1', method, path: url, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  forwarded.on('error', () => response.destroy())
  request.pipe(forwarded)
}

test('every instance is restarted in turn under constant load: no call is lost, and no step is done twice', async () => {
  await using program = await childProgram(new URL('./programs/shedding-instance.ts', import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), 'rolling-'))
  const files = { EFFECTS: join(folder, 'effects'), SHEDS: join(folder, 'sheds') }
  const start = () => startInstance(program.path, files)
  const instances = await Promise.all([start(), start(), start()])
  const balancer = startBalancer(instances)
  balancer.server.listen(0, '127.0.0.1')
  await once(balancer.server, 'listening')
  const address = balancer.server.address()
  const connection = connectHttp(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`)
  const client = createClient(connection, host)

  let isOver = false
  const results: string[] = []
  const goOn = async (): Promise<void> => {
    while (!isOver) results.push(textOf(await client.callTool('work')))
  }
  const load = Promise.all(Array.from({ length: 12 }, goOn))
  for (const place of [0, 1, 2]) {
    const old = instances[place]
    const before = results.length
    old?.child.kill('SIGTERM')
    expect(await old?.exited).toEqual([0, null])
    instances[place] = await start()
    // The next one goes only when calls have come to their end since.
    await expect.poll(() => results.length, { timeout: 20_000 }).toBeGreaterThan(before + 12)
  }
  isOver = true
  await load
  const linesOf = async (file: string) => (await readFile(file, 'utf8')).trim().split('\n')
  const done = await linesOf(files.EFFECTS)
  expect(new Set(results).size).toBe(results.length)
  expect(done).toHaveLength(results.length * 8)
  expect(new Set(done).size).toBe(done.length)
  expect(await linesOf(files.SHEDS)).toContain('stopping')

  await connection.close()
  balancer.stop()
  for (const { child, exited } of instances) {
    child.kill('SIGTERM')
    await exited
  }
  await rm(folder, { recursive: true })
}, 60_000)
