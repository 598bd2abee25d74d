import { fileURLToPath } from 'node:url'
import { cpuMillisecondsOf, startServer, stopServer } from '../cold/start-server.ts'
import type { ServerAnswer, ServerQuestion } from '../http/answer-questions.ts'
import type { Call } from '../http/call.ts'
import type { LoadAnswer, LoadQuestion } from '../http/load.ts'
import { callOfRevision } from '../peers/programs.ts'
import { type PinnedProcess, pinProcess, startPinned } from '../pinned-process.ts'
import { firstCall } from '../rounds/flow.ts'
import { askingServers } from './servers.ts'

type Load = PinnedProcess<LoadQuestion, LoadAnswer>

/** A running server under a load. `cpu` returns the microseconds of CPU of its process. */
export interface Target {
  readonly name: string
  readonly load: Load
  readonly url: string
  readonly call: Call
  readonly cpu: () => Promise<number>
  readonly stop: () => Promise<unknown>
}

/** Starts the servers with the echo tool. */
export async function startCalls(): Promise<readonly Target[]> {
  const load: Load = await startPinned('http/short-load-client.js', 1)
  const folder = fileURLToPath(new URL('../', import.meta.url))
  const targets: Target[] = []
  for (const { name, call } of askingServers) {
    if (call === undefined) continue
    const request = callOfRevision(call.revision)
    const { child, url } = await startServer({
      folder,
      file: call.file,
      arguments: ['--conditions=dist'],
      call: request,
    })
    pinProcess(child.pid, 0)
    const cpu = async (): Promise<number> => 1000 * ((await cpuMillisecondsOf(child.pid)) ?? Number.NaN)
    targets.push({ name, load, url, call: request, cpu, stop: () => stopServer(child) })
  }
  return targets
}

/** Starts the servers with the tool that asks twice. */
export async function startAsks(): Promise<readonly Target[]> {
  const targets: Target[] = []
  const loads = new Map<string, Load>()
  for (const { name, asks } of askingServers) {
    if (asks === undefined) continue
    const load: Load = loads.get(asks.load) ?? (await startPinned(asks.load, 1))
    loads.set(asks.load, load)
    const server: PinnedProcess<ServerQuestion, ServerAnswer> = await startPinned(asks.file, 0)
    const { url = '' } = await server.ask({ ask: 'url' })
    const cpu = async (): Promise<number> => (await server.ask({ ask: 'cpu' })).cpuMicroseconds ?? Number.NaN
    targets.push({ name, load, url, call: firstCall(), cpu, stop: () => server.stop() })
  }
  return targets
}
