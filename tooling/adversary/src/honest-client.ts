import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

/** A client that calls `echo` again and again, beside an attack. */
export interface HonestClient {
  /**
   * Ends the calls, and returns how many were answered. Rejects with the first failure, also when there was no answer
   * at all.
   */
  stop(): Promise<number>
}

/**
 * The longest that one call of the honest client may take: far more than it needs, far less than a stalled process
 * takes.
 */
const timeoutMs = 10_000

/** Starts to call the server's tool `echo`. */
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
      await call('and after the attack')
      return served + 1
    } catch (error) {
      throw new Error(`the honest client was not served after ${served} calls: ${String(error)}`, { cause: error })
    } finally {
      await connection.close()
    }
  }
  const running = loop()
  // The failure is reported by `stop`.
  running.catch(() => {})
  return {
    stop: () => {
      stopped = true
      return running
    },
  }
}
