import type { createClient } from '@redis/client'
import type { RedisClient } from '@x/state-codec/redis'

/** A connection to Redis that opens with its first command, so that a file can be read while Redis is unreachable. */
export class RedisConnection implements RedisClient {
  readonly #client: ReturnType<typeof createClient>
  #opening: Promise<unknown> | undefined

  constructor(client: ReturnType<typeof createClient>) {
    this.#client = client
    // The client connects again by itself. A command that fails has its own error.
    client.on('error', () => undefined)
  }

  async sendCommand(...command: Parameters<RedisClient['sendCommand']>): Promise<unknown> {
    this.#opening ??= this.#client.connect().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    await this.#opening
    return this.#client.sendCommand(...command)
  }

  async ping(): Promise<boolean> {
    return (await this.sendCommand(['PING'])) === 'PONG'
  }

  async close(): Promise<void> {
    if (this.#client.isOpen) this.#client.destroy()
    this.#opening = undefined
  }
}
