import { createClient } from '@x/client'
import { isJsonObject } from '@x/schema'
import { tasksClient } from '@x/tasks/client'
import { connectHttp } from '@x/transport-http/client'
import { textOf } from './asking.ts'

/** A call of the run. A call of `paint` becomes a task. */
export interface Job {
  readonly tool: 'paint' | 'pair'
  readonly name: string
}

/** The outcome of a job: the text of its result or of its error. */
interface Outcome extends Job {
  readonly text: string
}

interface Counts {
  /** Requests, except subscriptions. */
  sent: number
  /** Requests whose response was lost. */
  lost: number
  /** Requests that the server could not store. */
  unavailable: number
}

/** The jobs of a run and the outcomes so far. */
export interface ResendRun {
  /** Returns the next job, or undefined if the run is over. */
  readonly nextJob: () => Job | undefined
  readonly counts: Counts
  readonly outcomes: Outcome[]
}

/** The number of concurrent calls of each client. */
const concurrency = 5

/** Runs jobs until none is left. Each client has its own connections and its own principal. */
export async function runClient(url: string, caller: string, { nextJob, counts, outcomes }: ResendRun): Promise<void> {
  await using connection = connectHttp(url, { headers: { 'x-caller': caller } })
  const exchange: typeof connection.exchange = async (request, call) => {
    if (request.method === 'subscriptions/listen') return connection.exchange(request, call)
    counts.sent++
    try {
      const response = await connection.exchange(request, call)
      if ('error' in response && isUnavailable(response.error.data)) counts.unavailable++
      return response
    } catch (error) {
      counts.lost++
      throw error
    }
  }
  const client = createClient(
    { ...connection, exchange },
    {
      name: caller,
      version: '1.0.0',
      elicit: ({ message }) => ({ action: 'accept', content: { color: colorFor(message) } }),
      extensions: [tasksClient({ follow: caller.endsWith('0') ? 'listen' : 'poll' })],
    },
  )
  await client.listTools()
  const work = async (): Promise<void> => {
    for (let job = nextJob(); job !== undefined; job = nextJob()) {
      const { tool, name } = job
      const text = await client.callTool(tool, { name }).then(textOf, (error: unknown) => `failed: ${String(error)}`)
      outcomes.push({ ...job, text })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

function isUnavailable(data: unknown): boolean {
  return isJsonObject(data) && data['reason'] === 'unavailable'
}

/** Returns the answer of every client to a question. */
export function colorFor(message: string): string {
  return `<${message}>`
}
