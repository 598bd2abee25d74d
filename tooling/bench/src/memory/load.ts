import { Agent, type Dispatcher, request } from 'undici'
import type { Workload } from './requests.ts'

/** What is to be done: so many times, and some of it at once. */
export interface LoadOptions {
  readonly url: string
  readonly work: Workload
  readonly count: number
}

/** So many connections there are at a time. */
const atOnce = 16

/**
 * Calls a server again and again, over connections that stay or that are dropped in the middle of an answer.
 *
 * @throws Error at the first answer that is not the right one.
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
    // To leave the loop destroys the body, and with it the connection.
    if (drops && text.includes(call.expected)) return
  }
  if (!drops && response.statusCode === 200 && text.includes(call.expected)) return
  throw new Error(`the server is wrong: it answered ${response.statusCode} ${text.slice(0, 500)}`)
}
