import { request } from 'undici'
import type { ServerAnswer, ServerQuestion } from '../http/answer-questions.ts'
import type { Call } from '../http/call.ts'
import type { LoadAnswer, LoadQuestion } from '../http/load.ts'
import { type PinnedProcess, startPinned } from '../pinned-process.ts'

/** A load that sends calls over HTTP. */
export type Load = PinnedProcess<LoadQuestion, LoadAnswer>

/** A server over HTTP that reports its CPU time. */
export interface MeasuredServer {
  readonly url: string
  readonly process: PinnedProcess<ServerQuestion, ServerAnswer>
}

/** Starts a server on core 0. */
export async function startMeasured(program: string, environment: NodeJS.ProcessEnv = {}): Promise<MeasuredServer> {
  const server = await startPinned<ServerQuestion, ServerAnswer>(program, 0, environment)
  const { url = '' } = await server.ask({ ask: 'url' })
  return { url, process: server }
}

/** Throws unless a server returns the right response to a call. */
export async function checkAnswer({ url }: MeasuredServer, { headers, body, expected }: Call): Promise<void> {
  const response = await request(url, { method: 'POST', headers, body })
  const text = await response.body.text()
  if (!text.includes(expected)) throw new Error(`a server answered ${response.statusCode} ${text.slice(0, 500)}`)
}

/** Returns the microseconds of CPU that a server uses per call. */
export async function cpuOfCall(
  load: Load,
  { url, process: server }: MeasuredServer,
  question: Omit<LoadQuestion, 'url'>,
): Promise<number> {
  const before = await server.ask({ ask: 'cpu' })
  const { requests, failures } = await load.ask({ url, ...question })
  const after = await server.ask({ ask: 'cpu' })
  if (failures > 0) throw new Error(`${failures} requests failed: the measurement is invalid`)
  return ((after.cpuMicroseconds ?? 0) - (before.cpuMicroseconds ?? 0)) / requests
}
