import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from './listen-locally.ts'

/** A proxy that distributes connections in turn among the ports of a fleet and closes some of them at random. */
export interface CuttingProxy extends AsyncDisposable {
  readonly url: string
  readonly connections: number
  /** The number of connections that the proxy has closed itself. */
  readonly cuts: number
}

/** The ports of the fleet, and a source of random numbers from 0 to 1. */
export interface CuttingProxyOptions {
  readonly ports: () => readonly number[]
  readonly random: () => number
}

/** Starts a proxy on a loopback port. */
export async function startCuttingProxy({ ports, random }: CuttingProxyOptions): Promise<CuttingProxy> {
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
    forward(near, far, planCut(random, cut))
  })
  const url = `http://127.0.0.1:${await listenLocally(server)}/mcp`
  return {
    url,
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

/** The number of bytes that are forwarded in each direction before a connection is closed. */
interface Cut {
  readonly requestBytes: number
  readonly answerBytes: number
  readonly cut: () => void
}

const maxMs = 3000
const maxBytes = 20_000

/**
 * Plans the end of a connection at random: after a number of request bytes, after a number of response bytes, or after
 * a time.
 */
function planCut(random: () => number, cut: () => void): Cut {
  const [kind, amount] = [random(), random()]
  const bytes = 1 + Math.floor(amount * maxBytes)
  const uncut = { requestBytes: Number.POSITIVE_INFINITY, answerBytes: Number.POSITIVE_INFINITY, cut }
  if (kind < 0.3) return { ...uncut, requestBytes: bytes }
  if (kind < 0.7) return { ...uncut, answerBytes: bytes }
  setTimeout(cut, amount * maxMs).unref()
  return uncut
}

function forward(near: Socket, far: Socket, { requestBytes, answerBytes, cut }: Cut): void {
  const pass = (from: Socket, to: Socket, limit: number): void => {
    let remaining = limit
    from.on('data', (bytes: Buffer) => {
      const passed = bytes.length <= remaining ? bytes : bytes.subarray(0, remaining)
      remaining -= bytes.length
      to.write(passed, () => {
        // Runs when the bytes are sent, because destroying a socket discards unsent bytes.
        if (remaining < 0) cut()
      })
    })
  }
  pass(near, far, requestBytes)
  pass(far, near, answerBytes)
}
