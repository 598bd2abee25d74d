import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

/** A client that calls `echo` repeatedly during an attack. */
export interface HonestClient {
  /** Ends the calls, and returns the number of answered calls. Rejects with the first failure. */
  stop(): Promise<number>
}

/** The timeout of one call of the honest client. A call of a process that is not stalled is much faster. */
const timeoutMs = 10_000

/** Starts a client that calls the tool `echo` of a server. */
export function startHonestClient(url: string): HonestClient {
  const connection = connectHttp(url, { retry: false })
  const client = createClient(connection, { name: 'honest', version: '1.0.0', maxResendMs: 0, timeoutMs })
  let stopped = false
  const call = async (text: string): Promise<void> => {
    const { content } = await client.callTool('echo', { text })
    const [block] = content
    if (block?.type !== 'text' || block.text !== text) throw new Error(`echo answered ${JSON.stringify(content)}`)
  }
  const loop = async (): Promise<number> => {
    let served = 0
    try {
      while (!stopped) {
        await call(`honest ${served}`)
        served += 1
        await sleep(5)
      }
      await call('after the attack')
      return served + 1
    } catch (error) {
      throw new Error(`the honest client was not served after ${served} calls: ${String(error)}`, { cause: error })
    } finally {
      await connection.close()
    }
  }
  const running = loop()
  // `stop` reports the failure.
  running.catch(() => {})
  return {
    stop: () => {
      stopped = true
      return running
    },
  }
}
