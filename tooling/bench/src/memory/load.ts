import { Agent, type Dispatcher, request } from 'undici'
import type { Workload } from './requests.ts'

/** The options of a load. */
export interface LoadOptions {
  readonly url: string
  readonly work: Workload
  readonly count: number
}

/** The number of concurrent connections. */
const atOnce = 16

/**
 * Calls a server repeatedly, over connections that stay open or that are closed in the middle of a response.
 *
 * @throws Error for the first wrong response.
 */
export async function load({ url, work, count }: LoadOptions): Promise<void> {
  const dispatcher = new Agent({ connections: atOnce, pipelining: 1 })
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await callOnce(url, work, dispatcher)
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, worker))
  } finally {
    await dispatcher.destroy()
  }
}

async function callOnce(url: string, { call, drops }: Workload, dispatcher: Dispatcher): Promise<void> {
  const { body, headers } = call
  const response = await request(url, { method: 'POST', body, headers, dispatcher })
  let text = ''
  for await (const piece of response.body.setEncoding('utf8')) {
    text += String(piece)
    // The return from the loop destroys the body and its connection.
    if (drops && text.includes(call.expected)) return
  }
  if (!drops && response.statusCode === 200 && text.includes(call.expected)) return
  throw new Error(`the server is wrong: it answered ${response.statusCode} ${text.slice(0, 500)}`)
}
