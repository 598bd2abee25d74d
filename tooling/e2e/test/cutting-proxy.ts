import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy that takes turns between the ports of a fleet, and cuts connections at random. */
export interface CuttingProxy extends AsyncDisposable {
  readonly url: string
  readonly connections: number
  /** The connections that it has cut. */
  readonly cuts: number
}

/** The fleet behind the proxy, and the numbers from 0 to 1 by which it cuts. */
export interface CuttingProxyOptions {
  readonly ports: () => readonly number[]
  readonly throwDie: () => number
}

/** Starts a proxy on a port of this machine. */
export async function startCuttingProxy({ ports, throwDie }: CuttingProxyOptions): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  const counts = { connections: 0, cuts: 0 }
  const server = createServer({ noDelay: true }, (near) => {
    const choice = ports()
    const port = choice[counts.connections++ % choice.length]
    if (port === undefined) return void near.destroy()
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    const pair = [near, far] as const
    const end = (): void => pair.forEach((socket) => socket.destroy())
    for (const socket of pair) {
      open.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        open.delete(socket)
        end()
      })
    }
    const cut = (): void => {
      if (!near.destroyed) counts.cuts++
      end()
    }
    forward(near, far, planCut(throwDie, cut))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server.address())}/mcp`,
    get connections() {
      return counts.connections
    },
    get cuts() {
      return counts.cuts
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The bytes that pass in each direction before a connection is cut. */
interface Cut {
  readonly requestBytes: number
  readonly answerBytes: number
  readonly cut: () => void
}

const longestMs = 3000
const mostBytes = 20_000

/**
 * Decides when a connection is cut, if nothing else ends it: after so many bytes of requests, so many of answers, or at
 * any moment, as while a handler works.
 */
function planCut(throwDie: () => number, cut: () => void): Cut {
  const [kind, amount] = [throwDie(), throwDie()]
  const bytes = 1 + Math.floor(amount * mostBytes)
  const uncut = { requestBytes: Number.POSITIVE_INFINITY, answerBytes: Number.POSITIVE_INFINITY, cut }
  if (kind < 0.3) return { ...uncut, requestBytes: bytes }
  if (kind < 0.7) return { ...uncut, answerBytes: bytes }
  setTimeout(cut, amount * longestMs).unref()
  return uncut
}

function forward(near: Socket, far: Socket, { requestBytes, answerBytes, cut }: Cut): void {
  const pass = (from: Socket, to: Socket, most: number): void => {
    let left = most
    from.on('data', (bytes: Buffer) => {
      const passed = bytes.length <= left ? bytes : bytes.subarray(0, left)
      left -= bytes.length
      to.write(passed, () => {
        // The callback runs when the bytes are sent: a socket that is destroyed drops those that are not.
        if (left < 0) cut()
      })
    })
  }
  pass(near, far, requestBytes)
  pass(far, near, answerBytes)
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('the proxy listens on no port')
}
